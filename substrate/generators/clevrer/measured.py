"""Measured properties of how official scenes were made.

Written by ``python -m research.measurements.clevrer_worlds fit``: do not edit.

``research/measurements/clevrer_fit.py`` estimates each; docs/design/worlds.md compares the worlds.
Shares are counts; lengths are in units.
"""

# fmt: off

from substrate.domains.clevrer.format import Shape

OBJECTS = {3: 59, 4: 3557, 5: 3358, 6: 3026}
SHAPES: dict[Shape, int] = {"cube": 15060, "sphere": 17132, "cylinder": 17159}
CASTS = {
    "LRLl": 190,
    "LRLL": 97,
    "LRlL": 91,
    "LRRl": 87,
    "LLRR": 73,
    "LRlR": 71,
    "LLRl": 64,
    "LRRL": 64,
    "LLRL": 58,
    "LRLR": 54,
    "LLLR": 52,
    "LRll": 42,
    "LRLr": 24,
    "LRlr": 11,
    "LLRr": 4,
    "LRl": 3,
    "LRRr": 2,
}
"""The actors of a scene by their number: L is launched, R rests; a small letter is first hit after the video,
if ever.
"""
FIRST = {0: 10, 10: 914, 20: 2506, 30: 3023, 40: 2238, 50: 978, 60: 277, 70: 53, 80: 1}
"""Frame of the first collision."""
GAPS: dict[str, dict[int, int]] = {
    "L2": {0: 4, 10: 65, 20: 65, 30: 63, 40: 56, 50: 48, 60: 44, 70: 36, 80: 21, 90: 12, 100: 7},
    "L3": {10: 39, 20: 32, 30: 49, 40: 50, 50: 32, 60: 44, 70: 28, 80: 24, 90: 10, 100: 5},
    "R2": {0: 42, 10: 133, 20: 94, 30: 45, 40: 15, 50: 8, 60: 9, 70: 4, 80: 3, 100: 1},
    "R3": {0: 22, 10: 61, 20: 64, 30: 45, 40: 25, 50: 16, 60: 14, 70: 8, 80: 1, 90: 1},
}
"""Frames from there to the first collision of the third and fourth actor, launched or at rest."""
SPEED = (2.7, 3.0)
"""Of what is launched, at frame 0 (units/s)."""
RING = (3.0, 4.04)
"""Distance from the origin at which the first actor starts."""
REST_X = (-2.53, 1.22)
REST_Y = (-1.61, 1.6)
"""The places where objects rest."""
APART = 0.79
"""Least distance of two centres at rest."""
OFFSET = 0.21
"""The largest offset from the centre of its target at which an object aims, all offsets being as likely."""
MASS = 0.18
"""Spread of the logarithm of a mass."""
KEPT_COLLISIONS: dict[int, float] = {1: 1.0, 2: 0.74, 3: 0.87, 4: 0.51}
KEPT_EXITS: dict[int, float] = {0: 1.0, 1: 0.75}
"""Shares of the generated scenes that are kept, by their collisions and by their exits; larger numbers as the
largest here.
"""
