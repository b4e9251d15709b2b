"""The sizes of all studies: the section `robustness` of `params.yaml`, which bears the name of the first."""

from __future__ import annotations

from typing import Annotated

import msgspec

from orchestration.benchmarks.benchmark import Natural, Section


class StudySizes(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The number of cases of each benchmark that robustness asks again on inexact input, and the sizes of the
    other studies.
    """

    clevrer: Annotated[int, Natural] = 0
    comphy_inferred: Annotated[int, Natural] = 0
    gqa: Annotated[int, Natural] = 0
    babi: Annotated[int, Natural] = 0
    reliability: Annotated[int, Natural] = 0
    """CLEVRER's scenes whose answers about imagined worlds get probabilities."""
    perceived: Annotated[int, Natural] = 0
    """Perceived videos whose events' probabilities are compared with the true events."""
    evidence: Annotated[int, Natural] = 0
    """Cases per benchmark whose right answers are explained, to count what they rest on."""
    questions: Annotated[int, Natural] = 0
    """CLEVRER's generated scenes that are asked about with other wrong choices."""


SIZES = Section("robustness", StudySizes)
