"""A prediction is in a log before the truth is read; then each pair is compared with the truth."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from orchestration.benchmarks.benchmark import Case
from orchestration.scoring.counting import Rows
from research.benchmarks.foretold import METRICS, cases, logs, rows
from research.domains.foretold import CORRECT, LINE, UNSEEN, VOTE, WRONG, compared, foretold, from_tracks
from research.domains.objects import Look
from research.domains.perception.parameters import Perception
from substrate.base.errors import ParameterError
from substrate.base.vocabulary import RDF_TYPE
from substrate.domains.clevrer.format import CompactCollision, CompactObject, InOut, SceneEvents
from substrate.domains.clevrer.trajectories import TrajectoryScene
from substrate.domains.rows import Row

LOOKS = [Look("red", "metal", "sphere"), Look("blue", "metal", "cube"), Look("green", "rubber", "cylinder")]
THINGS = [CompactObject(*look, number) for number, look in enumerate(LOOKS)]
RED, BLUE, GREEN = LOOKS
# The ball rolls at the cube; the cylinder comes into view at frame 95.
TRACK: dict[int, list[tuple[int, float, float]]] = {
    0: [(75, -1.14, 0.0), (80, -1.0, 0.0), (85, -0.86, 0.0), (100, -0.45, 0.0)],
    1: [(75, 0.0, 0.0), (80, 0.0, 0.0), (85, 0.0, 0.0), (100, 0.0, 0.0)],
    2: [(95, 2.0, 2.0), (100, 2.0, 2.0)],
}
TRUTH = SceneEvents(
    9, 128, THINGS, [InOut(95, 2, "in")], [CompactCollision((0, 1), 105), CompactCollision((1, 2), 120)]
)


def counted(metric: str, row: Rows) -> tuple[int, int]:
    return METRICS[metric](row)


def test_a_predicted_collision_is_reified_and_not_asserted() -> None:
    log = from_tracks(9, THINGS, TRACK, 80)
    assert foretold(log) == {VOTE: {frozenset((RED, BLUE))}, LINE: {frozenset((RED, BLUE))}}
    classes = {str(delta.triple[2]) for delta in log if delta.triple[1] == RDF_TYPE}
    assert not any("Collision" in name for name in classes)
    assert {delta.tick for delta in log} == {0, 80}


def test_nothing_after_the_frame_is_read() -> None:
    later = TRACK | {0: [*TRACK[0][:2], (85, 5.0, 5.0)], 2: []}
    assert from_tracks(9, THINGS, later, 80).digest == from_tracks(9, THINGS, TRACK, 80).digest
    assert from_tracks(9, THINGS, later, 85).digest != from_tracks(9, THINGS, TRACK, 85).digest


def test_each_pair_is_compared_with_the_truth() -> None:
    # For each pair of objects the prediction and the truth: "correct" is a collision, "wrong" is none.
    made = compared(TRUTH, 80, {frozenset((RED, BLUE))})
    assert made == [(CORRECT, CORRECT), (UNSEEN, WRONG), (UNSEEN, CORRECT)], (
        "the cylinder comes into view after the frame"
    )
    invented = frozenset((RED, Look("gray", "metal", "cube")))
    assert compared(TRUTH, 100, {invented}) == [
        (WRONG, CORRECT),
        (WRONG, WRONG),
        (WRONG, CORRECT),
        (CORRECT, WRONG),
    ]


def test_rows_give_both_countings_and_the_trivial_method() -> None:
    track = msgspec.json.encode({"tracks": TrajectoryScene(9, THINGS, TRACK)})
    case = Case(9, "tracks.jsonl:1", track, msgspec.json.encode(TRUTH))
    made = [named.log for named in logs(case, Perception())]
    by_subset: dict[str, Row] = {row.subset: row for row in rows(case, made, None, "test")}
    assert list(by_subset) == ["tracks.100", "tracks.100.lines", "tracks.80", "tracks.80.lines"]
    # F1 is a share of the predicted plus the observed collisions; each correct prediction counts twice.
    row = (by_subset["tracks.80"],)
    assert counted("f1", row) == (2, 2)
    assert counted("f1_entrants", row) == (2, 3)
    assert (counted("precision", row), counted("recall", row)) == ((1, 1), (1, 1))
    assert row[0].correct
    assert counted("f1_kept_out", row) == (2, 2)
    assert counted("f1_kept_out", (msgspec.structs.replace(row[0], scene=10),)) == (0, 0)


def test_without_motion_it_says_what_to_name(tmp_path: Path) -> None:
    (tmp_path / "test.jsonl").write_bytes(msgspec.json.encode(TRUTH) + b"\n")
    with pytest.raises(ParameterError, match="Name a file of proposals, of tracks, or both"):
        cases({"test": tmp_path / "test.jsonl"})
