"""Causes: the ancestry of an event, the duality with interventions, and explanations of an answer.

Two halves, which do not import each other. The paper's theory: begin with ``ancestry.py`` (Definition 1,
Algorithm 1, and the chain from a cause to its effect), then ``duality.py`` (Proposition 1: which events would
not happen without an object, and under which conditions that is proven).

The form of an answer's reasons, which every domain fills: ``explanation.py`` (steps, each with the deltas
that it rests on, as data and as text) and ``pictures.py`` (the same evidence as lanes and marks, or boxes).
"""

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
