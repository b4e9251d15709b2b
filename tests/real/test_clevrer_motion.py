"""The law of motion compared with official motion and real trajectories, and the invariants of every run."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from statistics import median, quantiles

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from research.domains.foretelling import SIGHT, VOTE_WEIGHTS, predict_collisions
from research.domains.foretelling.calibrate import calibrate, rendered
from research.domains.foretelling.from_annotations import fit_law, read_annotations
from research.domains.foretelling.scoring import Tracked, paired
from research.measurements.clevrer_foretelling import far_errors, one_step_errors, others, recovered
from substrate.base.errors import FormatError, ParameterError
from substrate.domains.clevrer.format import CompactObject, read_scene_events
from substrate.domains.clevrer.motion import LAW, Body, simulate
from substrate.domains.clevrer.trajectories import read_trajectories


@pytest.fixture(scope="module")
def watched(clevrer: Path) -> list[Tracked]:
    return paired(
        read_trajectories(clevrer / "trajectories_test.jsonl.gz"),
        read_scene_events(clevrer / "ground_truth_test.jsonl.gz"),
    )


# Official motion


def test_a_law_fitted_to_the_other_scenes_holds_in_the_one_left_out(clevrer: Path) -> None:
    left_out = others(read_annotations(clevrer / "annotations"))
    got = recovered(left_out, weighed=True)
    assert got.simulated >= 19
    assert got.close >= 18
    steps = [error for film, law in left_out for error in one_step_errors(film, law)]
    assert quantiles(steps, n=20)[-1] < 0.0002  # the annotations are rounded to 0.0001
    far = [error for film, law in left_out for error in far_errors(film, law, weighed=True)]
    assert median(far) < 0.12
    assert median(far) < median(
        error for film, law in left_out for error in far_errors(film, law, weighed=False)
    )


def test_constants_in_force_are_those_the_annotations_give(clevrer: Path) -> None:
    assert fit_law(read_annotations(clevrer / "annotations")) == LAW


# Real trajectories; odd scenes are kept out of every fit


def test_odd_scenes_do_not_influence_the_constants(
    clevrer: Path, watched: list[Tracked], tmp_path: Path
) -> None:
    some = [scene for scene in watched if scene.motion.scene_index < 15050]
    full = _written(tmp_path / "full", some)
    empty = [replace(scene, events=replace(scene.events, in_outs=[], collisions=[])) for scene in some]
    changed = _written(
        tmp_path / "changed",
        [other if scene.motion.scene_index % 2 else scene for scene, other in zip(some, empty, strict=True)],
    )
    assert calibrate(clevrer / "annotations", *full) == calibrate(clevrer / "annotations", *changed)


def _written(folder: Path, watched: list[Tracked]) -> tuple[Path, Path]:
    folder.mkdir()
    paths = folder / "trajectories.jsonl", folder / "events.jsonl"
    paths[0].write_bytes(b"\n".join(msgspec.json.encode(scene.motion) for scene in watched))
    paths[1].write_bytes(b"\n".join(msgspec.json.encode(scene.events) for scene in watched))
    return paths


def test_a_pair_that_has_met_is_not_foretold_again(watched: list[Tracked]) -> None:
    motions = [scene.motion for scene in watched]
    motion = next(m for m in motions if predict_collisions(m.objects, m.trajectory, 80, met=[]))
    foretold = predict_collisions(motion.objects, motion.trajectory, 80, met=[])
    assert set(predict_collisions(motion.objects, motion.trajectory, 80, met=foretold)).isdisjoint(foretold)


# Without data


def test_the_files_of_constants_have_the_constants_in_force() -> None:
    for path, constants in rendered(LAW, SIGHT, VOTE_WEIGHTS).items():
        assert json.loads(path.read_bytes()) == json.loads(msgspec.json.encode(constants))


_place = st.floats(-1.5, 1.5)
_speed = st.floats(-2.5, 2.5)
_body = st.tuples(
    st.sampled_from(["cube", "sphere", "cylinder"]), _speed, _speed, st.floats(0, 1.5), st.floats(0.6, 1.6)
)
_SLIPPERY = replace(LAW, drag=0.0, friction=0.0, turning=0.0)


@settings(max_examples=60)
@given(st.lists(_body, min_size=2, max_size=4))
def test_without_drag_momentum_stays_and_energy_does_not_grow(
    given_bodies: list[tuple[str, float, float, float, float]],
) -> None:
    start = [
        Body(k, shape, 0.7 * k, 0.1 * k, vx, vy, yaw, 0.0, mass)  # pyright: ignore[reportArgumentType]
        for k, (shape, vx, vy, yaw, mass) in enumerate(given_bodies)
    ]
    end = simulate(start, 40, law=_SLIPPERY).final
    for axis in ("vx", "vy"):
        assert sum(b.mass * getattr(b, axis) for b in end) == pytest.approx(
            sum(b.mass * getattr(b, axis) for b in start), abs=1e-9
        )
    turning = [
        sum(b.mass * (b.x * b.vy - b.y * b.vx + _SLIPPERY.inertia * b.spin) for b in state)
        for state in (start, end)
    ]
    assert turning[1] == pytest.approx(turning[0], abs=1e-6)


def test_a_removed_body_is_as_if_it_had_never_been() -> None:
    start = [Body(0, "sphere", -1.0, 0.0, 2.0), Body(1, "cube", 0.0, 0.0), Body(2, "cylinder", 0.6, 0.0)]
    assert [contact[1:] for contact in simulate(start, 60).contacts] == [(0, 1), (1, 2)]
    without = simulate(start, 60, remove=1)
    assert without == simulate([start[0], start[2]], 60)
    assert [contact[1:] for contact in without.contacts] == [(0, 2)]
    with pytest.raises(ParameterError, match="remove=9"):
        simulate(start, 60, remove=9)


def test_wrong_input_is_refused(tmp_path: Path) -> None:
    ball = CompactObject("red", "metal", "sphere", 0)
    with pytest.raises(ParameterError, match="object 3"):
        predict_collisions([ball], {3: [(0, 0.0, 0.0)]}, 80)
    with pytest.raises(ParameterError, match="forward in time"):
        predict_collisions([ball], {0: [(5, 0.0, 0.0), (5, 0.0, 0.0)]}, 80)
    with pytest.raises(ParameterError, match="until=80"):
        predict_collisions([ball], {}, 80, 80)
    line = json.dumps({"scene_index": 7, "objects": [], "trajectory": {}})
    (tmp_path / "twice.jsonl.gz").write_bytes(gzip.compress(f"{line}\n{line}\n".encode()))
    with pytest.raises(FormatError, match="scene 7 occurs twice"):
        read_trajectories(tmp_path / "twice.jsonl.gz")
