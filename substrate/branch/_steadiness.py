"""Emitters are steady: the same state and tick give the same deltas, twice."""

from __future__ import annotations

from itertools import zip_longest

import pyoxigraph as ox

from substrate.base.delta import Delta
from substrate.base.errors import LogError
from substrate.log.event_log import EventLog


def require_steady(one: EventLog, other: EventLog) -> None:
    """Refuse two branches that differ although nothing was changed between them.

    Raises:
        LogError: names the first delta that differs: the emitter draws on something beside state and tick.

    >>> from substrate.log.event_log import EventLog
    >>> a, b = EventLog(), EventLog()
    >>> a.extend_lines([(1, "A <urn:s> <urn:p> <urn:o> .")])
    >>> require_steady(a, b)
    Traceback (most recent call last):
    substrate.base.errors.LogError: delta 0: the emitter gave A <urn:s> <urn:p> <urn:o> at tick 1, then
    nothing. Seed it in start(): same state and same tick, same deltas.
    """
    for position, (first, second) in enumerate(zip_longest(one, other)):
        if first != second:
            raise LogError(
                f"the emitter gave {_in_words(first)}, then {_in_words(second)}",
                where=(f"delta {position}",),
                hint="Seed it in start(): same state and same tick, same deltas",
            )


def _in_words(delta: Delta | None) -> str:
    if delta is None:
        return "nothing"
    subject, predicate, object_ = delta.triple
    return f"{delta.op.value} {ox.Triple(subject, predicate, object_)} at tick {delta.tick}"
