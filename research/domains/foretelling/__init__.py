"""Motion fitted to videos, and collisions predicted from observed motion.

:func:`estimate` and :func:`predict_collisions` give bodies and collisions from positions only.
"""

from research.domains.foretelling.estimate import Estimate, estimate
from research.domains.foretelling.predict import predict_collisions
from substrate.domains.clevrer.trajectories import TrajectoryScene, read_trajectories

__all__ = ["Estimate", "TrajectoryScene", "estimate", "predict_collisions", "read_trajectories"]
