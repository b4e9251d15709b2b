"""CLEVRER's law of motion on the ground plane: what moves bodies, in one struct of constants.

The constants are in :mod:`.constants`, written by :mod:`research.domains.foretelling.calibrate` from the
official annotations; ``docs/design/motion.md`` tells how each was found. Lengths are scene units, times
seconds.

A free body slows by ``drag · v · (1 + v)`` (Bullet's damping of multibodies) and, cubes and
cylinders, by dry friction. Velocity is advanced before position, ``substeps`` times a frame.

Two bodies nearer than ``reach`` exchange an impulse along the normal, without friction. Where a sphere
takes part, it makes their normal velocity ``restitution · approach − gap / step``: the solver lets
bodies keep the speed that closes the gap in one step. That rule, and not a coefficient alone, is why
slow impacts are inelastic and fast ones bounce or not as the sub-step falls. Cubes and cylinders meet
along edges and faces, in several points that average this out: they part with a share of what their
approach exceeds a threshold by.
"""

from __future__ import annotations

from msgspec import Struct

from substrate.domains.clevrer.format import Shape
from substrate.domains.clevrer.motion.constants import FITTED, OBSERVED, WEIGHED


class Law(Struct, frozen=True):
    """The constants of the law."""

    substeps: int
    """Steps of the solver in one frame."""
    step: float
    """Seconds in one step."""
    radius: float
    """Radius of spheres and cylinders, half edge of cubes, with the solver's margin (units)."""
    drag: float
    """A second: a free body loses ``drag · v · (1 + v)`` of its speed, and of its spin likewise."""
    friction: float
    """Deceleration of cubes and cylinders by the ground (units/s²); spheres have none."""
    turning: float
    """Deceleration of spin by the ground, whatever the speed (rad/s²)."""
    inertia: float
    """Moment of inertia about the vertical of a body of mass 1 (units²)."""
    restitution: float
    """The share of the approach with which a sphere and another body part, where the gap does not take it
    back.
    """
    restitution_flat: float
    """Between cubes and cylinders: share of the approach beyond ``threshold_flat`` with which the two part.
    """
    threshold_flat: float
    """Approach up to which cubes and cylinders do not bounce off each other (units/s)."""
    threshold: float
    """Approach below which nothing bounces (units/s)."""
    reach: float
    """Gap at which the solver begins to act (units)."""
    correction: float
    """Share of an overlap that is taken back in one step."""
    stamp: int
    """Steps into a frame before which a contact is still recorded under the frame before."""

    def deceleration(self, shape: Shape, speed: float) -> float:
        """Of a free body that does not spin (units/s²).

        >>> round(LAW.deceleration("sphere", 1.0), 3), round(LAW.deceleration("cube", 1.0), 3)
        (0.08, 0.372)
        """
        return (0.0 if shape == "sphere" else self.friction) + self.drag * speed * (1 + speed)

    @property
    def frame(self) -> float:
        """Seconds in one frame."""
        return self.substeps * self.step


class Sight(Struct, frozen=True):
    """The differences of the released trajectories from the motion: fitted on one half of their scenes."""

    interval: int
    """Frames between two positions."""
    seams: tuple[int, ...]
    """Frames at which the trajectories begin a new, independent fit."""
    still: float
    """Speed below which a body is taken to rest (units/s)."""
    touching: float
    """Distance of centres at which two bodies have touched for sure (units)."""
    near: float
    """Distance within which two bodies that change their velocity at once have collided (units)."""
    blow: float
    """Change of velocity above which a body was struck (units/s)."""
    place: tuple[float, ...]
    """Standard error of a steady body's position in the first fit, the second …; the last stands for those
    after it (units).
    """
    velocity: tuple[float, ...]
    """Standard error of a steady body's velocity, likewise (units/s)."""
    struck_place: float
    """Standard error of a struck body's position (units)."""
    struck_velocity: float
    """Standard error of a struck body's velocity in three cases out of four (units/s)."""
    struck_badly: float
    """The same in the fourth."""
    entry_speed: tuple[float, float]
    """Mean and spread of the speed of a body that comes into view (units/s)."""
    entry_aim: tuple[float, float]
    """The point on the ground plane that such bodies head for (units)."""
    entry_spread: float
    """Spread of their direction about that aim (radians)."""
    entry_aimed: float
    """Share of such bodies that head for another body instead."""
    entry_aimed_spread: float
    """Spread of their direction about that body (radians)."""
    mass: float
    """Spread of the logarithm of a body's mass."""

    @property
    def edges(self) -> tuple[int, ...]:
        """Frames whose two neighbouring intervals are not of one fit: a change of velocity there says
        nothing.
        """
        return tuple(frame for seam in self.seams for frame in (seam - self.interval, seam))


class Belief(Struct, frozen=True):
    """From the share of draws in which a pair collides to the probability that it does: a logistic sum,
    fitted on the same half.
    """

    constant: float = 0.0
    share: float = 0.0
    """Weight of the log-odds of the share."""
    late: float = 0.0
    """Weight of how late the draws collide: 0 now, 1 at the end."""
    few_met: float = 0.0
    """The weight where at most one pair has collided yet: the generator kept few scenes with less than two.
    """
    three_met: float = 0.0
    """The weight where exactly three pairs have: it kept few with more."""
    more_met: float = 0.0
    shared: float = 0.0
    """Weight of the number of collisions the two bodies already had with others."""
    launched: float = 0.0
    """Weight of the number of the two that move without having been hit: somebody aimed them."""
    entering: float = 0.0
    """Weight of the number of the two that have just come into view."""
    scattered: float = 0.0
    """The weight where both move because they were hit: nobody aimed them at each other."""
    rival: float = 0.0
    """Weight of the largest share that another collision of either has."""
    forestalled: float = 0.0
    """Weight of the largest share that an earlier collision of either has."""
    late_share: float = 0.0
    """Weight of the product of log-odds and lateness: late collisions are less sure."""
    cut: float = 0.5
    """Probability from which a collision is predicted: where F1 was highest."""


LAW = Law(**FITTED)
SIGHT = Sight(**OBSERVED)
BELIEF = Belief(**WEIGHED)
