"""Poses from positions: each body's place and velocity at the frames from which a fork may start."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import hypot

from research.domains.foretelling.estimate import Sampled
from research.domains.foretelling.trajectories import TrajectoryScene
from substrate.domains.clevrer.deltas import BEFORE, pose_frames
from substrate.domains.clevrer.format import Posed, SceneEvents, Shape
from substrate.domains.clevrer.motion.law import LAW, Law

_DIGITS = 4


def poses(scene: TrajectoryScene, events: SceneEvents) -> dict[int, list[Posed]]:
    """Map each object to its poses at the frames from which another course of events may branch.

    Positions do not show a cube's yaw and spin: both are 0.
    """
    entries = [move.frame for move in events.in_outs if move.type == "in"]
    hits = [hit.frame for hit in events.collisions]
    frames = pose_frames(events.n_frames, entries, hits)
    shapes: dict[int, Shape] = {thing.id: thing.shape for thing in events.objects}
    by_object: dict[int, list[Posed]] = {}
    for name, points in sorted(scene.trajectory.items()):
        seen = [point for point in points if point[0] < events.n_frames]
        own = sorted({hit.frame for hit in events.collisions if name in hit.object})
        if len(seen) > 1:
            by_object[name] = list(_poses(seen, own, frames, shapes[name]))
    return by_object


def _poses(
    points: Sequence[Sampled], hits: Sequence[int], frames: Sequence[int], shape: Shape, law: Law = LAW
) -> Iterator[Posed]:
    """The pose at each frame that the points span.

    Each pose comes from the two nearest points between the last hit and the next (from any two if there are
    fewer), slowed by the law from their middle.

    >>> ball = [(70, 0.0, 0.0), (75, 0.14, 0.0), (80, 0.14, 0.14), (85, 0.14, 0.28)]
    >>> [(x, round(vx, 1), round(vy, 1)) for _, x, _, _, vx, vy, _ in _poses(ball, [77], [75, 80], "sphere")]
    [(0.14, 1.0, 0.0), (0.14, 0.0, 1.0)]
    """
    for frame in frames:
        if not points[0][0] <= frame <= points[-1][0]:
            continue
        start = max((hit for hit in hits if hit <= frame), default=-1)
        end = min((hit for hit in hits if hit > frame), default=points[-1][0] + 1)
        free = [point for point in points if start <= point[0] - BEFORE and point[0] < end]
        near = sorted(free if len(free) > 1 else points, key=lambda point: abs(point[0] - frame))
        (f0, x0, y0), (f1, x1, y1) = sorted(near[:2])
        span = (f1 - f0) * law.frame
        vx, vy = (x1 - x0) / span, (y1 - y0) / span
        speed = hypot(vx, vy)
        slowed = law.deceleration(shape, speed) * law.frame / speed if speed else 0.0
        now, x, y = near[0]
        ahead = (frame - now) * law.frame
        keep, way = (max(0.0, 1 - slowed * (when - (f0 + f1) / 2)) for when in (frame, (frame + now) / 2))
        yield (
            frame,
            round(x + vx * way * ahead, _DIGITS),
            round(y + vy * way * ahead, _DIGITS),
            0.0,
            round(vx * keep, _DIGITS),
            round(vy * keep, _DIGITS),
            0.0,
        )
