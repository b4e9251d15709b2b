"""A story's log as lanes and marks: who and what takes part, a sentence's event at its tick."""

from __future__ import annotations

from collections.abc import Sequence

from substrate.base.vocabulary import RDF_TYPE
from substrate.cause.explanation import OWN, Explanation
from substrate.cause.pictures import Lane, Mark, Pictured, Scale, Span, Timeline, pictured
from substrate.domains.babi.format import Story
from substrate.log.event_log import EventLog, Op

_ROLES = ("agent", "receiver", "thing", "brought")


def story_timeline(log: EventLog, told: Sequence[tuple[int, str, bool]]) -> Timeline:
    """A story's log up to the question: people and things as lanes, a sentence's event at its tick.

    Args:
        log: a log of :mod:`substrate.domains.babi.deltas`.
        told: tick and text of each sentence before the question, and whether the answer rests on it.
    """
    kinds: dict[str, str] = {}
    taking_part: dict[str, list[str]] = {}
    for _, op, (subject, predicate, value) in log:
        event = str(subject)[1:-1]
        if op is Op.INSERT and event.startswith("urn:babi:event:"):
            if predicate == RDF_TYPE:
                kinds.setdefault(event, str(value)[1:-1].rpartition(":")[2])
            elif str(predicate)[1:-1].rpartition(":")[2] in _ROLES:
                taking_part.setdefault(event, []).append(str(value)[1:-1].rpartition(":")[2])
    events = [
        (tick, text, used, f"urn:babi:event:{tick}")
        for tick, text, used in told
        if f"urn:babi:event:{tick}" in taking_part
    ]
    names = list(dict.fromkeys(name for *_, event in events for name in taking_part[event]))
    last = told[-1][0]
    x = Scale(last)
    marks = [
        Mark(
            x(tick),
            tick,
            kinds[event],
            tuple(sorted({names.index(name) for name in taking_part[event]})),
            "focus" if used else "",
            text,
        )
        for tick, text, used, event in events
    ]
    return Timeline(
        [Lane(name.replace("_", " "), [Span(x(0), x(last))]) for name in names],
        marks,
        x.axis(),
        "sentence",
        x(last),
    )


def picture_story(story: Story, question: int, why: Explanation) -> Pictured:
    """A story up to a question, with the sentences that the answer rests on."""
    log = why.logs[OWN]
    used = {log[position].tick for position in why.evidence()}
    told = [(line.id, line.text, line.id in used) for line in story.statements if line.id < question]
    return pictured(story_timeline(log, told), told)
