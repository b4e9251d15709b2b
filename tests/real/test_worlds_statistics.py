"""Generated CLEVRER scenes compared with real ones: the constants are measured on real scenes, and histograms
agree.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import asdict

from research.measurements.clevrer_fit import measure
from research.measurements.clevrer_questions import RANKED, Asked, ranked
from research.measurements.clevrer_questions import official as asked_officially
from research.measurements.clevrer_statistics import (
    HISTOGRAMS,
    Clip,
    annotated,
    collected,
    distances,
    recorded,
)
from substrate.base.numbered import sources_in
from substrate.domains.clevrer.deltas import annotation_log
from substrate.domains.clevrer.format import annotation_names, decode_annotation, read_scene_events
from substrate.domains.clevrer.scene import Scene
from substrate.domains.clevrer.trajectories import read_trajectories
from substrate.generators.clevrer import WorldScene, generate_scene
from substrate.generators.clevrer.measured import MEASURED

SCENES = range(10_000, 10_080)
# The factor by which generated scenes may lie further from all real scenes than as many real ones do.
FACTOR = 1.5
SLACK = 0.06


@pytest.fixture(scope="module")
def train(clevrer: Path) -> list[Clip]:
    return [
        recorded(record) for record in read_scene_events(clevrer / "ground_truth_train.jsonl.gz").values()
    ]


@pytest.fixture(scope="module")
def tracked(clevrer: Path) -> list[Clip]:
    records, tracks = (
        read_scene_events(clevrer / "ground_truth_test.jsonl.gz"),
        read_trajectories(clevrer / "trajectories_test.jsonl.gz"),
    )
    return [recorded(records[scene], track.trajectory) for scene, track in tracks.items()]


@pytest.fixture(scope="module")
def worlds() -> list[WorldScene]:
    return [generate_scene(scene, 3) for scene in SCENES]


@pytest.fixture(scope="module")
def generated(worlds: list[WorldScene]) -> list[Clip]:
    return [annotated(world.annotation) for world in worlds]


def bounds(real: list[Clip]) -> dict[str, float]:
    """By statistic: the largest total variation of ten draws of as many real scenes, with some slack."""
    step, whole = len(real) // 10, collected(real)
    draws = [distances(collected(real[k * step : k * step + len(SCENES)]), whole) for k in range(10)]
    return {name: SLACK + FACTOR * max(draw[name].total_variation for draw in draws) for name in draws[0]}


def beyond(made: list[Clip], real: list[Clip], limits: dict[str, float]) -> dict[str, tuple[float, float]]:
    """The statistics that are further from the real ones than their limit: their distance and the limit."""
    apart = distances(collected(made), collected(real))
    far = {name: distance.total_variation for name, distance in apart.items()}
    return {name: (far[name], limit) for name, limit in limits.items() if far[name] > limit}


@pytest.fixture(scope="module")
def train_bounds(train: list[Clip]) -> dict[str, float]:
    return bounds(train)


def test_constants_in_force_are_what_real_scenes_show(
    clevrer: Path, train: list[Clip], tracked: list[Clip]
) -> None:
    names = annotation_names(clevrer / "annotations").values()
    annotations = [decode_annotation(source) for source in sources_in(clevrer / "annotations", names)]
    figures = asdict(measure(train, tracked[::2], annotations))
    constants = {name: value for name, value in figures.items() if not name.startswith("kept")}
    assert constants == {name: getattr(MEASURED, name) for name in constants}


def test_nothing_ever_touches_a_bystander(train: list[Clip], generated: list[Clip]) -> None:
    assert all(max(event.objects) < 4 for clip in [*train, *generated] for event in clip.of_type("collision"))


def test_events_of_generated_scenes_are_distributed_like_real_ones(
    train: list[Clip], generated: list[Clip], train_bounds: dict[str, float]
) -> None:
    assert beyond(generated, train, train_bounds) == {}
    assert len(train_bounds) == sum(not histogram.moving for histogram in HISTOGRAMS.values())


def test_motion_of_generated_scenes_is_distributed_like_real_motion(
    tracked: list[Clip], generated: list[Clip]
) -> None:
    limits = bounds(tracked)
    assert beyond(generated, tracked, limits) == {}
    assert set(limits) == set(HISTOGRAMS)


@pytest.mark.parametrize(
    ("file", "kind", "order"),
    [
        (
            "questions_train_causalsight",
            "counterfactual",
            ["partner", "what was filmed", "duality", "printed"],
        ),
        ("explanatory_train", "explanatory", ["printed", "event", "global", "sharing a participant"]),
    ],
)
def test_methods_rank_on_generated_questions_as_on_official_ones(
    clevrer: Path, worlds: list[WorldScene], file: str, kind: str, order: list[str]
) -> None:
    """The methods that use the video come in one order, and every constant after them.

    "What was filmed, and partners" is level with the partner rule on both, and has no rank.
    """
    made = [
        Asked(
            Scene(annotation_log(world.annotation)), world.annotation.scene_index, world.questions.questions
        )
        for world in worlds
    ]
    for scenes in (made, list(asked_officially(clevrer, file))):
        names = [name for _, _, name in ranked(scenes, kind, RANKED[kind])]
        assert [name for name in names if name in order] == order
        constants = {"every option", "no option", "no collision"} & set(names)
        assert set(names[-len(constants) :]) == constants
