"""The clocks of a memory: present facts, future beginnings and ends, and the order of times."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from datetime import datetime, timedelta
from heapq import heappop, heappush
from threading import Lock
from typing import NamedTuple

import pyoxigraph as ox

from substrate.base.delta import Delta, Op, Triple, triple_of
from substrate.base.errors import LogError
from substrate.base.ntriples import quads_of, text_of
from substrate.base.terms import term, triple
from substrate.branch.merge import merge_base
from substrate.log._triples import AWAITED
from substrate.log.event_log import EventLog
from substrate.log.grouping import grouped_by_record, record_begun_by
from substrate.log.state import State
from substrate.memory import records as rec
from substrate.memory.records import Moment, Node


class HybridClock:
    """The time of writing a log's records: the wall clock's time, but later than every earlier record's
    (S. Kulkarni et al., "Logical Physical Clocks", 2014, with microseconds for the counter).
    """

    def __init__(self, log: EventLog, read: Callable[[], datetime]) -> None:
        self.read = read
        self._log = log
        self._seen = 0
        self._last: datetime | None = None

    def now(self) -> datetime:
        """The wall clock's time, or a microsecond after the last record's time if that is later."""
        time = rec.moment(self.read(), "clock")
        assert isinstance(time, datetime)
        for op, quad in self._log.changes(self._seen):
            self._seen += 1
            recorded = rec.when(quad.object) if op is Op.INSERT and quad.predicate == rec.TIME else None
            if isinstance(recorded, datetime):
                self._last = recorded if self._last is None else max(recorded, self._last)
        try:
            return time if self._last is None else max(time, self._last + timedelta(microseconds=1))
        except OverflowError:
            raise LogError(f"there is no later time than {self._last}", hint="Give a `time`") from None


class Now(NamedTuple):
    """The present: a tick, and the time if known."""

    tick: int
    time: datetime | None

    def before(self, other: Moment) -> bool:
        """Tell whether a moment lies ahead, by its own clock; false for a time if this time is unknown."""
        if isinstance(other, datetime):
            return self.time is not None and self.time < other
        return self.tick < other

    def status(self, first: Moment, last: Moment | None) -> tuple[bool, Moment | None]:
        """Tell whether a fact that holds between two moments holds now, and when that changes next."""
        if self.before(first):
            return False, first
        if last is None:
            return True, None
        return (True, last) if self.before(last) else (False, None)

    def ended(self, state: State, node: Node, last: Moment) -> list[tuple[Op, Triple]]:
        """The changes that give a record an end."""
        changes: list[tuple[Op, Triple]] = [(Op.RETRACT, part) for part in state.match(node, rec.UNTIL)]
        changes.append((Op.INSERT, (node, rec.UNTIL, term(last))))
        waits = [bound for *_, bound in state.match(node, rec.AWAITS)]
        # A record that has not begun goes on waiting for its beginning, unless its end has come
        begun = not any(bound == first for bound in waits for *_, first in state.match(node, rec.FROM))
        if begun or not self.before(last):
            changes += [(Op.RETRACT, (node, rec.AWAITS, bound)) for bound in waits]
            if self.before(last):
                changes.append((Op.INSERT, (node, rec.AWAITS, term(last))))
        return changes

    def due(self, state: State, waiting: Iterable[Triple]) -> Iterator[Due]:
        """The records whose awaited moment has come; ``waiting`` has the triples that await one."""
        for node, _, bound in waiting:
            moment = rec.when(bound)
            if moment is None or not self.past(moment) or (node, rec.AWAITS, bound) not in state:
                continue
            holds, ahead = self._bounds(state, node)
            changes: list[tuple[Op, Triple]] = [(Op.RETRACT, (node, rec.AWAITS, bound))]
            if ahead is not None:
                changes.append((Op.INSERT, (node, rec.AWAITS, term(ahead))))
            (reified,) = (object_ for *_, object_ in state.match(node, rec.REIFIES))
            assert isinstance(reified, ox.Triple)
            fact = triple(reified.subject, reified.predicate, reified.object)
            if holds:
                changes.append((Op.INSERT, fact))
            elif not any(
                self._holds(state, record) for record in rec.records_of(state, fact) if record != node
            ):
                changes.append((Op.RETRACT, fact))
            yield Due(node, fact, holds, changes)

    def past(self, bound: Moment) -> bool:
        """Tell whether a moment has come."""
        if isinstance(bound, datetime):
            return self.time is not None and bound <= self.time
        return bound <= self.tick

    def _bounds(self, state: State, node: Node) -> tuple[bool, Moment | None]:
        (first,), last = (rec.moments(state, node, which) for which in (rec.FROM, rec.UNTIL))
        return self.status(first, last[0] if last else None)

    def _holds(self, state: State, node: Node) -> bool:
        return not rec.is_lost(state, node) and self._bounds(state, node)[0]


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
        due: dict[str, Triple] = {}
        with self._lock:
            start, stop, triples = self._read, len(self._log), self._log.triples
            if start < stop:
                new = (number for _, number in self._log.steps(max(start, 0), stop))
                waiting = triples.awaited() if start < 0 else [n for n in new if AWAITED in triples.text(n)]
                # The result is mostly empty, so no store is filled for it
                self._add(map(triple_of, triples.quads(sorted(self._log.holding_after(waiting, stop)))))
                self._read = stop
            state = self._log.state()
            for heap in (self._ticks, self._times):
                reached: list[tuple[Moment, str]] = []
                while heap and now.past(heap[0][0]):
                    reached.append(heappop(heap))
                for (bound, text), quad in zip(reached, quads_of(text for _, text in reached), strict=True):
                    # A triple stays in its heap until a change has retracted it
                    if (fact := triple_of(quad)) in state:
                        due[text] = fact
                        heappush(heap, (bound, text))
        return sorted(due.values(), key=lambda part: (str(part[2]), str(part[0])))

    def follow(self, start: int, changes: Iterable[tuple[Op, Triple]]) -> None:
        """Take in the changes written from a position on."""
        with self._lock:
            if self._read == start:
                self._read = len(self._log)
                self._add(fact for op, fact in changes if op is Op.INSERT)

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
    changes: list[tuple[Op, Triple]]


def by_time(a: EventLog, b: EventLog) -> tuple[EventLog, EventLog]:
    """Put the unshared records of two logs at ticks in the order of their times.

    Returns the logs unchanged if one has no unshared delta, or a delta belongs to no record with a time.
    """
    base = merge_base(a, b)
    timed = [_timed(log, base) for log in (a, b)]
    if not all(timed):
        return a, b
    times = sorted({time for side in timed for time, _ in side or ()})
    first = (a[base - 1].tick if base else -1) + 1
    ticks = {time: first + place for place, time in enumerate(times)}
    logs: list[EventLog] = []
    for log, side in zip((a, b), timed, strict=True):
        new = log.branch(base, None)
        for time, deltas in side or ():
            new.extend([_at(ticks[time], delta) for delta in deltas])
        logs.append(new)
    return logs[0], logs[1]


def _timed(log: EventLog, base: int) -> list[tuple[datetime, list[Delta]]] | None:
    """The records from a position on, with their times in order; ``None`` if a record has no time."""
    timed: list[tuple[datetime, list[Delta]]] = []
    for deltas in grouped_by_record(log, base):
        node = record_begun_by(deltas[0])
        time = next((rec.when(o) for _, _, (s, p, o) in deltas if s == node and p == rec.TIME), None)
        if not node or not isinstance(time, datetime):
            return None
        timed.append((max(time, timed[-1][0]) if timed else time, deltas))
    return timed


def _at(tick: int, delta: Delta) -> Delta:
    """Move a delta to another tick; a fact that began at its recording begins at the new tick."""
    subject, predicate, object_ = delta.triple
    if predicate == rec.FROM and object_ == term(delta.tick):
        object_ = term(tick)
    return Delta(tick, delta.op, (subject, predicate, object_))
