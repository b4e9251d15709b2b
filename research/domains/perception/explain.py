"""Explain an answer about a perceived video, with the probability of its evidence."""

from __future__ import annotations

from math import prod

from msgspec.structs import replace

from research.domains.perception.log import Link, links
from substrate.cause.explanation import OWN, ExplainedPart, Explanation
from substrate.domains.clevrer.explain import explain
from substrate.domains.clevrer.format import Question
from substrate.domains.clevrer.parameters import Parameters
from substrate.log.event_log import EventLog

_EVERYTHING = frozenset({"events", "objects", "all_events", "unseen_events"})
"""Steps that take the whole log: an answer rests on the part that later steps keep."""


def explain_perceived(
    log: EventLog, scene_index: int, question: Question, parameters: Parameters
) -> Explanation:
    """Explain like :func:`substrate.domains.clevrer.explain.explain`, and name each part's weakest link.

    A part's probability is the product over the events that its steps rest on.
    """
    explanation = explain(log, scene_index, question, parameters)
    facts = links(log)
    return replace(explanation, parts=tuple(_weighed(part, explanation, facts) for part in explanation.parts))


def _weighed(part: ExplainedPart, explanation: Explanation, facts: dict[str, Link]) -> ExplainedPart:
    rests = {
        str(explanation.delta(evidence).triple[0]).strip("<>")
        for step in part.steps
        if step.name not in _EVERYTHING
        for evidence in step.evidence
        if evidence.log == OWN
    }
    chain = sorted(
        (facts[name] for name in rests if name in facts), key=lambda link: (link.probability, link)
    )
    if not chain:
        return part
    weakest, number = chain[0], chain[0].subject.rpartition(":")[2]
    named = explanation.called.get(weakest.subject, f"{weakest.class_} {number}")
    note = f"weakest link: {named}, {weakest.basis}, {weakest.probability:.4f}"
    ground = f"{part.ground}; {note}" if part.ground else note
    return replace(part, ground=ground, probability=round(prod(link.probability for link in chain), 4))
