"""The parameters of CLEVRER's interpreter; the defaults are the paper's configuration."""

from __future__ import annotations

from typing import Annotated, Literal, Self

import msgspec
from msgspec.structs import replace

from substrate.domains.clevrer.counterfactual import PAPER, TRACKED, Counterfactual
from substrate.domains.clevrer.emitter import Engine
from substrate.domains.clevrer.scene import Scene

Frames = Annotated[int, msgspec.Meta(ge=1, le=100_000)]
Distance = Annotated[float, msgspec.Meta(gt=0, le=1e6)]


class Explanatory(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Reference frame of the ancestor traversal: ``event``, each event's own; ``printed``, as Algorithm 1
    prints it; ``global``, the target's.
    """

    reference_frame: Literal["event", "printed", "global"] = "event"


class Kinematics(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Algorithm 3: frames averaged, distance threshold τ in units, horizon T in frames."""

    frames: Frames
    tau: Distance
    horizon: Frames


CONFIGURATIONS = {
    "A": Kinematics(frames=1, tau=0.4, horizon=300),
    "B": Kinematics(frames=5, tau=0.4, horizon=300),
    "C": Kinematics(frames=5, tau=1.7, horizon=300),
}
"""The paper's three configurations.

The paper prints no threshold for A and B; 0.4 is the contact distance of two bodies of radius 0.2.
"""


class Predictive(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A configuration of Algorithm 3 with optional overrides, or S, the calibrated simulator.

    S takes only ``horizon``: the number of frames it simulates.
    """

    configuration: Literal["A", "B", "C", "S"] | None = None
    """``None`` is C, as in the paper; S if a tracker gave positions and ``frames`` and ``tau`` are unset."""
    frames: Frames | None = None
    tau: Distance | None = None
    horizon: Frames | None = None

    def __post_init__(self) -> None:
        """Refuse parameters that S does not read."""
        if self.configuration == "S" and (self.frames, self.tau) != (None, None):
            raise ValueError("configuration S reads neither frames nor tau: it simulates")

    @property
    def kinematics(self) -> Kinematics | None:
        """The parameters of Algorithm 3 in force; ``None`` for S, which simulates.

        >>> Predictive(tau=0.4).kinematics
        Kinematics(frames=5, tau=0.4, horizon=300)
        """
        if self.configuration == "S":
            return None
        overrides = {
            name: value for name in ("frames", "tau", "horizon") if (value := getattr(self, name)) is not None
        }
        return replace(CONFIGURATIONS[self.configuration or "C"], **overrides)


class Parameters(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The ``clevrer`` part of ``params.yaml``; ``engine`` simulates forks."""

    explanatory: Explanatory = Explanatory()
    counterfactual: Counterfactual = Counterfactual()
    predictive: Predictive = Predictive()
    engine: Engine = "calibrated"

    def of(self, scene: Scene) -> Self:
        """The parameters in force for a scene: a method left open depends on how the motion is known."""
        method, configuration = (TRACKED, "S") if scene.tracked else (PAPER, "C")
        counterfactual, predictive = self.counterfactual, self.predictive
        if counterfactual.method is None:
            counterfactual = replace(counterfactual, method=method)
        if predictive.configuration is None:
            straight = (predictive.frames, predictive.tau) != (None, None)
            predictive = replace(predictive, configuration="C" if straight else configuration)
        return replace(self, counterfactual=counterfactual, predictive=predictive)
