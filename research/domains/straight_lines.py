"""The closest approach of two bodies that both move straight on, the simplest way to foretell a collision.

The paper's own use of straight lines is Algorithm 3, `substrate/domains/clevrer/kinematics.py`: it projects
mean velocities and compares squares, and its results depend on these to the last bit.
"""

from __future__ import annotations

from math import hypot, inf
from typing import NamedTuple

from substrate.domains.clevrer.motion.engine import Body
from substrate.domains.clevrer.scene import Pose

TOUCHING = 0.4
"""Distance of centres that counts as a collision on straight lines (units): twice a body's radius."""


class Approach(NamedTuple):
    """The time (s) when two bodies are closest, and their distance then (units).

    The time is 0 for bodies that part, and the last one looked at for bodies that still approach then.
    """

    time: float
    distance: float


def approach(a: Body | Pose, b: Body | Pose, seconds: float = inf) -> Approach:
    """The closest approach within some seconds.

    >>> from substrate.domains.clevrer.scene import Pose
    >>> approach(Pose(0, 0, 0, 1, 0, 0), Pose(3, 2, 0, 0, 0, 0))
    Approach(time=3.0, distance=2.0)
    """
    x, y, vx, vy = b.x - a.x, b.y - a.y, b.vx - a.vx, b.vy - a.vy
    squared = vx * vx + vy * vy
    time = min(max(-(x * vx + y * vy) / squared, 0.0), seconds) if squared else 0.0
    return Approach(time, hypot(x + time * vx, y + time * vy))
