"""Bodies from records: the states of an annotation, and masses from its collisions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from substrate.domains.clevrer.deltas import AFTER, BEFORE
from substrate.domains.clevrer.format import Annotation, MotionState, Shape, tracks
from substrate.domains.clevrer.motion.engine import Body, Contact, simulate
from substrate.domains.clevrer.motion.law import LAW, Law

_DIGITS = 6
_DOUBT = 0.1  # units/s of unexplained momentum that cost as much as a mass that is off by its whole value


def observed(state: MotionState, shape: Shape, mass: float = 1.0) -> Body:
    """The body of a recorded state; yaw and spin are kept for cubes only, as a disc's change nothing.

    >>> place, turned, velocity, turning = (1.0, 2.0, 0.2), (0.0, 0.0, 0.5), (0.1, 0.0, 0.0), (0.0, 0.0, 2.0)
    >>> observed(MotionState(3, place, turned, velocity, turning, True), "cube")
    Body(id=3, shape='cube', x=1.0, y=2.0, vx=0.1, vy=0.0, yaw=0.5, spin=2.0, mass=1.0)
    """
    yaw, spin = (state.orientation[2], state.angular_velocity[2]) if shape == "cube" else (0.0, 0.0)
    return Body(
        state.object_id,
        shape,
        state.location[0],
        state.location[1],
        state.velocity[0],
        state.velocity[1],
        yaw,
        spin,
        mass,
    )


def bodies(annotation: Annotation, frame: int, masses: dict[int, float] | None = None) -> list[Body]:
    """All bodies of a video at a frame, visible or not."""
    shapes: dict[int, Shape] = {o.object_id: o.shape for o in annotation.object_property}
    states = sorted(annotation.motion_trajectory[frame].objects, key=lambda state: state.object_id)
    return [observed(s, shapes[s.object_id], (masses or {}).get(s.object_id, 1.0)) for s in states]


def masses(annotation: Annotation, *, law: Law = LAW) -> dict[int, float]:
    """The masses of a video's bodies; see :func:`relative_masses`."""
    shapes: dict[int, Shape] = {o.object_id: o.shape for o in annotation.object_property}
    track = tracks(annotation)
    contacts = [(c.frame_id, min(c.object_ids), max(c.object_ids)) for c in annotation.collision]
    return relative_masses(
        shapes,
        contacts,
        lambda name, frame: observed(track[name][frame], shapes[name]),
        len(annotation.motion_trajectory) - 1,
        law=law,
    )


def relative_masses(
    names: Iterable[int],
    contacts: Iterable[Contact],
    state: Callable[[int, int], Body | None],
    last: int,
    *,
    law: Law = LAW,
) -> dict[int, float]:
    """Each body's mass relative to the bodies that it met, from the momentum exchanged in collisions.

    CLEVRER's bodies differ in mass, whatever they look like: in a collision both change their velocity
    along the same line, by unequal amounts. A body without a usable collision has mass 1.

    They are the least squares of Σ m·Δv = 0 over each group of simultaneous collisions, drawn towards 1.

    Args:
        names: the bodies.
        contacts: recorded collisions.
        state: gives a body's record at a frame, if any; a collision without the records of both bodies is
            ignored.
        last: the video's last frame.
    """
    import numpy as np  # answers that simulate nothing need none

    ids = sorted(names)
    column = {name: k for k, name in enumerate(ids)}
    rows: list[list[float]] = []
    for group in _groups(contacts):
        change = _velocity_changes(group, state, last, law)
        for axis in (0, 1):
            row = [0.0] * len(ids)
            for name, delta in change.items():
                row[column[name]] = delta[axis]
            rows.append(row)
    momentum = np.array(rows).reshape(len(rows), len(ids))
    doubt = _DOUBT**2 * np.eye(len(ids))
    masses = np.linalg.solve(momentum.T @ momentum + doubt, doubt @ np.ones(len(ids)))
    # Scale is free: the pull towards 1 shrinks all masses alike, and the division undoes that.
    met = np.abs(momentum).sum(axis=0) > 0
    centred = np.where(met, masses / masses[met].mean(), 1.0) if met.any() else np.ones(len(masses))
    # Least squares may differ in the last bits from one processor to another.
    return {name: max(0.2, round(float(value), _DIGITS)) for name, value in zip(ids, centred, strict=True)}


def _groups(contacts: Iterable[Contact]) -> list[list[Contact]]:
    """Collisions grouped if they share a body and are too close in time to separate."""
    groups: list[list[Contact]] = []
    for contact in sorted(contacts):
        for group in groups:
            if any(
                contact[0] - other[0] <= BEFORE + AFTER and not set(other[1:]).isdisjoint(contact[1:])
                for other in group
            ):
                group.append(contact)
                break
        else:
            groups.append([contact])
    return groups


def _velocity_changes(
    group: Sequence[Contact], state: Callable[[int, int], Body | None], last: int, law: Law
) -> dict[int, tuple[float, float]]:
    """Each body's change of velocity by the group's impulses, without drag and friction."""
    first = max(0, min(frame for frame, _, _ in group) - BEFORE)
    end = min(last, max(frame for frame, _, _ in group) + AFTER)
    change: dict[int, tuple[float, float]] = {}
    for name in sorted({name for _, a, b in group for name in (a, b)}):
        before, after = state(name, first), state(name, end)
        if before is None or after is None:
            return {}
        (free,) = simulate([before], end - first, law=law).final
        change[name] = (after.vx - free.vx, after.vy - free.vy)
    return change
