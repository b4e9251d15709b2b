"""The facts that begin or end later: a heap of their moments, and the changes when a moment comes.

While a record waits for its next moment, the state has a triple ``core:awaits`` of that record and moment.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from heapq import heappop, heappush
from threading import Lock
from typing import NamedTuple

from substrate.base.delta import Op, Spelled, Triple, triple_of
from substrate.base.ntriples import quads_of, text_of
from substrate.base.terms import term
from substrate.log.event_log import EventLog
from substrate.log.state import State
from substrate.memory import records as rec
from substrate.memory._clocks import Now, Status
from substrate.memory._format import Changes, statement
from substrate.memory.records import Moment, Node

_AWAITED = f" {rec.AWAITS} "


class Schedule:
    """The moments at which a log's records begin or end, the next first; each clock has a heap."""

    def __init__(self, log: EventLog) -> None:
        self._log = log
        self._lock = Lock()
        self._read = -1
        self._ticks: list[tuple[Moment, str]] = []
        self._times: list[tuple[Moment, str]] = []

    def reached(self, now: Now) -> list[Triple]:
        """The triples that wait for a moment that has come, in their order."""
        reached: dict[str, Triple] = {}
        with self._lock:
            start, stop, triples = self._read, len(self._log), self._log.triples
            if start < stop:
                new = (number for _, number in self._log.steps(max(start, 0), stop))
                waiting = triples.awaited() if start < 0 else [n for n in new if _AWAITED in triples.text(n)]
                # The result is mostly empty, so no store is filled for it
                self._add(map(triple_of, triples.quads(sorted(self._log.holding_after(waiting, stop)))))
                self._read = stop
            state = self._log.state()
            for heap in (self._ticks, self._times):
                taken: list[tuple[Moment, str]] = []
                while heap and now.past(heap[0][0]):
                    taken.append(heappop(heap))
                for (bound, text), quad in zip(taken, quads_of(text for _, text in taken), strict=True):
                    # A triple stays in its heap until a change has retracted it
                    if (fact := triple_of(quad)) in state:
                        reached[text] = fact
                        heappush(heap, (bound, text))
        return sorted(reached.values(), key=lambda part: (str(part[2]), str(part[0])))

    def follow(self, start: int, deltas: Iterable[Spelled]) -> None:
        """Take in the deltas written from a position on."""
        with self._lock:
            if self._read == start:
                self._read = len(self._log)
                if new := [text for _, op, text in deltas if op is Op.INSERT and _AWAITED in text]:
                    self._add(map(triple_of, quads_of(new)))

    def _add(self, waiting: Iterable[Triple]) -> None:
        for fact in waiting:
            if fact[1] != rec.AWAITS or (bound := rec.when(fact[2])) is None:
                continue
            heappush(self._times if isinstance(bound, datetime) else self._ticks, (bound, text_of(fact)))


class Due(NamedTuple):
    """A record whose moment has come: its triple, whether the triple holds from now on, and the changes."""

    node: Node
    fact: Triple
    begins: bool
    changes: Changes


def due(now: Now, state: State, waiting: Iterable[Triple]) -> Iterator[Due]:
    """The records whose awaited moment has come; ``waiting`` has the triples that await a moment."""
    for node, _, bound in waiting:
        moment = rec.when(bound)
        if moment is None or not now.past(moment) or (node, rec.AWAITS, bound) not in state:
            continue
        status = _status(now, state, node)
        changes: Changes = [(Op.RETRACT, (node, rec.AWAITS, bound))]
        if status.changes_at is not None:
            changes.append((Op.INSERT, (node, rec.AWAITS, term(status.changes_at))))
        fact = statement(rec.describe(state, node))
        assert fact, "only a record that states a triple waits"
        others = (record for record in rec.standing_records(state, fact) if record != node)
        if status.holds:
            changes.append((Op.INSERT, fact))
        elif not any(_status(now, state, record).holds for record in others):
            changes.append((Op.RETRACT, fact))
        yield Due(node, fact, status.holds, changes)


def _status(now: Now, state: State, node: Node) -> Status:
    (first,), last = (rec.moments(state, node, which) for which in (rec.FROM, rec.UNTIL))
    return now.status(first, last[0] if last else None)


def changes_to_end(now: Now, state: State, node: Node, last: Moment) -> Changes:
    """The changes that give a record an end."""
    changes: Changes = [(Op.RETRACT, part) for part in state.match(node, rec.UNTIL)]
    changes.append((Op.INSERT, (node, rec.UNTIL, term(last))))
    waits = [bound for *_, bound in state.match(node, rec.AWAITS)]
    # A record that has not begun goes on waiting for its beginning, unless its end has come
    begun = not any(bound == first for bound in waits for *_, first in state.match(node, rec.FROM))
    if begun or not now.before(last):
        changes += [(Op.RETRACT, (node, rec.AWAITS, bound)) for bound in waits]
        if now.before(last):
            changes.append((Op.INSERT, (node, rec.AWAITS, term(last))))
    return changes
