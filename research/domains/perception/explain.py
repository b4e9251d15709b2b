"""Explain an answer about a perceived video, with the probability of its evidence."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod

from msgspec.structs import replace

from research.domains.event_records import EventRecord, event_records
from substrate.cause.explanation import OWN, ExplainedPart, Explanation
from substrate.domains.clevrer.explain import explain
from substrate.domains.clevrer.format import Question
from substrate.domains.clevrer.parameters import Parameters
from substrate.log.event_log import EventLog

_EVERYTHING = frozenset({"events", "objects", "all_events", "unseen_events"})
"""Steps that take the whole log: an answer rests on the part that later steps keep."""

_JOINT = "; "


def ground_alone(part: ExplainedPart) -> str:
    """The ground of a part, without the note on its weakest link."""
    return part.ground.partition(_JOINT)[0]


def explain_perceived(
    log: EventLog, scene_index: int, question: Question, parameters: Parameters
) -> Explanation:
    """Explain like :func:`substrate.domains.clevrer.explain.explain`, and name each part's weakest link.

    A part's probability is the product over the events that its steps rest on.
    """
    explanation = explain(log, scene_index, question, parameters)
    records = event_records(log)
    parts = tuple(_weighed(part, explanation, records) for part in explanation.parts)
    return replace(explanation, parts=parts)


def _weighed(
    part: ExplainedPart, explanation: Explanation, records: Mapping[str, EventRecord]
) -> ExplainedPart:
    subjects = {
        explanation.delta(evidence).triple[0].value
        for step in part.steps
        if step.name not in _EVERYTHING
        for evidence in step.evidence
        if evidence.log == OWN
    }
    events = (records[iri] for iri in subjects if iri in records)
    chain = sorted(events, key=lambda record: (record.probability, record.event))
    if not chain:
        return part
    weakest = chain[0]
    name = explanation.called[weakest.event]
    note = f"weakest link: {name}, {weakest.basis}, {weakest.probability:.4f}"
    ground = f"{part.ground}{_JOINT}{note}" if part.ground else note
    return replace(part, ground=ground, probability=round(prod(record.probability for record in chain), 4))
