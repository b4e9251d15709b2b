"""Annotations with a perception's errors, placed by random numbers."""

from __future__ import annotations

from random import Random

from msgspec.structs import replace

from substrate.domains.clevrer.format import Annotation, Collision, MotionState

SPEED_ERROR = 1.5
"""Error of a velocity (units/s) per unit of a place's error, as in released trackers."""


def without_collisions(film: Annotation, share: float, rng: Random) -> Annotation:
    """The annotation without a share of its collisions; the motion does not change."""
    return replace(film, collision=[c for c in film.collision if rng.random() >= share])


def blurred(film: Annotation, frames: int, rng: Random) -> Annotation:
    """The annotation with each collision's frame off by up to ``frames``."""
    last = len(film.motion_trajectory) - 1

    def off(collision: Collision) -> Collision:
        frame = collision.frame_id + rng.randint(-frames, frames)
        return replace(collision, frame_id=min(max(frame, 1), last))

    moved = [off(collision) for collision in film.collision]
    return replace(film, collision=sorted(moved, key=lambda c: (c.frame_id, c.object_ids)))


def noisy(film: Annotation, sigma: float, rng: Random) -> Annotation:
    """The annotation with errors of places (``sigma``, in units), and proportional errors of velocities."""

    def off(state: MotionState) -> MotionState:
        place = tuple(value + rng.gauss(0, sigma) for value in state.location)
        velocity = tuple(value + rng.gauss(0, SPEED_ERROR * sigma) for value in state.velocity)
        return replace(state, location=place, velocity=velocity)

    frames = [replace(frame, objects=[off(s) for s in frame.objects]) for frame in film.motion_trajectory]
    return replace(film, motion_trajectory=frames)
