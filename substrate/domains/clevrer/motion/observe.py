"""The masses of bodies, from the collisions of a record."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import chain

from substrate.domains.clevrer.format import AFTER, BEFORE
from substrate.domains.clevrer.motion.engine import Body, Contact, simulate
from substrate.domains.clevrer.motion.law import LAW, Law

_DIGITS = 6
_DOUBT = 0.1  # units/s of unexplained momentum that cost as much as an error of 1 in a mass


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

    The masses minimize the squares of Σ m·Δv over each group of simultaneous collisions, with a pull towards
    1; none is below 0.2.

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
    """Collisions grouped if they share a body and are too close in time to separate.

    A collision may connect earlier groups. They are then one group, since the impulses of all its collisions
    add up to one change of velocity of the shared bodies.

    >>> _groups([(10, 0, 1), (10, 2, 3), (11, 1, 2), (20, 1, 2)])
    [[(10, 0, 1), (10, 2, 3), (11, 1, 2)], [(20, 1, 2)]]
    """
    groups: list[list[Contact]] = []
    for contact in sorted(contacts):
        connected = [group for group in groups if any(_inseparable(contact, other) for other in group)]
        if not connected:
            groups.append([contact])
            continue
        first, *others = connected
        first += [*chain.from_iterable(others), contact]
        groups = [group for group in groups if group not in others]
    return groups


def _inseparable(contact: Contact, earlier: Contact) -> bool:
    """Tell whether two collisions share a body and overlap in time."""
    (frame, *bodies), (earlier_frame, *earlier_bodies) = contact, earlier
    return frame - earlier_frame <= BEFORE + AFTER and not set(bodies).isdisjoint(earlier_bodies)


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
