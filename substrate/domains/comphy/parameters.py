"""The parameters of ComPhy's interpreter; the defaults are the paper's setting."""

from __future__ import annotations

from typing import Literal

from substrate.domains.clevrer import parameters as clevrer
from substrate.domains.clevrer.format import RECORDED_AFTER


class Parameters(clevrer.Parameters, frozen=True, forbid_unknown_fields=True):
    """The ``comphy`` part of ``params.yaml``: CLEVRER's, and what is done about hidden properties."""

    infer_properties: bool = False
    """True if mass and charge are inferred from the reference videos. Where not, nothing is known of them,
    and a question that needs one of them cannot run.
    """
    least_probability: float = 0.9
    """The probability from which a mass or charge counts as known."""
    emitter: Literal["kinematic", "motion"] = "kinematic"
    """The source of collisions in a world that was not filmed: ``kinematic``, straight lines and the
    ancestors of observed events, which need no mass and no charge; or ``motion``, the planar simulator with
    mass and charge, the likeliest ones.
    """
    horizon: clevrer.Frames = RECORDED_AFTER
    """The frames that ``motion`` looks beyond the video; the recorded truth ends about two seconds after it.
    """

    def __post_init__(self) -> None:
        """Refuse CLEVRER's S, whose simulator knows no charge."""
        if self.predictive.configuration == "S":
            raise ValueError("ComPhy simulates with emitter: motion, not with configuration S")
