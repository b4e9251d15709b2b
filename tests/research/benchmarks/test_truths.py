"""Questions made from true events: answered from these and from detections, without reading gold."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
from clevrer_scenes import scene_events

from orchestration.benchmarks.benchmark import Case
from research.benchmarks.truths import FROM_TRUTH, cases, descriptive_rows, explanatory_rows, logs
from research.domains.perception.parameters import Perception
from research.generators.proposals import seen_files
from substrate.base.errors import ParameterError
from substrate.domains.clevrer.format import SceneEvents
from substrate.domains.rows import Row

REAL = scene_events(
    ("red sphere", "blue cube", "green cylinder"),
    [(0, 1, 20), (1, 2, 50)],
    scene_index=20,
    in_outs=[{"frame": 5, "object": 0, "type": "in"}],
)


def case_of(truth: SceneEvents) -> Case:
    """The case of a video without proposals: its record is empty, and the true events stand for questions."""
    return Case(truth.scene_index, f"sim_{truth.scene_index:05}.json", b"", msgspec.json.encode(truth))


def by_subset(rows: list[Row]) -> dict[str, list[Row]]:
    return {who: [row for row in rows if row.subset == who] for who in dict.fromkeys(r.subset for r in rows)}


def test_the_true_events_answer_all_and_sharing_an_object_loses_the_chain() -> None:
    case, parameters = case_of(REAL), Perception()
    made = [named.log for named in logs(case, parameters)]
    described = list(descriptive_rows(case, made, parameters, "train"))
    assert len(described) == 11
    assert all(row.correct and row.subset == "truth" for row in described)
    groups = by_subset(list(explanatory_rows(case, made, parameters, "train")))
    assert [row.correct for row in groups["truth"]] == [True, True]
    assert [row.correct for row in groups["sharing"]] == [True, False], "the ball's entry is two steps away"
    assert {row.log for rows in groups.values() for row in rows} == {made[0].digest}
    # The right rows and all rows of one depth. Only the second collision follows a chain of one collision.
    right_of_all = FROM_TRUTH.metrics["chain_1"].measure
    assert [right_of_all((row,)) for row in groups["sharing"]] == [(0, 0), (0, 1)]


def test_a_row_holds_no_text_of_a_question() -> None:
    case, parameters = case_of(REAL), Perception()
    made = [named.log for named in logs(case, parameters)]
    lines = b"".join(map(msgspec.json.encode, explanatory_rows(case, made, parameters, "train")))
    assert b"responsible" not in lines
    assert b"sphere" not in lines
    assert next(iter(FROM_TRUTH.wordings(case))).text.startswith("Which of the following is responsible")


def test_a_false_truth_changes_no_log_that_is_perceived_and_no_answer_from_it(tmp_path: Path) -> None:
    pytest.importorskip("pybullet")
    proposals = tmp_path / "proposals"
    proposals.mkdir()
    record: Any = seen_files(10_020, 20)["proposals/sim_10020.json"]
    (proposals / "sim_10020.json").write_bytes(msgspec.json.encode(record))
    parameters, seen = Perception(), list[tuple[str, list[str]]]()
    for truth in (REAL, msgspec.structs.replace(REAL, collisions=REAL.collisions[:1])):
        events = tmp_path / "events.jsonl"
        events.write_bytes(msgspec.json.encode(msgspec.structs.replace(truth, scene_index=10_020)) + b"\n")
        (case,) = cases({"test": events, "proposals": proposals}).each
        made = logs(case, parameters)
        assert [named.name for named in made] == ["10020", "10020/perceived"]
        rows = by_subset(list(explanatory_rows(case, [named.log for named in made], parameters, "")))
        # The subset `worlds` has answers from all logs that the video may have.
        first = [rows[who][0].predicted.split(",")[0] for who in ("detections", "worlds")]
        assert rows["worlds"][0].log == made[1].log.digest
        seen.append((made[1].log.digest, first))
    assert seen[0] == seen[1]


def test_without_true_events_it_says_what_to_name(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="Name a file of them as train or test"):
        cases({})
