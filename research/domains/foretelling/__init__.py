"""Collisions predicted from observed motion; the law of motion, fitted to official videos.

Begin with :mod:`.predict`: positions up to a frame ► the pairs that collide later. It takes states from
:mod:`.estimate`, with the errors of :mod:`.sight`, simulates draws of these states, and weighs the vote of
the draws with :mod:`.weights`. The other modules fit the constants, and no prediction imports them:
:mod:`.calibrate` is the command, :mod:`.from_annotations` fits the law to bodies of :mod:`.annotated`,
:mod:`.from_trajectories` fits errors and weights, and :mod:`.scoring` counts right predictions.
"""

from research.domains.foretelling.predict import predict_collisions
from research.domains.foretelling.sight import SIGHT
from research.domains.foretelling.weights import VOTE_WEIGHTS

__all__ = ["SIGHT", "VOTE_WEIGHTS", "predict_collisions"]
