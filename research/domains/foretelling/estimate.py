"""Estimate a body's state, and its trust, from positions sampled every few frames."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import hypot
from typing import Literal

from msgspec import Struct

from research.domains.foretelling.sight import SIGHT, Sight
from substrate.domains.clevrer.format import Sampled, Shape
from substrate.domains.clevrer.motion.engine import Body
from substrate.domains.clevrer.motion.law import LAW, Law

Trust = Literal["steady", "struck", "new"]


PATIENCE = 3
"""Intervals without a position before a body counts as gone: a tracker may lose one that is still there."""


class Estimate(Struct, frozen=True):
    """A state and its trust.

    A tracker fits a trajectory piece by piece; a seam is a frame where a new fit begins. ``steady``: no blow
    since the last seam. ``struck``: a blow since then; if it is wrongly timed, the body is misplaced.
    ``new``: only one position is known, and not of frame 0. ``fit`` counts the seams before the state.
    """

    body: Body
    trust: Trust
    fit: int


def estimate(
    name: int, shape: Shape, points: Sequence[Sampled], at: int, *, law: Law = LAW, sight: Sight = SIGHT
) -> Estimate | None:
    """Estimate the state at frame ``at``, from the points up to it only.

    The position is the last point's. The velocity is the mean of the last interval, slowed by the law from
    the interval's middle to its end. A longer window would not average errors out: trajectories are piecewise
    fits, smooth between seams, and a wrong piece is wrong as a whole (``docs/design/foretelling.md`` has the
    comparison). A body that has been still stays still. The result is ``None`` without any earlier point, and
    for a body that has left: its points end :data:`PATIENCE` intervals before ``at``.

    >>> points = [(70, 0.0, 0.0), (75, 0.14, 0.0), (80, 0.28, 0.0), (85, 9.0, 9.0)]
    >>> state = estimate(4, "sphere", points, at=80)
    >>> round(state.body.x, 2), round(state.body.vx, 3), state.trust
    (0.28, 0.994, 'steady')
    """
    seen = [point for point in points if point[0] <= at]
    if not seen or at - seen[-1][0] >= PATIENCE * sight.interval:
        return None
    frame, x, y = seen[-1]
    passed = [seam for seam in sight.seams if seam <= frame]
    if len(seen) == 1:
        return Estimate(Body(name, shape, x, y), "steady" if frame == 0 else "new", len(passed))
    struck = [blow for blow in blows(seen, shape, law, sight) if blow > max(passed, default=0)]
    trust: Trust = "struck" if struck else "steady"
    before = seen[-2]
    span = (frame - before[0]) * law.frame
    vx, vy = (x - before[1]) / span, (y - before[2]) / span
    mean = hypot(vx, vy)
    if mean < sight.still:
        return Estimate(Body(name, shape, x, y), trust, len(passed))
    ahead = (at - frame) * law.frame
    keep = max(0.0, 1 - law.deceleration(shape, mean) * (span / 2 + ahead) / mean)
    way = ahead * (1 + keep) / 2
    return Estimate(Body(name, shape, x + vx * way, y + vy * way, vx * keep, vy * keep), trust, len(passed))


def blows(points: Sequence[Sampled], shape: Shape, law: Law = LAW, sight: Sight = SIGHT) -> list[int]:
    """Frames where the velocity changes by more than the law allows, without seams between fits.

    >>> blows([(0, 0.0, 0.0), (5, 0.14, 0.0), (10, 0.279, 0.0), (15, 0.279, 0.1)], "sphere")
    [10]
    """
    return [
        frame
        for frame, change in velocity_changes(points, shape, law)
        if change > sight.blow and frame not in sight.edges
    ]


def velocity_changes(points: Sequence[Sampled], shape: Shape, law: Law = LAW) -> list[tuple[int, float]]:
    """The change of mean velocity at each inner point, beyond drag and friction (units/s)."""
    intervals = [
        (f1, (x1 - x0) / (f1 - f0) / law.frame, (y1 - y0) / (f1 - f0) / law.frame, f1 - f0)
        for (f0, x0, y0), (f1, x1, y1) in pairwise(points)
    ]
    changes: list[tuple[int, float]] = []
    for (frame, vx, vy, before), (_, wx, wy, after) in pairwise(intervals):
        mean = hypot(vx, vy)
        keep = (
            max(0.0, 1 - law.deceleration(shape, mean) * (before + after) / 2 * law.frame / mean)
            if mean
            else 1.0
        )
        changes.append((frame, hypot(wx - keep * vx, wy - keep * vy)))
    return changes
