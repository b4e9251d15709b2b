"""Constants of perception.

Written by ``python -m research.domains.perception.calibrate``: do not edit.

What each means stands in :mod:`.camera` and :mod:`.belief`.
"""

from typing import Any

CAMERA: dict[str, Any] = {
    "width": 480,
    "height": 320,
    "focal": 506.111024,
    "centre": (239.016493, 189.210691),
    "place": (4.191043, -0.001964, 2.42091),
    "angles": (0.988389, 1.571225, 3.142398),
    "half": (0.186054, 0.197708, 0.194244),
    "offsets": ((-0.231, 0.342, 0.401, -0.123), (-0.094, 0.176, 0.09, 0.139), (-0.514, 0.144, 0.25, -0.606)),
}

WEIGHTS: dict[str, tuple[float, ...]] = {
    "collision": (
        -0.54229,
        0.14234,
        0.5447,
        0.43456,
        -3.63671,
        -0.39591,
        -0.3401,
        -1.71269,
        2.32899,
        -0.40666,
        0.45901,
        1.27917,
        0.10297,
        1.29757,
        -0.74932,
        -0.0297,
        0.46877,
        0.80999,
        -0.06256,
    ),
    "entry": (-0.00221, 2.72947, -0.24544, 6.85967, 0.00164, -1.84904),
    "exit": (-0.38011, 0.8513, 1.43783, 4.85682, -1.81909, -3.78361),
}
