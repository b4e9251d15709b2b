"""CLEVRER's law of motion on the ground plane, as one struct of constants.

The constants are in :mod:`.constants`, written by :mod:`research.domains.foretelling.calibrate` from the
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

from math import atan, cos, exp, log, sqrt, tan

from msgspec import Struct

from substrate.domains.clevrer.format import Shape
from substrate.domains.clevrer.motion.constants import FITTED, OBSERVED, WEIGHED

_FASTEST, _STEEPEST = 0.99, 1.5  # far above every filmed speed: a body is not followed back beyond


class Law(Struct, frozen=True):
    """The constants of the law."""

    substeps: int
    """Steps of the solver in one frame."""
    step: float
    """Seconds in one step."""
    radius: float
    """Radius of spheres and cylinders, half edge of cubes, with the solver's margin (units)."""
    drag: float
    """Per second: a free body loses ``drag · v · (1 + v)`` of its speed; its spin falls by the same law."""
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


class Sight(Struct, frozen=True):
    """The errors of the released trajectories against the motion, fitted on one half of their scenes."""

    interval: int
    """Frames between two positions."""
    seams: tuple[int, ...]
    """Frames at which the trajectories begin a new, independent fit."""
    still: float
    """Speed below which a body counts as at rest (units/s)."""
    touching: float
    """Distance of centres below which two bodies have surely touched (units)."""
    near: float
    """Distance within which two bodies that change velocity together have collided (units)."""
    blow: float
    """Change of velocity that only a blow explains (units/s)."""
    place: tuple[float, ...]
    """Standard error of a steady body's position by fit; the last value serves all later fits (units)."""
    velocity: tuple[float, ...]
    """Standard error of a steady body's velocity, by fit likewise (units/s)."""
    struck_place: float
    """Standard error of a struck body's position (units)."""
    struck_velocity: float
    """Standard error of a struck body's velocity in three cases out of four (units/s)."""
    struck_badly: float
    """Standard error of its velocity in the fourth case (units/s)."""
    entry_speed: tuple[float, float]
    """Mean and spread of the speed of a body that enters the view (units/s)."""
    entry_aim: tuple[float, float]
    """The point on the ground plane that entering bodies head for (units)."""
    entry_spread: float
    """Spread of their direction about that point (radians)."""
    entry_aimed: float
    """Share of entering bodies that head for another body instead."""
    entry_aimed_spread: float
    """Spread of their direction about that body (radians)."""
    mass: float
    """Spread of the logarithm of a body's mass."""

    @property
    def edges(self) -> tuple[int, ...]:
        """Frames between intervals of different fits, where a change of velocity is no evidence."""
        return tuple(frame for seam in self.seams for frame in (seam - self.interval, seam))


class Belief(Struct, frozen=True):
    """Weights of a logistic sum that turns a pair's share of draws into a probability of collision.

    They are fitted on the same half of the scenes.
    """

    constant: float = 0.0
    share: float = 0.0
    """Weight of the log-odds of the share."""
    late: float = 0.0
    """Weight of how late the draws collide: 0 now, 1 at the end."""
    few_met: float = 0.0
    """Added if at most one pair has collided: the generator kept few scenes with fewer than two."""
    three_met: float = 0.0
    """Added if exactly three pairs have collided: the generator kept few scenes with more."""
    more_met: float = 0.0
    shared: float = 0.0
    """Weight of the number of collisions that the two bodies already had with others."""
    launched: float = 0.0
    """Weight of the number of bodies of the pair that move without having been hit: they were aimed."""
    entering: float = 0.0
    """Weight of the number of bodies of the pair that have just entered the view."""
    scattered: float = 0.0
    """Added if both bodies move because they were hit, so that neither was aimed at the other."""
    rival: float = 0.0
    """Weight of the largest share of another collision of either body."""
    forestalled: float = 0.0
    """Weight of the largest share of an earlier collision of either body."""
    late_share: float = 0.0
    """Weight of the product of log-odds and lateness: late collisions are less sure."""
    cut: float = 0.5
    """Probability from which a collision is predicted; it gave the highest F1."""


LAW = Law(**FITTED)
SIGHT = Sight(**OBSERVED)
BELIEF = Belief(**WEIGHED)
