"""CLEVRER's law of motion on the ground plane, as one struct of constants.

The constants are in ``constants.json``, written by :mod:`research.domains.foretelling.calibrate` from the
official annotations; ``docs/design/motion.md`` tells how each was found. Lengths are scene units, times
seconds.

A free body slows by ``drag · v · (1 + v)`` (Bullet's damping of multibodies); cubes and cylinders slow by dry
friction too. Each of the ``substeps`` steps of a frame advances velocity before position.

Two bodies nearer than ``reach`` exchange an impulse along the normal, without friction. If one is a sphere,
their normal velocity becomes ``restitution · approach − gap / step``: the solver leaves bodies the speed that
closes the gap in one step. So slow impacts are inelastic, and whether a fast impact bounces depends on its
sub-step. Cubes and cylinders meet along edges and faces, in several points that average this effect out.
They separate with a share of the approach above a threshold.
"""

from __future__ import annotations

from importlib.resources import files
from math import atan, cos, exp, log, sqrt, tan

import msgspec
from msgspec import Struct

from substrate.domains.clevrer.format import Shape

_FASTEST, _STEEPEST = 0.99, 1.5  # far above every filmed speed: a look back stops here


class Law(Struct, frozen=True):
    """The constants of the law."""

    substeps: int
    """Steps of the solver in one frame."""
    step: float
    """Seconds in one step."""
    radius: float
    """Radius of spheres and cylinders, half edge of cubes, with the solver's margin (units)."""
    drag: float
    """A free body decelerates by ``drag · v · (1 + v)``; its spin falls by the same law."""
    friction: float
    """Deceleration of cubes and cylinders by the ground (units/s²); spheres have none."""
    turning: float
    """Deceleration of spin by the ground, independent of its rate (rad/s²)."""
    inertia: float
    """Moment of inertia about the vertical of a body of mass 1 (units²)."""
    restitution: float
    """Share of the approach with which a sphere and another body separate, before the gap is subtracted."""
    restitution_flat: float
    """Share of the approach beyond ``threshold_flat`` with which two cubes or cylinders separate."""
    threshold_flat: float
    """Approach up to which cubes and cylinders do not bounce off each other (units/s)."""
    threshold: float
    """Approach below which nothing bounces (units/s)."""
    reach: float
    """Gap at which the solver begins to act (units)."""
    correction: float
    """Share of an overlap that one step removes."""
    stamp: int
    """Number of a frame's first steps whose contacts are recorded under the previous frame."""

    def deceleration(self, shape: Shape, speed: float) -> float:
        """The deceleration of a free body that does not spin (units/s²).

        >>> round(LAW.deceleration("sphere", 1.0), 3), round(LAW.deceleration("cube", 1.0), 3)
        (0.08, 0.372)
        """
        return (0.0 if shape == "sphere" else self.friction) + self.drag * speed * (1 + speed)

    def glide(self, shape: Shape, speed: float, seconds: float) -> tuple[float, float]:
        """The distance that a free body glides in some time, and its speed then (units, units/s).

        A negative time looks back. It is the closed form of :meth:`deceleration`.

        >>> way, speed = LAW.glide("cube", 1.0, 0.5)
        >>> round(way, 3), round(speed, 3), LAW.glide("cube", 1.0, 9.0)[1]
        (0.454, 0.819, 0.0)
        """
        if shape == "sphere":
            share = min(speed / (1 + speed) * exp(-self.drag * seconds), _FASTEST)
            left = share / (1 - share)
            return log((1 + speed) / (1 + left)) / self.drag, left
        width = sqrt(self.friction / self.drag - 0.25)
        begin, rate = atan((speed + 0.5) / width), self.drag * width
        end = min(max(begin - rate * seconds, atan(0.5 / width)), _STEEPEST)
        way = log(cos(end) / cos(begin)) / self.drag - (begin - end) / rate / 2
        return way, max(0.0, width * tan(end) - 0.5)

    @property
    def frame(self) -> float:
        """Seconds in one frame."""
        return self.substeps * self.step


class Errors(Struct, frozen=True):
    """The errors of the released trajectories against the motion, fitted on one half of their scenes.

    A trajectory joins several fits, one per span of frames (docs/design/foretelling.md).
    """

    place: tuple[float, ...]
    """Standard error of a steady body's position (units) by fit; the last value serves all later fits."""
    velocity: tuple[float, ...]
    """Standard error of a steady body's velocity (units/s) in each fit, likewise."""
    mass: float
    """Spread of the logarithm of a body's mass."""


class Constants(Struct, frozen=True):
    """The content of the file of constants."""

    law: Law
    errors: Errors


_FILE = files("substrate.domains.clevrer.motion") / "constants.json"
_CONSTANTS = msgspec.json.decode(_FILE.read_bytes(), type=Constants)
LAW, ERRORS = _CONSTANTS.law, _CONSTANTS.errors
