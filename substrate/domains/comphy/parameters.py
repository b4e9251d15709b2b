"""The parameters of ComPhy's interpreter; the defaults are the paper's setting."""

from __future__ import annotations

from typing import Literal

from substrate.domains.clevrer import parameters as clevrer
from substrate.domains.clevrer.format import RECORDED_AFTER


class Parameters(clevrer.Parameters, frozen=True, forbid_unknown_fields=True):
    """The ``comphy`` part of ``params.yaml``: CLEVRER's parameters, and those of hidden properties."""

    infer_properties: bool = False
    """True to infer mass and charge from the reference videos.

    If false, they are unknown, and a question that needs one of them cannot run.
    """
    least_probability: float = 0.9
    """The probability from which a mass or charge counts as known."""
    emitter: Literal["kinematic", "motion"] = "kinematic"
    """The source of collisions in a world that was not filmed.

    ``kinematic`` uses straight lines and the ancestors of observed events, and needs no mass or charge;
    ``motion`` is the planar simulator with the likeliest masses and charges.
    """
    horizon: clevrer.Frames = RECORDED_AFTER
    """Frames after the video that ``motion`` simulates; the recorded truth ends about 2 s after it."""

    def __post_init__(self) -> None:
        """Refuse CLEVRER's S, whose simulator has no charges."""
        if self.predictive.configuration == "S":
            raise ValueError("ComPhy simulates with emitter: motion, not with configuration S")
