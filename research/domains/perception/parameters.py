"""The ``perceived`` part of ``params.yaml``: parameters of answers, and fitted constants of perception."""

from __future__ import annotations

from research.domains.perception.belief import BELIEF, Belief
from research.domains.perception.camera import CAMERA, Camera
from substrate.domains.clevrer.counterfactual import PAPER, Counterfactual
from substrate.domains.clevrer.parameters import Parameters, Predictive


class Perception(Parameters, frozen=True, forbid_unknown_fields=True):
    """CLEVRER's parameters, the camera, and the weights of the evidence.

    >>> Perception().camera == CAMERA
    True
    """

    counterfactual: Counterfactual = Counterfactual(PAPER)
    predictive: Predictive = Predictive("C")
    camera: Camera = CAMERA
    belief: Belief = BELIEF
