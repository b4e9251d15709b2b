"""Measured properties of how official scenes were made, from ``measured.json``.

``python -m research.measurements.clevrer_worlds fit`` writes that file; ``clevrer_fit.py`` beside it
estimates each property, and docs/design/worlds.md compares the worlds. Shares are counts; lengths are in
units; frames are in bins of ten.
"""

from __future__ import annotations

from importlib.resources import files

import msgspec

from substrate.domains.clevrer.format import Shape


class Measured(msgspec.Struct, frozen=True):
    """The content of the file."""

    objects: dict[int, int]
    shapes: dict[Shape, int]
    casts: dict[str, int]
    """The number of scenes with these actors, in order: L is launched, R rests; an actor with a small letter
    is first hit after the video, if ever.
    """
    first: dict[int, int]
    """Frame of the first collision."""
    gaps: dict[str, dict[int, int]]
    """Frames from there to the first collision of the third and fourth actor, launched or at rest."""
    speed: tuple[float, float]
    """Speed of a launched actor at frame 0 (units/s)."""
    ring: tuple[float, float]
    """Distance from the origin at which the first actor starts."""
    rest_x: tuple[float, float]
    rest_y: tuple[float, float]
    """The places where objects rest."""
    apart: float
    """Least distance of two centres at rest."""
    offset: float
    """The largest offset from the centre of its target at which an object aims; all are as likely."""
    mass: float
    """Spread of the logarithm of a mass."""
    kept_collisions: dict[int, float]
    kept_exits: dict[int, float]
    """Shares of the generated scenes that are kept, by their collisions and by their exits; a number above
    the largest listed counts as the largest.
    """


FILE = files("substrate.generators.clevrer") / "measured.json"
MEASURED = msgspec.json.decode(FILE.read_bytes(), type=Measured)
