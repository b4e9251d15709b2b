"""Observed motion ► collisions of the unseen future, without the pipeline."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec

from substrate.base.errors import FormatError
from substrate.base.files import replacing
from substrate.domains.clevrer.format import read_scene_events
from substrate.domains.clevrer.motion.predict import predict_collisions
from substrate.domains.clevrer.motion.trajectories import read_trajectories


class Prediction(msgspec.Struct, frozen=True):
    """A line of the output: the pairs of a scene that are predicted to collide after frame ``at``, sorted."""

    scene: int
    at: int
    collisions: list[tuple[int, int]]


def predict_clevrer(
    trajectories: Path,
    events: Path | None,
    at: int,
    until: int,
    out: Path,
    advance: Callable[[int, int], None],
) -> tuple[int, int]:
    """Predict every scene of a trajectory file; frames after ``at`` are never read.

    Args:
        events: event records of the same scenes, of which only collisions up to ``at`` are read; without
            them, which pairs have collided already is inferred from the motion.

    Returns:
        How many scenes there are, and how many collisions are predicted.
    """
    scenes = list(read_trajectories(trajectories).values())
    known = read_scene_events(events) if events else None
    if known is not None and (missing := [s.scene_index for s in scenes if s.scene_index not in known]):
        raise FormatError(
            f"has no record of scene {missing[0]}",
            where=(events or "",),
            hint="Give the events of the scenes of the trajectories",
        )
    total = 0
    with replacing(out) as fresh, fresh.open("wb") as file:
        for done, scene in enumerate(scenes, start=1):
            met = (
                None
                if known is None
                else [
                    (min(c.object), max(c.object))
                    for c in known[scene.scene_index].collisions
                    if c.frame <= at
                ]
            )
            found = predict_collisions(scene.objects, scene.trajectory, at, until, met=met)
            total += len(found)
            file.write(
                msgspec.json.format(msgspec.json.encode(Prediction(scene.scene_index, at, found)), indent=0)
                + b"\n"
            )
            advance(done, len(scenes))
    return len(scenes), total
