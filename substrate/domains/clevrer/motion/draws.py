"""Random states of affairs that a filmed scene allows: constants of the law, masses, poses.

No error here is fitted to an answer. A constant from a grid search is known to one step of the grid. A mass
that collisions show is known to a hundredth; any other varies as masses do. A pose is known to its last digit
(docs/design/forks.md).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from math import exp, pi
from random import Random

from msgspec import Struct
from msgspec.structs import replace

from substrate.domains.clevrer.motion.course import Recorded
from substrate.domains.clevrer.motion.engine import Body
from substrate.domains.clevrer.motion.law import ERRORS, LAW, Law

DRAWS = 32  # in an ensemble
VOTERS = 15
"""The number of draws whose majority gives an answer if a tracker gave the positions."""
_STEPS: Mapping[str, float] = {
    "radius": 0.0004,
    "reach": 0.001,
    "restitution": 0.05,
    "restitution_flat": 0.05,
    "threshold_flat": 0.2,
    "friction": 0.001,
    "inertia": 0.0025,
}
"""The largest error of each constant, to either side."""
_SHOWN = 0.01
"""Spread of the logarithm of a mass that a video's collisions show."""
_DIGIT = 0.00005
"""Half of the last digit of a recorded pose."""


class Draw(Struct, frozen=True):
    """A possible state of affairs, by number; equal numbers give equal states."""

    number: int
    tracked: bool = False
    """Whether poses come from tracked positions, with their errors, and show no cube's yaw."""

    def law(self, law: Law = LAW) -> Law:
        """The law with a random error on each uncertain constant.

        >>> Draw(1).law() == Draw(1).law(), Draw(1).law() == LAW
        (True, False)
        """
        rng = Random(f"law {self.number}")
        drawn = {name: getattr(law, name) + rng.uniform(-step, step) for name, step in _STEPS.items()}
        return replace(law, **drawn)

    def bodies(self, recorded: Recorded, known: Collection[int]) -> dict[int, dict[int, Body]]:
        """The recorded bodies with random errors on masses and poses.

        Args:
            known: the bodies whose masses the video's collisions show.
        """
        masses = {
            name: exp(Random(f"mass {self.number} {name}").gauss(0, _SHOWN if name in known else ERRORS.mass))
            for name in sorted({name for bodies in recorded.values() for name in bodies})
        }
        by_frame: dict[int, dict[int, Body]] = {}
        for frame, bodies in recorded.items():
            rng = Random(f"pose {self.number} {frame}")
            by_frame[frame] = {
                name: self._drawn(body, masses[name], rng) for name, body in sorted(bodies.items())
            }
        return by_frame

    def _drawn(self, body: Body, mass: float, rng: Random) -> Body:
        body = replace(body, mass=body.mass * mass)
        if not self.tracked:
            return _shifted(body, lambda _: rng.uniform(-_DIGIT, _DIGIT))
        if body.shape == "cube":
            body = replace(body, yaw=Random(f"yaw {self.number} {body.id}").uniform(0, pi / 2))
        return _shifted(body, lambda error: rng.gauss(0, error))


def _shifted(body: Body, error: Callable[[float], float]) -> Body:
    """A body with errors, given the standard error of each value; a velocity of zero is known."""
    place, velocity = ERRORS.place[-1], ERRORS.velocity[-1]
    x, y, vx, vy = (
        value + error(spread) if value else value
        for value, spread in ((body.x, place), (body.y, place), (body.vx, velocity), (body.vy, velocity))
    )
    return replace(body, x=x, y=y, vx=vx, vy=vy)
