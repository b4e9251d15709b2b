"""The clocks of a memory: the time of writing, the present on both clocks, and records by time."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import NamedTuple

from substrate.base.delta import Delta, Op
from substrate.base.errors import LogError, ParameterError
from substrate.base.terms import term
from substrate.branch.merge import merge_base
from substrate.log.event_log import EventLog
from substrate.log.grouping import grouped_by_record, record_begun_by
from substrate.log.state import State
from substrate.memory import records as rec
from substrate.memory._format import description_in
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


class Status(NamedTuple):
    """Whether a fact holds now, and the moment at which that changes next, if any."""

    holds: bool
    changes_at: Moment | None


class Now(NamedTuple):
    """The present: a tick, and the time if known."""

    tick: int
    time: datetime | None

    def before(self, other: Moment) -> bool:
        """Tell whether a moment lies ahead, by its own clock; false for a time if this time is unknown."""
        if isinstance(other, datetime):
            return self.time is not None and self.time < other
        return self.tick < other

    def status(self, first: Moment, last: Moment | None) -> Status:
        """The present status of a fact that holds between two moments."""
        if self.before(first):
            return Status(False, first)
        if last is None:
            return Status(True, None)
        return Status(True, last) if self.before(last) else Status(False, None)

    def past(self, bound: Moment) -> bool:
        """Tell whether a moment has come."""
        if isinstance(bound, datetime):
            return self.time is not None and bound <= self.time
        return bound <= self.tick


def end_of(state: State, node: Node, at: Moment | None, now: Now) -> Moment:
    """Check the end that a call gives to a record; by default it is the present, by the record's clock.

    Raises:
        ParameterError: the end lies before the record's beginning, or uses another clock.
    """
    (first,) = rec.moments(state, node, rec.FROM)
    if at is None:
        at = now.time if isinstance(first, datetime) else now.tick
    return rec.moment(at, "at") if at == first else after(first, at, "at")


def after(first: Moment, given: object, where: str) -> Moment:
    """Check that an end lies after its beginning, by the same clock; return the end.

    Raises:
        ParameterError: it does not, or is no moment.
    """
    last = rec.moment(given, where)
    if not rec.same_clock(first, last):
        what = f"it begins by one clock ({first}) and ends by another ({last})"
        raise ParameterError(what, where=(where,), hint="Give both as ticks, or both as times")
    if not first < last:  # type: ignore[operator]
        what = f"it ends at {last} and begins at {first}"
        raise ParameterError(what, where=(where,), hint="Give an end after the beginning")
    return last


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
        times = description_in(deltas, node).get(rec.TIME, [])
        time = rec.when(times[0]) if times else None
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
