"""Deltas that belong together: a memory's record is several of them, and no reader tears them apart.

:mod:`substrate.memory.records` says what a record says; a merge of branches keeps each record whole.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import pyoxigraph as ox

from substrate.base.delta import Delta, Op, text_of
from substrate.base.vocabulary import NAMESPACE, RDF_TYPE
from substrate.log.event_log import EventLog

OBSERVATION = ox.NamedNode(NAMESPACE + "Observation")
"""A record of what the world is like."""
BELIEF = ox.NamedNode(NAMESPACE + "Belief")
"""A record of what an agent is aware of."""
ENDING = ox.NamedNode(NAMESPACE + "Ending")
"""A record of something that ceased to hold."""
FORGETTING = ox.NamedNode(NAMESPACE + "Forgetting")
"""A record of something that is no longer remembered."""
BEGINNING = ox.NamedNode(NAMESPACE + "Beginning")
"""A record that something begins to hold, as was said beforehand."""
KINDS = (OBSERVATION, BELIEF, ENDING, FORGETTING, BEGINNING)
"""The kinds of records."""


class Placed(NamedTuple):
    """A delta and its position in the log."""

    position: int
    delta: Delta


def placed(log: EventLog, node: ox.NamedNode, stop: int) -> list[Placed]:
    """The deltas of one record among the first ``stop``; empty where there is none. The log's index of
    triples leads to it.
    """
    for kind in KINDS:
        number = log.triples.find(text_of((node, RDF_TYPE, kind)))
        for position in log.mentions(number) if number is not None else ():
            first = Placed(position, log[position])
            if position < stop and opened(first):
                return [first, *_rest(log, first, stop)]
    return []


def _rest(log: EventLog, first: Placed, stop: int) -> Iterator[Placed]:
    for position in range(first.position + 1, stop):
        placed = Placed(position, log[position])
        if opened(placed) or placed.delta.tick != first.delta.tick:
            return
        yield placed


def together(log: EventLog, start: int) -> Iterator[list[Delta]]:
    """The deltas from a position on, those of one record together."""
    group: list[Delta] = []
    for position in range(start, len(log)):
        delta = log[position]
        inside = group and opened(group[0]) and not opened(delta) and delta.tick == group[0].tick
        if group and not inside:
            yield group
            group = []
        group.append(delta)
    if group:
        yield group


def opened(first: Delta | Placed) -> ox.NamedNode | None:
    """The record that a delta begins."""
    delta = first.delta if isinstance(first, Placed) else first
    subject, predicate, object_ = delta.triple
    begins = delta.op is Op.INSERT and predicate == RDF_TYPE and object_ in KINDS
    return subject if begins and isinstance(subject, ox.NamedNode) else None
