"""Simulated forks of official scenes, from nothing but what their logs record of who is in view."""

from __future__ import annotations

from pathlib import Path

import pytest

from research.domains.foretelling.annotated import masses
from research.domains.foretelling.from_annotations import read_annotations
from substrate import TBox
from substrate.domains.clevrer.deltas import annotation_log
from substrate.domains.clevrer.emitter import (
    future,
    observed_collisions,
    observed_masses,
    recorded_bodies,
    without,
)
from substrate.domains.clevrer.format import Annotation
from substrate.domains.clevrer.motion.course import course
from substrate.domains.clevrer.scene import Scene


@pytest.fixture
def films(real_data: Path) -> list[tuple[Annotation, Scene]]:
    return [
        (film, Scene(annotation_log(film)))
        for film in read_annotations(real_data / "clevrer" / "annotations")
    ]


@pytest.mark.parametrize(
    ("start", "true", "close", "extra"),
    [(0, 20, 20, 1), (40, 13, 12, 1)],
)
def test_with_nothing_removed_the_simulation_gives_back_what_was_observed(
    films: list[tuple[Annotation, Scene]], start: int, true: int, close: int, extra: int
) -> None:
    """Everyone departs at ``start``, nobody is set back: every collision comes again, but for chance three
    frames off or one too many.
    """
    count = {"true": 0, "found": 0, "close": 0, "extra": 0}
    for _, scene in films:
        seen = observed_collisions(scene)
        simulated = course(
            recorded_bodies(scene, observed_masses(scene)), seen, start, scene.end, scene.objects
        )
        assert not simulated.standing
        then = {(a, b): frame for frame, a, b in seen if frame > start}
        now = {(a, b): frame for frame, a, b in simulated.contacts}
        count["true"] += len(then)
        count["found"] += len(then.keys() & now.keys())
        count["close"] += sum(abs(now[pair] - then[pair]) <= 3 for pair in then.keys() & now.keys())
        count["extra"] += len(now.keys() - then.keys())
    assert count["found"] == count["true"] == true
    assert count["close"] >= close
    assert count["extra"] <= extra


def test_masses_are_those_of_the_whole_annotation(films: list[tuple[Annotation, Scene]]) -> None:
    for film, scene in films:
        assert observed_masses(scene) == pytest.approx(masses(film), abs=1e-9)


def test_removing_what_touches_nothing_changes_nothing(films: list[tuple[Annotation, Scene]]) -> None:
    idle = 0
    for _, scene in films:
        touching = {number for _, *pair in observed_collisions(scene) for number in pair}
        for number in sorted(set(scene.objects) - touching):
            branch = without(scene, number)
            assert [event[:3] for event in branch.events] == [
                event[:3] for event in scene.events if number not in event.objects
            ]
            assert not branch.simulated
            idle += 1
    assert idle == 12


def test_forks_conform_and_keep_what_the_removed_object_is_no_ancestor_of(
    films: list[tuple[Annotation, Scene]],
) -> None:
    shapes = TBox.load("clevrer")
    for _, scene in films[:3]:
        for number in scene.objects:
            branch = without(scene, number)
            assert shapes.validate(branch.log.state(), branch.log) == []
            for event in branch.events:
                assert number not in event.objects
            ancestry = scene.ancestry("event")
            remaining = {event.iri for event in branch.events}
            for event in scene.events:
                if event.kind == "Collision" and event.iri in remaining:
                    assert number not in ancestry[event.iri].objects
        log = future(scene, 51).log
        assert shapes.validate(log.state(), log) == []
        assert log.last_tick == scene.end + 51
