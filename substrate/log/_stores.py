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
from substrate.log._triples import Triples
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


class Stores:
    """The stores that a log and its branches share: a query takes the nearest store, moves it and reads it.

    Safe for threads: only one query at a time uses a store, and none waits. If all stores are taken, a query
    fills its own. A forked process begins without stores, because another thread may have been moving them.
    """

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Drop all stores, as a forked process must."""
        self._free: list[_MovableStore] = []
        self._lock = Lock()
        self._work = 0

    @contextmanager
    def at(
        self, record: DeltaSequence, position: int, standing: Callable[[], Sequence[int]]
    ) -> Iterator[ox.Store | None]:
        """A store with a record's state after ``position`` deltas, for the duration of the context.

        It is ``None`` if the state has triples that a store cannot tell apart (``"01"`` and ``"1"``): only a
        store filled for this state is then right.
        """
        _USED.add(self)
        taken = self._taken(record, position)
        try:
            store = taken.moved(record, position, standing)
            self._work += taken.cost
            yield store
        finally:
            with self._lock:
                if taken.store is not None and len(self._free) < _MOST:
                    self._free.append(taken)

    def part(
        self,
        record: DeltaSequence,
        position: int,
        patterns: Iterable[Pattern] | None,
        standing: Callable[[], Sequence[int]],
    ) -> ox.Store | None:
        """A store with the triples that fit some patterns after ``position`` deltas.

        It is ``None`` if moving or filling a whole store costs less.
        """
        if patterns is None:
            return None
        with self._lock:
            # Without a free store, a new one must be filled, with at most a triple per delta
            distance = min((store.distance(record, position) for store in self._free), default=position)
        if distance <= _NEAR:
            return None
        with MEMORY:
            if sum(map(record.triples.search_cost, patterns)) > _SCANS * distance:
                return None
            fitting = [numbers for pattern in patterns for numbers in record.triples.fitting(pattern)]
        matches = sum(map(len, fitting))
        if matches > _CHECKS * distance:
            return None
        if matches > distance // 2:
            # Fill or move a shared store first: later queries can reuse it
            if self._work < len(record.triples) // 2:
                return None
            stands = set(standing())
            numbers = set().union(*map(stands.intersection, fitting))
        else:
            numbers = record.holding_after(set().union(*fitting), position)
        if len(numbers) > distance:
            return None
        store = ox.Store()
        store.extend(record.triples.quads(sorted(numbers), _QUADS))
        # If the store merged two triples, the part may be wrong, so the query reads the whole state
        return store if len(store) == len(numbers) else None

    def _taken(self, record: DeltaSequence, position: int) -> _MovableStore:
        """Take the nearest free store, or an empty one if the nearest is far and there is room.

        A query of the past leaves a store of the present alone if another store is free or may be made.
        """
        with self._lock:
            costs = [store.distance(record, position) for store in self._free]
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
    """A store and the place whose state it holds: a record and a number of its deltas."""

    def __init__(self) -> None:
        self.store: ox.Store | None = None
        self._record = DeltaSequence()
        self._position = 0
        self._changes = 0
        # The number of triples that the last move or fill changed
        self.cost = 0
        # The number of triples in the store, kept because a store would count them one by one
        self.size = 0

    @property
    def is_present(self) -> bool:
        """True if the store holds the last state of its record, or nearly."""
        return len(self._record) - self._position <= _NEAR

    def distance(self, record: DeltaSequence, position: int) -> int:
        """The number of deltas between the store's place and another place."""
        if record is self._record:
            return abs(position - self._position)
        return sum(last - first for part in self._unshared(record, position) for _, first, last in part)

    def moved(
        self, record: DeltaSequence, position: int, standing: Callable[[], Sequence[int]]
    ) -> ox.Store | None:
        """Move the store to another place or fill it anew; ``None`` if a store cannot hold the state."""
        self.cost = 0
        store = self.store
        if store is not None:
            if record is self._record and position == self._position:
                return store
            self.store = None  # a move that fails or is given up may have changed it
            if self._move(store, record, position):
                self.store = store
                return store
        self._fill(record, standing())
        self._record, self._position = record, position
        return self.store

    def _fill(self, record: DeltaSequence, standing: Sequence[int]) -> None:
        store = ox.Store()
        store.extend(record.triples.quads(standing, _QUADS))
        self._changes, self.cost, self.size = 0, len(standing), len(standing)
        # The store compares values: if it merged triples, it cannot be changed one triple at a time
        self.store = store if len(store) == len(standing) else None

    def _move(self, store: ox.Store, record: DeltaSequence, position: int) -> bool:
        """Move to another place by the triples that differ; false if filling is cheaper or necessary."""
        before = self._record
        room = _NEAR + self.size
        if self._changes > _WORN * room or self.distance(record, position) > room:
            return False
        if record is before:
            start, stop = sorted((self._position, position))
            added, gone = record.net(start, stop)
            if position < self._position:
                added, gone = gone, added
        else:
            gone, added = self._difference(record, position)
        for quad in before.triples.quads(gone, _QUADS):
            store.remove(quad)
        for quad in record.triples.quads(added, _QUADS):
            if quad in store:
                return False
            store.add(quad)
        self.cost = len(gone) + len(added)
        self._changes += self.cost
        self.size += len(added) - len(gone)
        self._record, self._position = record, position
        return True

    def _difference(self, record: DeltaSequence, position: int) -> tuple[list[int], list[int]]:
        """The triples that hold only here, and those that hold only there, each by its own table's number."""
        before, here = self._record, self._position
        shared = before.triples.shared(record.triples)
        gone: list[int] = []
        added: list[int] = []
        seen: set[int] = set()
        for parts, ours in zip(self._unshared(record, position), (True, False), strict=True):
            for columns, first, last in parts:
                for number in dict.fromkeys(columns.numbers[first:last]):
                    mine, theirs = _numbers_in_both(number, shared, before.triples, record.triples, ours)
                    if mine is not None:
                        if mine in seen:
                            continue
                        seen.add(mine)
                    stood = mine is not None and before.holds_after(mine, here)
                    stands = theirs is not None and record.holds_after(theirs, position)
                    if mine is not None and stood and not stands:
                        gone.append(mine)
                    elif theirs is not None and stands and not stood:
                        added.append(theirs)
        return gone, list(dict.fromkeys(added))

    def _unshared(self, record: DeltaSequence, position: int) -> tuple[list[Segment], list[Segment]]:
        return without_common(
            list(self._record.segments(0, self._position)), list(record.segments(0, position))
        )


def _numbers_in_both(
    number: int, shared: int, here: Triples, there: Triples, ours: bool
) -> tuple[int | None, int | None]:
    """A triple's numbers in two tables, from its number in the first (``ours``) or in the second."""
    if number < shared:
        return number, number
    if ours:
        return number, there.find(here.text(number))
    return here.find(there.text(number)), number


def without_common(a: list[Segment], b: list[Segment]) -> tuple[list[Segment], list[Segment]]:
    """The differences of two records: the segments only in the first, and those only in the second.

    The remaining segments are the same, in the same order. So a triple that no returned segment mentions
    has the same history in both records, and holds in both or in neither.

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
        elif any(c is columns and end > first for c, _, end in right):
            only_b.append(right.pop())
        else:
            only_a.append(left.pop())
    return only_a + left[::-1], only_b + right[::-1]


def _cut(segments: list[Segment], end: int) -> None:
    """Drop the part of the next segment before a place."""
    columns, _, last = segments.pop()
    if end < last:
        segments.append((columns, end, last))
