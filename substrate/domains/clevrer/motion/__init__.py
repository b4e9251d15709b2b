"""The calibrated law of motion, a deterministic simulator with that law, and predictions from observed
motion.

- :func:`simulate`: bodies on the ground plane, frame by frame, with or without one of them;
- :func:`observed`, :func:`bodies`, :func:`masses`: bodies of an annotated video;
- :func:`estimate`, :func:`predict_collisions`: bodies and collisions from positions alone.

``docs/design/motion.md`` says how the law was found and how well it fits.
"""

from substrate.domains.clevrer.motion.engine import Body, Motion, simulate
from substrate.domains.clevrer.motion.estimate import Estimate, estimate
from substrate.domains.clevrer.motion.law import LAW, Law
from substrate.domains.clevrer.motion.observe import bodies, masses, observed
from substrate.domains.clevrer.motion.predict import predict_collisions
from substrate.domains.clevrer.motion.trajectories import TrajectoryScene, read_trajectories

__all__ = [
    "LAW",
    "Body",
    "Estimate",
    "Law",
    "Motion",
    "TrajectoryScene",
    "bodies",
    "estimate",
    "masses",
    "observed",
    "predict_collisions",
    "read_trajectories",
    "simulate",
]
