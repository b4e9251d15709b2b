"""Group the deltas of each memory record, so that no reader splits a record.

:mod:`substrate.memory.records` defines a record's content; a merge of branches keeps each record whole.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import pyoxigraph as ox

from substrate.base.delta import Delta, Op
from substrate.base.ntriples import text_of
from substrate.base.vocabulary import NAMESPACE, RDF_TYPE
from substrate.log.event_log import EventLog

OBSERVATION = ox.NamedNode(NAMESPACE + "Observation")
"""A record of a fact of the world."""
BELIEF = ox.NamedNode(NAMESPACE + "Belief")
"""A record of a fact that an agent knows."""
ENDING = ox.NamedNode(NAMESPACE + "Ending")
"""A record of a fact that ceased to hold."""
FORGETTING = ox.NamedNode(NAMESPACE + "Forgetting")
"""A record of a fact that is no longer remembered."""
BEGINNING = ox.NamedNode(NAMESPACE + "Beginning")
"""A record of a fact that begins to hold, as an earlier record announced."""
KINDS = (OBSERVATION, BELIEF, ENDING, FORGETTING, BEGINNING)
"""The kinds of records."""


class Placed(NamedTuple):
    """A delta and its position in the log."""

    position: int
    delta: Delta


def parts_of(log: EventLog, node: ox.NamedNode, stop: int) -> list[Placed]:
    """The deltas of one record among the first ``stop``, found through the log's index; empty if none."""
    for kind in KINDS:
        number = log.triples.find(text_of((node, RDF_TYPE, kind)))
        for position in log.mentions(number) if number is not None else ():
            first = Placed(position, log[position])
            if position < stop and record_begun_by(first.delta):
                return [first, *_rest(log, first, stop)]
    return []


def _rest(log: EventLog, first: Placed, stop: int) -> Iterator[Placed]:
    for position in range(first.position + 1, stop):
        delta = log[position]
        if record_begun_by(delta) or delta.tick != first.delta.tick:
            return
        yield Placed(position, delta)


def grouped_by_record(log: EventLog, start: int) -> Iterator[list[Delta]]:
    """The deltas from a position on, grouped by record."""
    group: list[Delta] = []
    for position in range(start, len(log)):
        delta = log[position]
        begun = group and record_begun_by(group[0])
        inside = begun and not record_begun_by(delta) and delta.tick == group[0].tick
        if group and not inside:
            yield group
            group = []
        group.append(delta)
    if group:
        yield group


def record_begun_by(delta: Delta) -> ox.NamedNode | None:
    """The record that a delta begins; ``None`` if it begins none."""
    subject, predicate, object_ = delta.triple
    begins = delta.op is Op.INSERT and predicate == RDF_TYPE and object_ in KINDS
    return subject if begins and isinstance(subject, ox.NamedNode) else None
