"""What can be set in CLEVRER's interpreter; the defaults are the paper's configuration."""

from __future__ import annotations

from typing import Literal

import msgspec


class Explanatory(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Reference frame of the ancestor traversal: each event's own, as printed in Algorithm 1, or the target's."""

    reference_frame: Literal["event", "printed", "global"] = "event"


class Counterfactual(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Whether two partners of the removed object are taken to collide without it (paper, section 3.3)."""

    removed_partner: bool = True


class Kinematics(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Algorithm 3: frames averaged, distance threshold τ in units, horizon T in frames."""

    frames: int
    tau: float
    horizon: int


CONFIGURATIONS = {
    "A": Kinematics(frames=1, tau=0.4, horizon=300),
    "B": Kinematics(frames=5, tau=0.4, horizon=300),
    "C": Kinematics(frames=5, tau=1.7, horizon=300),
}
"""The paper's three configurations. It prints no threshold for A and B: here, contact of two bodies of radius 0.2."""


class Predictive(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A configuration of Algorithm 3, and what overrides it where not ``None``."""

    configuration: Literal["A", "B", "C"] = "C"
    frames: int | None = None
    tau: float | None = None
    horizon: int | None = None

    @property
    def kinematics(self) -> Kinematics:
        """The parameters in force.

        >>> Predictive(tau=0.4).kinematics
        Kinematics(frames=5, tau=0.4, horizon=300)
        """
        overrides = {name: value for name in ("frames", "tau", "horizon") if (value := getattr(self, name)) is not None}
        return msgspec.structs.replace(CONFIGURATIONS[self.configuration], **overrides)


class Parameters(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The ``clevrer`` part of ``params.yaml``."""

    explanatory: Explanatory = Explanatory()
    counterfactual: Counterfactual = Counterfactual()
    predictive: Predictive = Predictive()
