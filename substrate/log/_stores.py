"""The stores that a log and its branches share, moved from state to state by the triples that differ.

Filling a store costs every triple of a state. Moving a store costs the deltas that two states do not
share; for two branches of one parent these are their interventions. If the patterns of a query are known
and fit fewer triples than a move would change, the query gets a small store of its own. A query and its open
results read a snapshot: Oxigraph's stores keep versions, so moving a store does not affect a result that is
still being read.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from threading import Lock
from weakref import WeakSet

import pyoxigraph as ox

from substrate.log._columns import DeltaSequence, Segment
from substrate.log._locking import MEMORY
from substrate.sparql.patterns import Pattern

# Stores that a log and its branches keep between queries
_MOST = 4
# The number of matching triples that can be checked in the time that moving a store by one triple takes
_CHECKS = 8
# The number of triples that can be scanned for a match in the same time
_SCANS = 16
# The number of deltas up to which moving a store is always cheaper than filling a new one
_NEAR = 512
# Quads that a table caches for filling and moving stores: parsing a quad costs more than adding it
_QUADS = 1 << 16
# The number of changes, as a multiple of a store's triples, after which it is filled anew: removed triples
# leave traces in its lists, which queries must skip.
_WORN = 8


# Returns the numbers of the triples that hold in a state
Holding = Callable[[], Sequence[int]]


class Stores:
    """The stores that a log and its branches share: a query takes the nearest store, moves it and reads it.

    Its methods take a state as a log, the number of the log's deltas before the state (``position``), and a
    function for the state's triples (``holding``), which is called only to fill a store.

    Safe for threads: only one query at a time uses a store, and none waits. If all stores are taken, a query
    fills its own. A forked process begins without stores, because another thread may have been moving them.
    """

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Drop all stores, as a forked process must."""
        self._free: list[_MovableStore] = []
        self._lock = Lock()
        self._changes = 0  # the triples that filling and moving these stores has changed so far

    @contextmanager
    def at(self, log: DeltaSequence, position: int, holding: Holding) -> Iterator[ox.Store | None]:
        """A store with a log's state after ``position`` deltas, for the duration of the context.

        It is ``None`` if the state has triples that a store cannot tell apart (``"01"`` and ``"1"``): only a
        store filled for this state is then right.
        """
        _USED.add(self)
        taken = self._taken(log, position)
        try:
            store = taken.moved(log, position, holding)
            self._changes += taken.cost
            yield store
        finally:
            with self._lock:
                if taken.store is not None and len(self._free) < _MOST:
                    self._free.append(taken)

    def part(
        self, log: DeltaSequence, position: int, patterns: Iterable[Pattern] | None, holding: Holding
    ) -> ox.Store | None:
        """A store with the triples that fit some patterns after ``position`` deltas.

        It is ``None`` if moving or filling a whole store costs less.
        """
        if patterns is None:
            return None
        with self._lock:
            # Without a free store, a new one must be filled, with at most a triple per delta
            distance = min((store.distance(log, position) for store in self._free), default=position)
        if distance <= _NEAR:
            return None
        with MEMORY:  # the lock of all logs
            if sum(map(log.triples.search_cost, patterns)) > _SCANS * distance:
                return None
            fitting = [numbers for pattern in patterns for numbers in log.triples.fitting(pattern)]
        matches = sum(map(len, fitting))
        if matches > _CHECKS * distance:
            return None
        if matches > distance // 2:
            # Such a part costs about as much as moving a shared store. A moved store serves later queries
            # too, unless the queries move it to and fro. Many changes so far show that they do.
            if self._changes < len(log.triples) // 2:
                return None
            held = set(holding())
            numbers = set().union(*map(held.intersection, fitting))
        else:
            numbers = log.holding_after(set().union(*fitting), position)
        if len(numbers) > distance:
            return None
        store = ox.Store()
        store.extend(log.triples.quads(sorted(numbers), _QUADS))
        # If the store merged two triples, the part may be wrong, so the query reads the whole state
        return store if len(store) == len(numbers) else None

    def _taken(self, log: DeltaSequence, position: int) -> _MovableStore:
        """Take the nearest free store, or an empty one if the nearest is far and there is room.

        A query of the past leaves a store of the present alone if another store is free or may be made.
        """
        with self._lock:
            costs = [store.distance(log, position) for store in self._free]
            best = min(range(len(costs)), key=costs.__getitem__, default=None)
            if best is not None and costs[best] > _NEAR and self._free[best].is_present:
                others = [place for place, store in enumerate(self._free) if not store.is_present]
                best = min(others, key=costs.__getitem__, default=best)
            if best is None or (len(self._free) < _MOST and costs[best] > _NEAR + self._free[best].size // 8):
                return _MovableStore()
            return self._free.pop(best)


_USED: WeakSet[Stores] = WeakSet()


def _reset_all() -> None:
    for stores in list(_USED):
        stores.reset()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_reset_all)


class _MovableStore:
    """A store and the state that it holds: the log, and the number of the log's deltas before the state."""

    def __init__(self) -> None:
        self.store: ox.Store | None = None
        self._log = DeltaSequence()
        self._position = 0
        self._changes = 0
        # The number of triples that the last move or fill changed
        self.cost = 0
        # The number of triples in the store, kept because a store would count them one by one
        self.size = 0

    @property
    def is_present(self) -> bool:
        """True if the store holds the last state of its log, or nearly."""
        return len(self._log) - self._position <= _NEAR

    def distance(self, log: DeltaSequence, position: int) -> int:
        """The number of deltas between the store's state and another state."""
        if log is self._log:
            return abs(position - self._position)
        return sum(last - first for part in self._unshared(log, position) for _, first, last in part)

    def moved(self, log: DeltaSequence, position: int, holding: Holding) -> ox.Store | None:
        """Move the store to another state or fill it anew; ``None`` if a store cannot hold the state."""
        self.cost = 0
        store = self.store
        if store is not None:
            if log is self._log and position == self._position:
                return store
            self.store = None  # a move that fails or is given up may have changed it
            if self._move(store, log, position):
                self.store = store
                return store
        self._fill(log, holding())
        self._log, self._position = log, position
        return self.store

    def _fill(self, log: DeltaSequence, held: Sequence[int]) -> None:
        store = ox.Store()
        store.extend(log.triples.quads(held, _QUADS))
        self._changes, self.cost, self.size = 0, len(held), len(held)
        # The store compares values: if it merged triples, it cannot be changed one triple at a time
        self.store = store if len(store) == len(held) else None

    def _move(self, store: ox.Store, log: DeltaSequence, position: int) -> bool:
        """Move to another state by the triples that differ; false if filling is cheaper or necessary."""
        before = self._log
        room = _NEAR + self.size
        if self._changes > _WORN * room or self.distance(log, position) > room:
            return False
        if log is before:
            start, stop = sorted((self._position, position))
            added, gone = log.net(start, stop)
            if position < self._position:  # back in time: what was added goes
                added, gone = gone, added
        else:
            gone, added = self._difference(log, position)  # in this order: here only, there only
        for quad in before.triples.quads(gone, _QUADS):
            store.remove(quad)
        for quad in log.triples.quads(added, _QUADS):
            if quad in store:
                return False
            store.add(quad)
        self.cost = len(gone) + len(added)
        self._changes += self.cost
        self.size += len(added) - len(gone)
        self._log, self._position = log, position
        return True

    def _difference(self, log: DeltaSequence, position: int) -> tuple[list[int], list[int]]:
        """The triples that hold only in the store's state, and those that hold only in another state.

        The first are numbers of this log's table, the second numbers of the other log's table.
        """
        here, there = self._log.triples, log.triples
        # Below this number, both tables have the same triples
        shared = here.shared(there)
        only_here, only_there = self._unshared(log, position)
        # Each triple that the differing segments mention, once, by its numbers in both tables
        pairs: dict[tuple[int | None, int | None], None] = {}
        for number in _numbers(only_here):
            pairs[number, number if number < shared else there.find(here.text(number))] = None
        for number in _numbers(only_there):
            pairs[number if number < shared else here.find(there.text(number)), number] = None
        gone: list[int] = []
        added: list[int] = []
        for before, after in pairs:
            held = before is not None and self._log.holds_after(before, self._position)
            holds = after is not None and log.holds_after(after, position)
            if before is not None and held and not holds:
                gone.append(before)
            elif after is not None and holds and not held:
                added.append(after)
        return gone, added

    def _unshared(self, log: DeltaSequence, position: int) -> tuple[list[Segment], list[Segment]]:
        return without_common(list(self._log.segments(0, self._position)), list(log.segments(0, position)))


def _numbers(segments: Iterable[Segment]) -> Iterator[int]:
    """The numbers of the triples that some segments mention, each once per segment."""
    for columns, first, last in segments:
        yield from dict.fromkeys(columns.numbers[first:last])


def without_common(a: list[Segment], b: list[Segment]) -> tuple[list[Segment], list[Segment]]:
    """The segments that only the first of two logs has, and the segments that only the second has.

    Without the returned segments, both logs are the same, in the same order. So a triple that no returned
    segment mentions has the same history in both logs, and holds in both or in neither.

    A segment is a stretch of some columns: (columns, first, last). Each step compares the next segments:

    - same columns, same start: their common stretch belongs to both; drop it
    - same columns, other start: the stretch before the later start belongs to one log
    - other columns: if the next segment of ``a`` comes later in ``b``, the next segment of ``b`` belongs to
      ``b`` only; otherwise the next segment of ``a`` belongs to ``a`` only

    >>> from substrate.log._columns import Columns
    >>> common, own = Columns(), Columns()
    >>> other = [(common, 0, 3), (own, 0, 1), (common, 3, 9)]
    >>> left, right = without_common([(common, 0, 5), (common, 5, 9)], other)
    >>> left, [(columns is own, first, last) for columns, first, last in right]
    ([], [(True, 0, 1)])
    """
    left, right = a[::-1], b[::-1]
    only_a: list[Segment] = []
    only_b: list[Segment] = []
    while left and right:
        (columns, first, last), (others, start, stop) = left[-1], right[-1]
        if columns is others and first == start:
            end = min(last, stop)
            _cut(left, end)
            _cut(right, end)
        elif columns is others:
            rest, only, before = (left, only_a, start) if first < start else (right, only_b, first)
            end = min(rest[-1][2], before)
            only.append((columns, rest[-1][1], end))
            _cut(rest, end)
        elif any(later is columns and end > first for later, _, end in right):
            only_b.append(right.pop())
        else:
            only_a.append(left.pop())
    return only_a + left[::-1], only_b + right[::-1]


def _cut(segments: list[Segment], end: int) -> None:
    """Drop the part of the next segment before a place."""
    columns, _, last = segments.pop()
    if end < last:
        segments.append((columns, end, last))
