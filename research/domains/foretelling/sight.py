"""The errors of tracked positions, from ``constants.json``.

:mod:`.calibrate` writes that file; :mod:`.from_trajectories` fits the errors.
"""

from __future__ import annotations

from importlib.resources import files

import msgspec

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


_FILE = files("research.domains.foretelling") / "constants.json"
CONSTANTS = msgspec.json.decode(_FILE.read_bytes())
SIGHT = msgspec.convert({**msgspec.structs.asdict(ERRORS), **CONSTANTS["sight"]}, Sight)
