"""The stores of a log and its branches: shared, and moved from state to state by what differs.

Filling a store costs every triple of a state; moving one costs the deltas that two states do not have
in common, which for two branches of one parent are their interventions. A query that tells what it looks at,
and looks at less than that, gets a small store of its own. A query and its open results
read the store as it stood when they were asked: Oxigraph's stores keep versions, so that moving one on
takes nothing from a result that is still being read.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from threading import Lock
from weakref import WeakSet

import pyoxigraph as ox

from substrate.log._columns import Columns, DeltaSequence
from substrate.log._locking import MEMORY
from substrate.log._triples import Triples
from substrate.sparql.patterns import Pattern

Segment = tuple[Columns, int, int]
"""Columns, and the stretch of them from a first place to before a last."""

_MOST = 4
"""Stores that a log and its branches keep between queries."""
_FEWER = 8
"""The triples that are looked at in the time in which a store is moved by one."""
_UNREAD = 16
"""The triples that are looked through in that time."""
_NEAR = 512
"""Deltas between two states that are always walked: a store of its own would not pay."""


_QUADS = 1 << 16
"""Quads that a table keeps for stores which are filled and moved: parsing one costs more than adding it."""
_WORN = 8
"""Changes, as a multiple of its triples, after which a store is filled anew: what was removed leaves traces
in its lists, which queries pass over.
"""


class Stores:
    """The stores that a log and its branches share: a query takes the nearest, moves it, and asks it.

    Safe for threads: a store is moved and asked by one at a time, and nobody waits: where all are taken a
    query fills one of its own. A process forked from this one begins with none, since another thread may
    have been moving them.
    """

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Begin anew, in a process that was forked."""
        self._free: list[_Moved] = []
        self._lock = Lock()
        self._worked = 0

    @contextmanager
    def at(
        self, record: DeltaSequence, position: int, standing: Callable[[], Sequence[int]]
    ) -> Iterator[ox.Store | None]:
        """A store with the state of a record after some deltas, for as long as the context lasts.

        It is ``None`` where the state has triples that a store takes for one (``"01"`` and ``"1"``): only
        a store filled for it alone has what it should.
        """
        _USED.add(self)
        taken = self._taken(record, position)
        try:
            store = taken.moved(record, position, standing)
            self._worked += taken.cost
            yield store
        finally:
            with self._lock:
                if taken.store is not None and len(self._free) < _MOST:
                    self._free.append(taken)

    def part(
        self,
        record: DeltaSequence,
        position: int,
        looked_at: Iterable[Pattern] | None,
        standing: Callable[[], Sequence[int]],
    ) -> ox.Store | None:
        """A store with what fits some patterns after some deltas; ``None`` where moving one costs less, or
        filling it.
        """
        if looked_at is None:
            return None
        with self._lock:
            way = min((store.distance(record, position) for store in self._free), default=position)
        if way <= _NEAR:
            return None
        with MEMORY:
            if sum(map(record.triples.unread, looked_at)) > _UNREAD * way:
                return None
            fitting = [some for pattern in looked_at for some in record.triples.fitting(pattern)]
        ever = sum(map(len, fitting))
        if ever > _FEWER * way:
            return None
        if ever > way // 2:
            # A store that is kept comes first
            if self._worked < len(record.triples) // 2:
                return None
            stands = set(standing())
            numbers = set().union(*map(stands.intersection, fitting))
        else:
            numbers = record.stand(set().union(*fitting), position)
        if len(numbers) > way:
            return None
        store = ox.Store()
        store.extend(record.triples.quads(sorted(numbers), _QUADS))
        # Where the store takes two triples for one, the whole state is asked as well as a part
        return store if len(store) == len(numbers) else None

    def _taken(self, record: DeltaSequence, position: int) -> _Moved:
        """The nearest store that is free, or an empty one where that is far and there is room.

        A store of the present stays there while the past is asked, as long as there may be another.
        """
        with self._lock:
            costs = [store.distance(record, position) for store in self._free]
            best = min(range(len(costs)), key=costs.__getitem__, default=None)
            if best is not None and costs[best] > _NEAR and self._free[best].is_present:
                others = [place for place, store in enumerate(self._free) if not store.is_present]
                best = min(others, key=costs.__getitem__, default=best)
            if best is None or (len(self._free) < _MOST and costs[best] > _NEAR + self._free[best].size // 8):
                return _Moved()
            return self._free.pop(best)


_USED: WeakSet[Stores] = WeakSet()


def _reset_all() -> None:
    for stores in list(_USED):
        stores.reset()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_reset_all)


class _Moved:
    """A store, and the place whose state it holds: a record, and how many of its deltas."""

    def __init__(self) -> None:
        self.store: ox.Store | None = None
        self._record = DeltaSequence()
        self._position = 0
        self._changes = 0
        self.cost = 0
        """The number of triples that the last way to a state has changed."""
        self.size = 0
        """The number of triples that it holds; a store counts them one by one."""

    @property
    def is_present(self) -> bool:
        """True where it holds the last state of its record, or nearly."""
        return len(self._record) - self._position <= _NEAR

    def distance(self, record: DeltaSequence, position: int) -> int:
        """The number of deltas between where it is and another place."""
        if record is self._record:
            return abs(position - self._position)
        return sum(last - first for part in self._apart(record, position) for _, first, last in part)

    def moved(
        self, record: DeltaSequence, position: int, standing: Callable[[], Sequence[int]]
    ) -> ox.Store | None:
        """The store at another place, moved there or filled anew; ``None`` where it cannot hold the state."""
        self.cost = 0
        if self.store is not None:
            if record is self._record and position == self._position:
                return self.store
            try:
                if self._move(record, position):
                    return self.store
            except BaseException:
                self.store = None
                raise
        self._fill(record, standing())
        self._record, self._position = record, position
        return self.store

    def _fill(self, record: DeltaSequence, standing: Sequence[int]) -> None:
        store = ox.Store()
        store.extend(record.triples.quads(standing, _QUADS))
        self._changes, self.cost, self.size = 0, len(standing), len(standing)
        # The store keeps values: where it tells fewer triples apart it cannot be changed one at a time
        self.store = store if len(store) == len(standing) else None

    def _move(self, record: DeltaSequence, position: int) -> bool:
        """Go to another place by the triples that differ; false where filling is better, or needed."""
        store, before = self.store, self._record
        assert store is not None
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
        """Triples that stand here alone, and those that stand there alone, each by its number there."""
        before, here = self._record, self._position
        shared = before.triples.shared(record.triples)
        gone: list[int] = []
        added: list[int] = []
        seen: set[int] = set()
        for parts, ours in zip(self._apart(record, position), (True, False), strict=True):
            for columns, first, last in parts:
                for number in dict.fromkeys(columns.numbers[first:last]):
                    mine, theirs = _both(number, shared, before.triples, record.triples, ours)
                    if mine is not None:
                        if mine in seen:
                            continue
                        seen.add(mine)
                    stood = mine is not None and before.stood(mine, here)
                    stands = theirs is not None and record.stood(theirs, position)
                    if mine is not None and stood and not stands:
                        gone.append(mine)
                    elif theirs is not None and stands and not stood:
                        added.append(theirs)
        return gone, list(dict.fromkeys(added))

    def _apart(self, record: DeltaSequence, position: int) -> tuple[list[Segment], list[Segment]]:
        return apart(
            list(self._record.pieces(0, self._position)),
            list(record.pieces(0, position)),
        )


def _both(
    number: int, shared: int, here: Triples, there: Triples, ours: bool
) -> tuple[int | None, int | None]:
    """The numbers that a triple has in two tables, from that in the first or in the second."""
    if number < shared:
        return number, number
    if ours:
        return number, there.find(here.text(number))
    return here.find(there.text(number)), number


def apart(a: list[Segment], b: list[Segment]) -> tuple[list[Segment], list[Segment]]:
    """The differences of two records: segments of the first alone, and of the second alone.

    What is left of both is the same, in the same order. So a triple that none of the segments mentions has
    the same story in both, and stands in both or in neither.

    >>> common, own = Columns(), Columns()
    >>> left, right = apart([(common, 0, 5), (common, 5, 9)], [(common, 0, 3), (own, 0, 1), (common, 3, 9)])
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
    """Drop what lies before a place of the segment that comes next."""
    columns, _, last = segments.pop()
    if end < last:
        segments.append((columns, end, last))
