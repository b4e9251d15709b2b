"""The content of a log in memory: its deltas as columns, shared with its forks, and an index of them.

A delta takes 13 bytes here; the log's table of triples holds its triple once. Columns only grow, so a fork
refers to its parent's columns up to the branch tick and copies nothing.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import NamedTuple, overload

import pyoxigraph as ox

from substrate.base.arguments import require_tick
from substrate.base.delta import Delta, Op, triple_of
from substrate.base.errors import LogError
from substrate.log._locking import MEMORY
from substrate.log._triples import Triples

_CHUNK = 1 << 13
_OPS = (Op.RETRACT, Op.INSERT)


class Columns:
    """Deltas as columns: ``ticks``, ``inserts`` (1 or 0) and ``numbers`` (of the triples).

    New triples get successive numbers, so that each position determines a number, and each number a position.
    The exceptions are repeats: deltas that mention a triple again, or a parent's triple. For each repeat the
    columns keep the number of new triples before it (``_before``). An index of only the repeats, made on
    first use, leads from each mention of a triple to the previous mention.

    Here the third and the fifth delta are repeats: two new triples stand before the first repeat, three
    before the second. So the new triple 2 has position 3, as one repeat stands before it.

    >>> columns = Columns()
    >>> columns.take(array("q", [0] * 5), bytearray(5), [0, 1, 0, 2, 1])
    >>> columns._before.tolist(), [columns.latest(number, 0, 5) for number in (0, 1, 2)]
    ([2, 3], [2, 4, 3])
    """

    def __init__(self) -> None:
        self.ticks = array("q")
        self.inserts = bytearray()
        self.numbers = array("I")
        self._first = 0  # the number of the first triple
        self._follows = True  # false once a new triple has skipped a number
        self._before = array("I")
        # The index of repeats, numbered from 1: the last repeat of each new triple and of each other triple,
        # and for each repeat the repeat of the same triple before it; 0 means none
        self._last = array("I")
        self._others: dict[int, int] = {}
        self._earlier = array("I", [0])

    def __len__(self) -> int:
        # The column that is written last: its deltas are complete in all columns
        return len(self.numbers)

    def take(self, ticks: array[int], inserts: bytearray, numbers: list[int]) -> None:
        """Grow by some deltas."""
        self.ticks.extend(ticks)
        self.inserts.extend(inserts)
        if not self.numbers:
            self._first = numbers[0] if numbers else 0
        before, follows = list[int](), self._follows
        expected = len(self.numbers) - len(self._before) + self._first
        for number in numbers:
            if number == expected and follows:
                expected += 1
            else:
                before.append(expected - self._first)
                # A skipped triple may be mentioned later, so from here on every delta counts as a repeat
                follows = follows and number < expected
        self._follows = follows
        self._before.extend(before)
        self.numbers.fromlist(numbers)

    def latest(self, number: int, start: int, stop: int) -> int:
        """The last position from ``start`` to before ``stop`` that mentions a triple; -1 if none does."""
        before, earlier, repeat = self._before, self._earlier, self._last_repeat(number)
        # Before a repeat there are the new triples before it and the earlier repeats
        while repeat and before[repeat - 1] + repeat - 1 >= stop:
            repeat = earlier[repeat]
        place = before[repeat - 1] + repeat - 1 if repeat else self._first_mention(number)
        return place if start <= place < stop else -1

    def _last_repeat(self, number: int) -> int:
        """The last repeat of a triple; 0 if there is none."""
        if len(self._earlier) <= len(self._before):
            self._index()
        own = number - self._first
        return self._last[own] if 0 <= own < len(self._last) else self._others.get(number, 0)

    def _first_mention(self, number: int) -> int:
        """The position at which a triple was new in these columns; -1 if it was not."""
        own = number - self._first
        place = own + bisect_right(self._before, own) if own >= 0 else -1
        return place if place < len(self.numbers) and self.numbers[place] == number else -1

    def last_of(self, numbers: Iterable[int], start: int, stop: int) -> dict[int, int]:
        """Like :meth:`latest`, for each of many triples that is mentioned there."""
        return {number: place for number in numbers if (place := self.latest(number, start, stop)) >= 0}

    def places(self, number: int, start: int, stop: int) -> list[int]:
        """The positions from ``start`` to before ``stop`` that mention a triple, ascending."""
        positions, repeat = list[int](), self._last_repeat(number)
        while repeat:
            positions.append(self._before[repeat - 1] + repeat - 1)
            repeat = self._earlier[repeat]
        positions.append(self._first_mention(number))
        return [place for place in reversed(positions) if start <= place < stop]

    def _index(self) -> None:
        """Extend the index to all repeats.

        Another thread may read meanwhile, so a repeat is linked to the previous one before it can be found.
        """
        with MEMORY:
            before, earlier, last, others = self._before, self._earlier, self._last, self._others
            new = len(self.numbers) - len(before)
            last.frombytes(bytes((new - len(last)) * last.itemsize))
            first, size = self._first, len(last)
            for repeat in range(len(earlier), len(before) + 1):
                number = self.numbers[before[repeat - 1] + repeat - 1]
                if 0 <= (own := number - first) < size:
                    earlier.append(last[own])
                    last[own] = repeat
                else:
                    earlier.append(others.get(number, 0))
                    others[number] = repeat


def by_tick(
    ticks: Sequence[int], inserts: bytearray, texts: Sequence[str]
) -> Iterator[tuple[int, list[str]]]:
    """Give deltas as lines of RDF Patch, tick by tick."""
    letters = ("D ", "A ")
    lines = [f"{letters[insert]}{text} ." for insert, text in zip(inserts, texts, strict=True)]
    first = 0
    while first < len(ticks):
        last = bisect_right(ticks, ticks[first], first)
        yield ticks[first], lines[first:last]
        first = last


def whole_ticks(ticks: Sequence[int], last: int) -> array[int]:
    """Give ticks as a column; refuse ticks before the log's last tick, or not whole."""
    try:
        if bool in set(map(type, ticks)):
            raise TypeError("a truth value")
        return ascending(ticks, last)
    except TypeError as error:
        what = f"a tick is not a whole number ({error})"
        raise LogError(what, hint="Ticks are whole numbers from 0") from error


def ascending(ticks: Sequence[int], last: int) -> array[int]:
    """Give whole numbers as a column of ticks; refuse ticks before the log's last tick."""
    try:
        column = array("q", ticks)
    except OverflowError as error:
        raise LogError("a tick is too large", hint="Ticks are whole numbers from 0 to 2**63 - 1") from error
    if not column or (column[0] >= last and sorted(ticks) == ticks):
        return column  # the usual case, without a loop over the ticks
    for tick in column:
        if tick < last:
            before = f"tick {tick} lies before tick {last}, the log's last"
            what = before if tick >= 0 else f"tick {tick} is negative"
            raise LogError(what, hint="A log only grows: append in tick order, or fork it")
        last = tick
    return column


# Columns, the first place of a segment in them, and the place after its last
Segment = tuple[Columns, int, int]


class Part(NamedTuple):
    """A segment of columns, from ``start`` to before ``stop``, and its first delta's position in the log."""

    columns: Columns
    start: int
    stop: int
    position: int


class DeltaSequence:
    """The deltas of a log: an :class:`EventLog` keeps them; replay and history read them.

    Attributes:
        triples: the table of the triples that the deltas change.
        prefixes: names for IRIs, for queries and texts of its states; forks, copies and pickles keep them.
            They are not part of the record: neither its file nor its digest has them.
    """

    def __init__(self) -> None:
        self.triples = Triples()
        self.prefixes: dict[str, object] = {}
        self._parts: tuple[Part, ...] = ()
        # The columns to append to, and the number of deltas in the parts before them
        self._own = Columns()
        self._settled = 0

    def _share(self, other: DeltaSequence, start: int, stop: int) -> None:
        """Share another sequence's deltas without a copy; this sequence's table must lie on the other's."""
        self._parts = self._all_parts()
        self._settled = len(self)
        for columns, first, last in other.segments(start, stop):
            self._parts += (Part(columns, first, last, self._settled),)
            self._settled += last - first
        if len(self._own):
            self._own = Columns()

    def _all_parts(self) -> tuple[Part, ...]:
        own = len(self._own.numbers)
        return (*self._parts, Part(self._own, 0, own, self._settled)) if own else self._parts

    def segments(self, start: int, stop: int | None) -> Iterator[Segment]:
        """The segments of columns that hold the deltas from position ``start`` to before ``stop``."""
        for columns, first, last, position in self._all_parts():
            begin = max(first, first + start - position)
            end = last if stop is None else min(last, first + stop - position)
            if begin < end:
                yield columns, begin, end

    def _place(self, position: int) -> tuple[Columns, int]:
        for part in reversed(self._all_parts()):
            if position >= part.position:
                return part.columns, part.start + position - part.position
        raise IndexError(position)

    # Reading

    def __len__(self) -> int:
        return self._settled + len(self._own.numbers)

    @overload
    def __getitem__(self, position: int) -> Delta: ...

    @overload
    def __getitem__(self, position: slice) -> tuple[Delta, ...]: ...

    def __getitem__(self, position: int | slice) -> Delta | tuple[Delta, ...]:
        """The delta at a position, or the deltas of a slice of positions; :meth:`between` takes ticks.

        >>> from substrate import EventLog
        >>> log = EventLog()
        >>> log.extend_lines((tick, f'A <urn:s> <urn:p> "{tick}" .') for tick in range(0, 50, 10))
        >>> log[1].tick, [delta.tick for delta in log[1:3]], [delta.tick for delta in log[:-3:-1]]
        (10, [10, 20], [40, 30])
        """
        length = len(self)
        if isinstance(position, slice):
            start, stop, step = position.indices(length)
            if step == 1:
                return tuple(self._deltas(start, stop))
            return tuple(map(self.__getitem__, range(start, stop, step)))
        if not -length <= position < length:
            raise IndexError(f"no delta at position {position}: there are {length}")
        columns, place = self._place(position % length)
        triple = triple_of(self.triples.quad(columns.numbers[place]))
        return Delta._make((columns.ticks[place], _OPS[columns.inserts[place]], triple))

    def tick_and_op(self, position: int) -> tuple[int, Op]:
        """The tick and operation of the delta at a position."""
        columns, place = self._place(position)
        return columns.ticks[place], _OPS[columns.inserts[place]]

    def __iter__(self) -> Iterator[Delta]:
        return self._deltas(0, None)

    def between(self, first: int, last: int) -> tuple[Delta, ...]:
        """The deltas of the ticks from ``first`` to ``last``, both included.

        >>> from substrate import EventLog
        >>> log = EventLog()
        >>> log.extend_lines((tick, f'A <urn:s> <urn:p> "{tick}" .') for tick in range(0, 50, 10))
        >>> [delta.tick for delta in log.between(10, 29)]
        [10, 20]
        """
        for tick, name in ((first, "first"), (last, "last")):
            require_tick(tick, name)
        return tuple(self._deltas(self.position(first - 1), self.position(last)))

    def _deltas(self, position: int, stop: int | None) -> Iterator[Delta]:
        """The deltas from ``position`` to before ``stop``; by default to the end, even if the log grows."""
        while position < (end := len(self) if stop is None else stop):
            end = min(end, position + _CHUNK)
            ticks = chain.from_iterable(c.ticks[a:b] for c, a, b in self.segments(position, end))
            for tick, (op, quad) in zip(ticks, self.changes(position, end), strict=True):
                yield Delta._make((tick, op, triple_of(quad)))
            position = end

    @property
    def last_tick(self) -> int:
        """Tick of the newest delta; 0 for an empty log."""
        for columns, _, stop, _ in reversed(self._all_parts()):
            return columns.ticks[stop - 1]
        return 0

    @property
    def ticks(self) -> list[int]:
        """The ticks that have a delta, ascending."""
        return sorted({tick for columns, a, b in self.segments(0, None) for tick in columns.ticks[a:b]})

    def position(self, tick: int) -> int:
        """The number of deltas with a tick <= ``tick``."""
        for columns, start, stop, position in reversed(self._all_parts()):
            if columns.ticks[start] <= tick:
                return position + bisect_right(columns.ticks, tick, start, stop) - start
        return 0

    def changes(self, start: int = 0, stop: int | None = None) -> Iterator[tuple[Op, ox.Quad]]:
        """The operation and quad of each delta from position ``start`` to ``stop``, for a store."""
        for columns, begin, end in self.segments(start, stop):
            for first in range(begin, end, _CHUNK):
                last = min(end, first + _CHUNK)
                ops = [_OPS[insert] for insert in columns.inserts[first:last]]
                yield from zip(ops, self.triples.quads(columns.numbers[first:last]), strict=True)

    def steps(self, start: int = 0, stop: int | None = None) -> Iterator[tuple[int, int]]:
        """Like :meth:`changes`, in numbers: 1 for an insertion or 0 for a retraction; the triple's number."""
        return chain.from_iterable(
            zip(columns.inserts[a:b], columns.numbers[a:b], strict=True)
            for columns, a, b in self.segments(start, stop)
        )

    def lines(self, start: int = 0, stop: int | None = None) -> Iterator[tuple[int, list[str]]]:
        """The deltas from position ``start`` to ``stop`` as lines of RDF Patch, tick by tick."""
        stop = len(self) if stop is None else stop
        while start < stop:
            # A chunk ends with the last delta of a tick, so that no tick is split
            columns, place = self._place(min(stop, start + _CHUNK) - 1)
            end = min(stop, self.position(columns.ticks[place]))
            ticks = array("q")
            inserts = bytearray()
            texts: list[str] = []
            for columns, first, last in self.segments(start, end):
                ticks.extend(columns.ticks[first:last])
                inserts += columns.inserts[first:last]
                texts += self.triples.texts(columns.numbers[first:last])
            yield from by_tick(ticks, inserts, texts)
            start = end

    # One triple

    def holds_after(self, number: int, position: int) -> bool:
        """Tell whether a triple holds after the first ``position`` deltas."""
        for columns, start, stop, offset in reversed(self._all_parts()):
            if position > offset:
                place = columns.latest(number, start, min(stop, start + position - offset))
                if place >= 0:
                    return bool(columns.inserts[place])
        return False

    def holding_after(self, numbers: Iterable[int], position: int) -> set[int]:
        """The given triples that hold after the first ``position`` deltas."""
        left = set(numbers)
        standing: set[int] = set()
        for columns, start, stop, offset in reversed(self._all_parts()):
            if position > offset and left:
                last = columns.last_of(left, start, min(stop, start + position - offset))
                standing.update(number for number, place in last.items() if columns.inserts[place])
                left -= last.keys()
        return standing

    def mentions(self, number: int, *, inserted: bool = False) -> list[int]:
        """The positions of the deltas that insert or retract a triple, or only insert it, ascending."""
        return [
            position + place - start
            for columns, start, stop, position in self._all_parts()
            for place in columns.places(number, start, stop)
            if columns.inserts[place] or not inserted
        ]

    def net(self, start: int, stop: int) -> tuple[list[int], list[int]]:
        """The triples that hold after ``stop`` deltas but not after ``start``, and the reverse, by number."""
        final: dict[int, int] = {}
        for columns, a, b in self.segments(start, stop):
            final |= zip(columns.numbers[a:b], columns.inserts[a:b], strict=True)
        before = self.holding_after(final, start)
        inserted = [number for number, insert in final.items() if insert and number not in before]
        retracted = [number for number, insert in final.items() if not insert and number in before]
        return inserted, retracted
