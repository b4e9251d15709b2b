"""Simulated forks of official scenes, from their logs alone, which record only objects in view."""

from __future__ import annotations

from pathlib import Path

import pytest

from research.domains.foretelling.annotated import masses
from research.domains.foretelling.from_annotations import read_annotations
from substrate.domains.clevrer.deltas import annotation_log
from substrate.domains.clevrer.emitter import observed_collisions, observed_masses, recorded_bodies
from substrate.domains.clevrer.format import Annotation
from substrate.domains.clevrer.motion.course import course
from substrate.domains.clevrer.scene import Scene


@pytest.fixture
def films(real_data: Path) -> list[tuple[Annotation, Scene]]:
    return [
        (film, Scene(annotation_log(film)))
        for film in read_annotations(real_data / "clevrer" / "annotations")
    ]


@pytest.mark.parametrize(("start", "true", "close", "extra"), [(0, 20, 20, 1), (40, 13, 12, 1)])
def test_with_nothing_removed_the_simulation_gives_back_what_was_observed(
    films: list[tuple[Annotation, Scene]], start: int, true: int, close: int, extra: int
) -> None:
    """All bodies are simulated from ``start`` on, none is removed: every collision recurs, up to three frames
    off, and chance may add one.
    """
    count = {"true": 0, "found": 0, "close": 0, "extra": 0}
    for _, scene in films:
        seen = observed_collisions(scene)
        simulated = course(
            recorded_bodies(scene, observed_masses(scene)), seen, start, scene.end, scene.objects
        )
        assert not simulated.standing
        true_hits = {(a, b): frame for frame, a, b in seen if frame > start}
        hits = {(a, b): frame for frame, a, b in simulated.contacts}
        both = true_hits.keys() & hits.keys()
        count["true"] += len(true_hits)
        count["found"] += len(both)
        count["close"] += sum(abs(hits[pair] - true_hits[pair]) <= 3 for pair in both)
        count["extra"] += len(hits.keys() - true_hits.keys())
    assert count["found"] == count["true"] == true
    assert count["close"] >= close
    assert count["extra"] <= extra


def test_masses_are_those_of_the_whole_annotation(films: list[tuple[Annotation, Scene]]) -> None:
    for film, scene in films:
        assert observed_masses(scene) == pytest.approx(masses(film), abs=1e-9)
