"""Causes: the ancestry of an event, the duality with interventions, and explanations of an answer."""

from substrate.cause.ancestry import (
    Ancestry,
    Event,
    ancestors,
    ancestors_as_printed,
    ancestors_global_frame,
    causal_chain,
)
from substrate.cause.duality import Condition, Conditions, Verdict, conditions, verdicts
from substrate.cause.explanation import Evidence, ExplainedPart, ExplainedStep, Explanation

__all__ = [
    "Ancestry",
    "Condition",
    "Conditions",
    "Event",
    "Evidence",
    "ExplainedPart",
    "ExplainedStep",
    "Explanation",
    "Verdict",
    "ancestors",
    "ancestors_as_printed",
    "ancestors_global_frame",
    "causal_chain",
    "conditions",
    "verdicts",
]
