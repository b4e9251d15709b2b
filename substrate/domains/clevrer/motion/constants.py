"""Constants of the law of motion.

Written by ``python -m research.domains.foretelling.calibrate``: do not edit.

The meaning of each stands in :mod:`.law`; its derivation, in
:mod:`research.domains.foretelling.from_annotations` and
:mod:`research.domains.foretelling.from_trajectories`.
"""

from typing import Any

FITTED: dict[str, Any] = {
    "substeps": 7,
    "step": 0.004,
    "radius": 0.2012,
    "drag": 0.04,
    "friction": 0.2925,
    "turning": 3.1,
    "inertia": 0.0293,
    "restitution": 0.6,
    "restitution_flat": 0.55,
    "threshold_flat": 0.6,
    "threshold": 0.2,
    "reach": 0.006,
    "correction": 0.2,
    "stamp": 2,
}

OBSERVED: dict[str, Any] = {
    "interval": 5,
    "seams": (90, 110),
    "still": 0.003,
    "touching": 0.44,
    "near": 0.68,
    "blow": 0.05,
    "place": (0.031, 0.008),
    "velocity": (0.044, 0.024),
    "struck_place": 0.047,
    "struck_velocity": 0.06,
    "struck_badly": 0.273,
    "entry_speed": (2.37, 0.38),
    "entry_aim": (-1.25, 0.0),
    "entry_spread": 0.33,
    "entry_aimed": 0.55,
    "entry_aimed_spread": 0.1,
    "mass": 0.18,
}

WEIGHED: dict[str, Any] = {
    "constant": -1.6,
    "share": 0.54,
    "late": -1.47,
    "few_met": 1.35,
    "three_met": -1.95,
    "more_met": -2.47,
    "shared": 0.94,
    "launched": 1.07,
    "entering": 0.44,
    "scattered": 0.66,
    "rival": 0.18,
    "forestalled": -0.63,
    "late_share": 0.63,
    "cut": 0.45,
}
