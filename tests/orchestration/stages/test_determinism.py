"""The stage of determinism: the same bytes, however many tasks compute the answers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from orchestration.project import open_workspace
from orchestration.stages import study_stages


def test_answers_that_depend_on_the_number_of_tasks_are_detected(
    reproduced: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = json.loads((reproduced / "artifacts/sample/ablations/determinism.json").read_bytes())
    assert len({run["sha256"] for run in runs}) == 1
    # Rows that depend on the number of tasks, as an unsorted set in a worker would make them.
    answer = study_stages.answer_cases

    def unsorted(*given: Any) -> None:
        answer(*given)
        with given[3].open("a") as out:  # the file of the answers
            out.write(str(given[4].tasks))

    monkeypatch.setattr(study_stages, "answer_cases", unsorted)
    assert len({run.sha256 for run in study_stages.repetitions(open_workspace())}) == 3
