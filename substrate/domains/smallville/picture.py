"""An arm of a twin experiment as lanes and marks: the participants of its events."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pyoxigraph import Literal

from substrate.ask.questions import Occurrence, occurrences
from substrate.base.delta import Term
from substrate.base.vocabulary import RDFS_LABEL
from substrate.cause.pictures import Lane, Mark, Scale, Span, Timeline
from substrate.log.event_log import EventLog, Op
from substrate.rules.tbox import TBox


def labels_in(log: EventLog) -> dict[Term, str]:
    """The labels in a log."""
    return {
        subject: value.value
        for _, op, (subject, predicate, value) in log
        if op is Op.INSERT and predicate == RDFS_LABEL and isinstance(value, Literal)
    }


def occasions(tbox: TBox, log: EventLog) -> Iterator[tuple[Occurrence, tuple[str, ...]]]:
    """The events of a log, each with its participants in words, sorted."""
    labels: Mapping[Any, str] = labels_in(log)
    for event in occurrences(log, tbox):
        yield event, tuple(sorted(labels.get(node) or tbox.label(node) for node in event.participants))


def arm_timeline(tbox: TBox, log: EventLog, evidence: Sequence[int]) -> Timeline:
    """An arm of a twin experiment: its participants as lanes, with one mark per tick and group of
    participants.

    Args:
        tbox: the labels of events.
        log: the arm's log.
        evidence: the log positions that the answer rests on; an event with one of them is highlighted.
    """
    rests_on = {log[position].triple[0] for position in evidence}
    kinds: dict[tuple[int, tuple[str, ...]], dict[str, bool]] = {}
    for event, who in occasions(tbox, log):
        at_tick, kind = kinds.setdefault((event.tick, who), {}), tbox.label(event.kind)
        at_tick[kind] = at_tick.get(kind, False) or event.node in rests_on
    groups = sorted(kinds.items())
    lanes = list(dict.fromkeys(name for (_, who), _ in groups for name in who))
    x = Scale(last := log.last_tick)
    marks: list[Mark] = []
    for (tick, who), by_kind in groups:
        title = f"tick {tick}: {' and '.join(sorted(by_kind))} of {' and '.join(who)}"
        rows = tuple(sorted(map(lanes.index, who)))
        marks.append(Mark(x(tick), tick, "", rows, "focus" if any(by_kind.values()) else "", title))
    return Timeline([Lane(name, [Span(x(0), x(last))]) for name in lanes], marks, x.axis(), "tick", x(last))
