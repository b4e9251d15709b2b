"""Algorithm 3: project the last visible frames on straight lines, in closed form, without a simulator."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from statistics import fmean

from substrate.domains.clevrer.format import SECONDS_PER_FRAME
from substrate.domains.clevrer.parameters import Kinematics
from substrate.domains.clevrer.scene import Pose


def predict_collisions(
    samples: Mapping[int, Sequence[tuple[int, Pose]]], last_frame: int, kinematics: Kinematics
) -> list[tuple[int, int, float]]:
    """The pairs whose closest approach on straight lines is below τ within the horizon.

    Args:
        samples: last frames and poses by object number, in time order, none empty.
        last_frame: only objects in view at this frame are projected, from their places in it.
        kinematics: frames averaged, τ in units, horizon in frames.

    Returns:
        ``(a, b, t)`` with a < b, sorted; t is the time of closest approach, in frames after ``last_frame``.

    >>> track = lambda x, vx: [(127, Pose(x, 0.0, 0.0, vx, 0.0, 0.0))]
    >>> tracks = {0: track(-1.0, 1.0), 1: track(1.0, 0.0)}
    >>> straight = Kinematics(frames=1, tau=0.4, horizon=300)
    >>> [(a, b, frames)] = predict_collisions(tracks, 127, straight)
    >>> a, b, round(frames, 2)
    (0, 1, 71.43)
    """
    bodies: dict[int, tuple[float, float, float, float]] = {}
    for number, track in sorted(samples.items()):
        frame, end = track[-1]
        if frame == last_frame:
            recent = [pose for _, pose in track[-kinematics.frames :]]
            bodies[number] = (
                end.x,
                end.y,
                fmean(pose.vx for pose in recent) * SECONDS_PER_FRAME,
                fmean(pose.vy for pose in recent) * SECONDS_PER_FRAME,
            )
    collisions: list[tuple[int, int, float]] = []
    for a, b in combinations(bodies, 2):
        dx, dy, dvx, dvy = (p - q for p, q in zip(bodies[a], bodies[b], strict=True))
        relative = dvx * dvx + dvy * dvy
        if not relative:
            continue
        time = -(dx * dvx + dy * dvy) / relative
        if (
            0 < time < kinematics.horizon
            and (dx + time * dvx) ** 2 + (dy + time * dvy) ** 2 < kinematics.tau**2
        ):
            collisions.append((a, b, time))
    return collisions
