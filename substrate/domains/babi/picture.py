"""A story's log as lanes and marks: people and things, and each sentence's event at its tick."""

from __future__ import annotations

from collections.abc import Sequence

from substrate.cause.explanation import OWN, Explanation
from substrate.cause.pictures import Lane, Mark, Pictured, Scale, Span, Timeline, Told, pictured
from substrate.domains.babi._terms import TYPE, event, local, term
from substrate.domains.babi.format import Story
from substrate.log.event_log import EventLog

_ROLES = tuple(map(term, ("agent", "receiver", "thing", "brought")))


def picture_story(story: Story, question: int, why: Explanation) -> Pictured:
    """Picture a story up to a question, with the sentences that the answer rests on marked."""
    log = why.logs[OWN]
    used = {log[position].tick for position in why.evidence()}
    sentences = [Told(line.id, line.text, line.id in used) for line in story.statements if line.id < question]
    return pictured(_timeline(log, sentences), sentences)


def _timeline(log: EventLog, sentences: Sequence[Told]) -> Timeline:
    """Draw people and things as lanes, with the events of sentences as marks."""
    kinds: dict[str, str] = {}
    taking_part: dict[str, list[str]] = {}
    for _, lines in log.lines():
        for line in lines:
            subject, predicate, value = line[2:-2].split(" ", 2)
            if line[0] == "A" and predicate == TYPE:
                kinds.setdefault(subject, local(value))
            elif line[0] == "A" and predicate in _ROLES:
                taking_part.setdefault(subject, []).append(local(value))
    events = [told for told in sentences if event(told.tick) in taking_part]
    names = list(dict.fromkeys(name for tick, _, _ in events for name in taking_part[event(tick)]))
    x = Scale(last := sentences[-1].tick)
    marks: list[Mark] = []
    for tick, text, used in events:
        lanes = tuple(sorted({names.index(name) for name in taking_part[event(tick)]}))
        marks.append(Mark(x(tick), tick, kinds[event(tick)], lanes, "focus" if used else "", text))
    lanes = [Lane(name.replace("_", " "), [Span(x(0), x(last))]) for name in names]
    return Timeline(lanes, marks, x.axis(), "sentence", x(last))
