"""A second file of questions joins the first; what needs motion is left out where there is none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
from clevrer_scenes import event_record

from orchestration.benchmarks.clevrer import CLEVRER, cases
from orchestration.studies.ablations import ABLATIONS
from substrate.base.errors import FormatError
from substrate.domains.clevrer.format import SceneQuestions
from substrate.domains.clevrer.parameters import Parameters

HIT = {"choice_id": 0, "choice": "The red object and the blue object collide", "answer": "wrong"}


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    files = {
        "questions": [(0, "descriptive", "How many metal objects are there?", {"answer": "2"})],
        "further": [
            (1, "predictive", "What will happen next?", {"choices": [HIT]}),
            (2, "counterfactual", "Without the red cube, which event will happen?", {"choices": [HIT]}),
        ],
    }
    events = event_record(("red cube", "blue cube"))
    track = {"scene_index": 7, "objects": events["objects"], "trajectory": {0: [[0, 0, 0], [127, 1, 1]]}}
    records: dict[str, Any] = {"events": events, "trajectories": track}
    for name, questions in files.items():
        keys = ("question_id", "question_type", "question")
        entries = [dict(zip(keys, words, strict=True)) | more for *words, more in questions]
        records[name] = {"scene_index": 7, "questions": entries}
    for name, record in records.items():
        (tmp_path / name).write_bytes(msgspec.json.encode(record))
    return {name: tmp_path / name for name in records}


def test_two_files_of_questions_are_asked_as_one(files: dict[str, Path]) -> None:
    for without, numbers in (("trajectories", [0, 2]), ("", [0, 1, 2])):
        (case,) = cases({name: path for name, path in files.items() if name != without}).each
        questions = msgspec.json.decode(case.questions, type=SceneQuestions).questions
        assert [question.question_id for question in questions] == numbers
        rows = [*ABLATIONS.rows(case, CLEVRER.logs(case, None), Parameters(), "s")]
        assert any("simulated" in row.subset for row in rows) == (not without)
        assert ({row.predicted for row in rows} == {"wrong"}) if without else rows
    with pytest.raises(FormatError, match=r"question 1 of scene 7 occurs twice"):
        cases(files | {"questions": files["further"]})
