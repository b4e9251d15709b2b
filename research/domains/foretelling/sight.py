"""The errors of tracked positions, and the weights that turn a share of draws into a probability.

``constants.json`` holds them, written by :mod:`research.domains.foretelling.calibrate`;
:mod:`research.domains.foretelling.from_trajectories` derives them.
"""

from __future__ import annotations

from importlib.resources import files

import msgspec
from msgspec import Struct

from substrate.domains.clevrer.motion.law import ERRORS, Errors


class Sight(Errors, frozen=True, kw_only=True):
    """The errors of the released trajectories in full, and the motion of bodies that enter."""

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

    @property
    def edges(self) -> tuple[int, ...]:
        """Frames between intervals of different fits, where a change of velocity is no evidence."""
        return tuple(frame for seam in self.seams for frame in (seam - self.interval, seam))


class Belief(Struct, frozen=True):
    """Weights of a logistic sum that turns a pair's share of draws into a probability of collision.

    They are fitted to the even tracked scenes, as the errors of positions are.
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
    """Added if more than three pairs have collided."""
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


_FILE = files("research.domains.foretelling") / "constants.json"
_CONSTANTS = msgspec.json.decode(_FILE.read_bytes())
SIGHT = msgspec.convert({**msgspec.structs.asdict(ERRORS), **_CONSTANTS["sight"]}, Sight)
BELIEF = msgspec.convert(_CONSTANTS["belief"], Belief)
