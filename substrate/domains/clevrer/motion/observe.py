"""From what was recorded to bodies: states of an annotation, and masses from the collisions it shows."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from substrate.domains.clevrer.format import Annotation, Collision, MotionState, Shape, tracks
from substrate.domains.clevrer.motion.engine import Body, simulate
from substrate.domains.clevrer.motion.law import LAW, Law

_BEFORE, _AFTER = 1, 2  # frames around a recorded collision between which its whole impulse passes
_DOUBT = 0.1  # how many units/s of unexplained momentum weigh as much as a mass that is off by its whole value


def observed(state: MotionState, shape: Shape, mass: float = 1.0) -> Body:
    """The body of a recorded state. Yaw and spin count for cubes only: a disc's change nothing.

    >>> observed(MotionState(3, (1.0, 2.0, 0.2), (0.0, 0.0, 0.5), (0.1, 0.0, 0.0), (0.0, 0.0, 2.0), True), "cube")
    Body(id=3, shape='cube', x=1.0, y=2.0, vx=0.1, vy=0.0, yaw=0.5, spin=2.0, mass=1.0)
    """
    yaw, spin = (state.orientation[2], state.angular_velocity[2]) if shape == "cube" else (0.0, 0.0)
    return Body(state.object_id, shape, state.location[0], state.location[1], state.velocity[0], state.velocity[1], yaw, spin, mass)


def bodies(annotation: Annotation, frame: int, masses: dict[int, float] | None = None) -> list[Body]:
    """All bodies of a video at a frame, seen or not."""
    shapes: dict[int, Shape] = {o.object_id: o.shape for o in annotation.object_property}
    states = sorted(annotation.motion_trajectory[frame].objects, key=lambda state: state.object_id)
    return [observed(s, shapes[s.object_id], (masses or {}).get(s.object_id, 1.0)) for s in states]


def masses(annotation: Annotation, *, law: Law = LAW) -> dict[int, float]:
    """Each body's mass relative to the others it met, from the momentum that recorded collisions pass on.

    CLEVRER's bodies differ in mass, whatever they look like: in a collision both change their velocity
    along one line, by unequal amounts. Where no collision tells, the mass is 1.

    Least squares of Σ m·Δv = 0 over each group of simultaneous collisions, drawn towards 1.
    """
    ids = sorted(o.object_id for o in annotation.object_property)
    column = {name: k for k, name in enumerate(ids)}
    rows: list[list[float]] = []
    for group in _groups(annotation.collision):
        change = _velocity_changes(annotation, group, law)
        for axis in (0, 1):
            row = [0.0] * len(ids)
            for name, delta in change.items():
                row[column[name]] = delta[axis]
            rows.append(row)
    momentum = np.array(rows).reshape(len(rows), len(ids))
    doubt = _DOUBT**2 * np.eye(len(ids))
    found = np.linalg.solve(momentum.T @ momentum + doubt, doubt @ np.ones(len(ids)))
    return {name: max(0.2, float(value)) for name, value in zip(ids, _centred(found, momentum), strict=True)}


def _centred(found: np.ndarray, momentum: np.ndarray) -> np.ndarray:
    """Scale is free: the doubt's pull towards 1 shrinks all masses alike, which this undoes."""
    met = np.abs(momentum).sum(axis=0) > 0
    return np.where(met, found / found[met].mean(), 1.0) if met.any() else np.ones(len(found))


def _groups(collisions: Iterable[Collision]) -> list[list[Collision]]:
    """Collisions that share a body and lie too close in time to be told apart."""
    groups: list[list[Collision]] = []
    for collision in sorted(collisions, key=lambda c: (c.frame_id, c.object_ids)):
        for group in groups:
            if any(collision.frame_id - c.frame_id <= _BEFORE + _AFTER and set(c.object_ids) & set(collision.object_ids) for c in group):
                group.append(collision)
                break
        else:
            groups.append([collision])
    return groups


def _velocity_changes(annotation: Annotation, group: list[Collision], law: Law) -> dict[int, tuple[float, float]]:
    """What the group's impulses changed in each body's velocity, over what drag and friction would have."""
    first = max(0, min(c.frame_id for c in group) - _BEFORE)
    last = min(len(annotation.motion_trajectory) - 1, max(c.frame_id for c in group) + _AFTER)
    shapes: dict[int, Shape] = {o.object_id: o.shape for o in annotation.object_property}
    track = tracks(annotation)
    change: dict[int, tuple[float, float]] = {}
    for name in sorted({name for c in group for name in c.object_ids}):
        free = simulate([observed(track[name][first], shapes[name])], last - first, law=law).final[0]
        velocity = track[name][last].velocity
        change[name] = (velocity[0] - free.vx, velocity[1] - free.vy)
    return change
