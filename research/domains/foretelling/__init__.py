"""Collisions predicted from observed motion; the law of motion, fitted to official videos.

Begin with :mod:`.predict`: positions up to a frame ► the pairs that collide later. It takes states from
:mod:`.estimate`, with the errors of :mod:`.sight`, simulates draws of these states, and weighs the vote of
the draws with :mod:`.weights`. The other modules fit the constants, and no prediction imports them:
:mod:`.calibrate` is the command, :mod:`.from_annotations` fits the law to bodies of :mod:`.annotated`,
:mod:`.from_trajectories` fits errors and weights, and :mod:`.scoring` counts right predictions.

The words of this room, in the order of a prediction:

- point: frame and position of an object. A tracker gives one every few frames, an interval.
- seam: a frame at which the tracker begins a new fit. A change of velocity there is no evidence of a blow.
- blow: a change of velocity that drag does not explain, so the body was hit.
- state: a body's position and velocity at the last known frame; its trust says how it was estimated.
- sight: the sizes of the errors of tracked positions, fitted to official videos.
- draw: one possible state of every body, the estimate plus random errors of these sizes.
- vote: each draw is simulated. A pair's share is the share of draws in which the two collide, and its time
  is the mean time of these collisions.
- outlook: the votes, and which bodies move or have just entered (:class:`.weights.Outlook`).
- terms: the features of a pair, computed from the outlook and from past collisions. The probability of a
  collision is the logistic function of their weighted sum.
- cut: the probability from which a collision is predicted.
"""

from research.domains.foretelling.predict import predict_collisions
from research.domains.foretelling.sight import SIGHT
from research.domains.foretelling.weights import VOTE_WEIGHTS

__all__ = ["SIGHT", "VOTE_WEIGHTS", "predict_collisions"]
