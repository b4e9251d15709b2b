"""The content of a log in memory: its deltas as columns, shared with its forks, and an index of them.

A delta takes 13 bytes here, beside its triple, which the log's table of triples holds once. Columns
only grow, so that a fork refers to its parent's up to the branch tick and copies nothing.
"""

from __future__ import annotations

import sys
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
_QUESTIONS = 8
"""The questions that a long index is spread over."""
_FEW = 12
"""Triples that are searched for one by one: looking at each delta costs as much."""
_PAYS = 64
"""The times that columns are searched through at the cost of their index."""
_STRETCH = 1 << 16
"""Deltas that are searched through at once."""
_OPS = (Op.RETRACT, Op.INSERT)


class Columns:
    """Deltas as columns: ``ticks``, ``inserts`` (1 or 0) and ``numbers``, those of the triples.

    For one triple after the other the columns know where it was mentioned last: an index, carried on as it is
    asked for; what it does not reach yet is looked through. The first questions of a few triples search the
    bytes of the column instead, until that has cost as much.
    """

    def __init__(self) -> None:
        self.ticks = array("q")
        self.inserts = bytearray()
        self.numbers = array("I")
        # A log's new triples are numbered one after the other: an array; a fork's parents' are not
        self._first = 0
        self._last = array("i")
        self._others: dict[int, int] = {}
        self.previous = array("i")
        self._reach = 0
        self._searched = 0
        self._sought: dict[tuple[int, int, int], int] = {}

    def __len__(self) -> int:
        # The column that is written last: what stands in it stands in all
        return len(self.numbers)

    def take(self, ticks: array[int], inserts: bytearray, numbers: array[int]) -> None:
        """Grow by some deltas."""
        self.ticks.extend(ticks)
        self.inserts.extend(inserts)
        self.numbers.extend(numbers)

    def latest(self, number: int, start: int, stop: int) -> int:
        """The last position from ``start`` to before ``stop`` that mentions a triple; -1 where none does."""
        if self._reach < stop:
            return self.last_of((number,), start, stop).get(number, -1)
        own = number - self._first
        place = self._last[own] if 0 <= own < len(self._last) else self._others.get(number, -1)
        while place >= stop:
            place = self.previous[place]
        return place if place >= start else -1

    def last_of(self, numbers: Iterable[int], start: int, stop: int) -> dict[int, int]:
        """The same of many triples, for each that is mentioned there."""
        last: dict[int, int] = {}
        wanted = set(numbers)
        reach = min(self._indexed(len(wanted)), stop)
        first = max(start, reach)
        if first < stop and len(wanted) <= _FEW:
            for number in wanted:
                key = number, first, stop
                if key not in self._sought:
                    self._sought[key] = next(self._search(number, first, stop), -1)
                if (place := self._sought[key]) >= 0:
                    last[number] = place
        elif first < stop:
            behind = enumerate(self.numbers[first:stop], start=first)
            last = {number: place for place, number in behind if number in wanted}
        for number in wanted - last.keys():
            if (place := self.latest(number, start, reach)) >= 0:
                last[number] = place
        return last

    def places(self, number: int, start: int, stop: int) -> list[int]:
        """The positions from ``start`` to before ``stop`` that mention a triple, ascending."""
        reach = self._indexed(1)
        positions = list(self._search(number, max(start, reach), stop))
        place = self.latest(number, start, min(reach, stop))
        while place >= start:
            positions.append(place)
            place = self.previous[place]
        positions.reverse()
        return positions

    def _search(self, number: int, start: int, stop: int) -> Iterator[int]:
        """The positions from ``start`` to before ``stop`` that mention a triple, the last first."""
        width = self.numbers.itemsize
        wanted = number.to_bytes(width, sys.byteorder)
        while start < stop:
            first = max(start, stop - _STRETCH)
            column = self.numbers[first:stop].tobytes()
            self._searched += _STRETCH
            place = column.rfind(wanted)
            while place >= 0:
                # Bytes of two neighbours may look like those of a number
                if place % width == 0:
                    yield first + place // width
                place = column.rfind(wanted, 0, place + width - 1)
            stop = first

    def _indexed(self, wanted: int) -> int:
        """How far the index reaches for so many triples, carried on where searching would not cost less."""
        left = len(self) - self._reach
        if wanted <= _FEW and left > _CHUNK and self._searched < _PAYS * left:
            return self._reach
        self._sought.clear()
        return self.index()

    def index(self) -> int:
        """Carry the index on, and say how far it reaches: each question pays for a part of a long one.

        Another thread may read meanwhile: what leads to a place is there before the place is.
        """
        if self._reach == len(self):
            return self._reach
        with MEMORY:
            done, last, others, previous = self._reach, self._last, self._others, self.previous
            if not done:
                self._first = self.numbers[0]
            step = max(_CHUNK, len(self) // _QUESTIONS)
            for place, number in enumerate(self.numbers[done : done + step], start=done):
                own = number - self._first
                if 0 <= own < len(last):
                    previous.append(last[own])
                    last[own] = place
                elif own == len(last):
                    previous.append(others.get(number, -1))
                    last.append(place)
                else:
                    previous.append(others.get(number, -1))
                    others[number] = place
            self._reach = len(previous)
            return self._reach


def by_tick(
    ticks: Sequence[int], inserts: bytearray, texts: Sequence[str]
) -> Iterator[tuple[int, list[str]]]:
    """Tick by tick, deltas as lines of RDF Patch."""
    letters = ("D ", "A ")
    lines = [f"{letters[insert]}{text} ." for insert, text in zip(inserts, texts, strict=True)]
    first = 0
    while first < len(ticks):
        last = bisect_right(ticks, ticks[first], first)
        yield ticks[first], lines[first:last]
        first = last


def whole_ticks(ticks: Sequence[int], last: int) -> array[int]:
    """Ticks as a column, where they follow the log's last one."""
    try:
        if bool in set(map(type, ticks)):
            raise TypeError("a truth value")
        column = array("q", ticks)
    except TypeError as error:
        raise LogError(
            f"a tick is not a whole number ({error})", hint="Ticks are whole numbers from 0"
        ) from error
    except OverflowError as error:
        raise LogError("a tick is too large", hint="Ticks are whole numbers from 0 to 2**63 - 1") from error
    if not column or (column[0] >= last and sorted(ticks) == ticks):
        return column
    for tick in column:
        if tick < last:
            what = (
                f"tick {tick} lies before tick {last}, the log's last"
                if tick >= 0
                else f"tick {tick} is negative"
            )
            raise LogError(what, hint="A log only grows: append in tick order, or fork it")
        last = tick
    return column


class Part(NamedTuple):
    """A stretch of columns, from ``start`` to before ``stop``, and its first delta's position in the log."""

    columns: Columns
    start: int
    stop: int
    position: int


class DeltaSequence:
    """The deltas of a log: an :class:`EventLog` keeps them, replay and history read them.

    Attributes:
        triples: the table of the triples that the deltas change.
        prefixes: names for IRIs, which queries and texts of its states know; forks, copies and pickles keep
            them. They are no part of the record: neither its file nor its digest has them.
    """

    def __init__(self) -> None:
        self.triples = Triples()
        self.prefixes: dict[str, object] = {}
        self._parts: tuple[Part, ...] = ()
        self._own = Columns()
        self._settled = 0

    def _share(self, other: DeltaSequence, start: int, stop: int) -> None:
        """Add the deltas of a record whose triples this one's table lies on, without a copy."""
        self._parts = self._all_parts()
        self._settled = len(self)
        for columns, first, last in other.pieces(start, stop):
            self._parts += (Part(columns, first, last, self._settled),)
            self._settled += last - first
        if len(self._own):
            self._own = Columns()

    def _all_parts(self) -> tuple[Part, ...]:
        own = len(self._own)
        return (*self._parts, Part(self._own, 0, own, self._settled)) if own else self._parts

    def pieces(self, start: int, stop: int | None) -> Iterator[tuple[Columns, int, int]]:
        """The stretches of columns that hold the deltas from position ``start`` to ``stop``."""
        for columns, first, last, position in self._all_parts():
            a = max(first, first + start - position)
            b = last if stop is None else min(last, first + stop - position)
            if a < b:
                yield columns, a, b

    def _place(self, position: int) -> tuple[Columns, int, Part]:
        for part in reversed(self._all_parts()):
            if position >= part.position:
                return part.columns, part.start + position - part.position, part
        raise IndexError(position)

    # Reading

    def __len__(self) -> int:
        return self._settled + len(self._own)

    @overload
    def __getitem__(self, position: int) -> Delta: ...

    @overload
    def __getitem__(self, position: slice) -> tuple[Delta, ...]: ...

    def __getitem__(self, position: int | slice) -> Delta | tuple[Delta, ...]:
        """The delta at a position, or those of a slice of positions; :meth:`between` goes by ticks.

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
        columns, place, _ = self._place(position % length)
        triple = triple_of(self.triples.quad(columns.numbers[place]))
        return Delta._make((columns.ticks[place], _OPS[columns.inserts[place]], triple))

    def when(self, position: int) -> tuple[int, Op]:
        """Tick and operation of the delta at a position."""
        columns, place, _ = self._place(position)
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
        """The deltas from a position to before another, or to the end that there is when it is reached."""
        while position < (end := len(self) if stop is None else stop):
            end = min(end, position + _CHUNK)
            ticks = chain.from_iterable(c.ticks[a:b] for c, a, b in self.pieces(position, end))
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
        return sorted({tick for columns, a, b in self.pieces(0, None) for tick in columns.ticks[a:b]})

    def position(self, tick: int) -> int:
        """The number of deltas with a tick <= ``tick``."""
        for columns, start, stop, position in reversed(self._all_parts()):
            if columns.ticks[start] <= tick:
                return position + bisect_right(columns.ticks, tick, start, stop) - start
        return 0

    def changes(self, start: int = 0, stop: int | None = None) -> Iterator[tuple[Op, ox.Quad]]:
        """Operation and quad of the deltas from position ``start`` to ``stop``, as a store takes them."""
        for columns, a, b in self.pieces(start, stop):
            for first in range(a, b, _CHUNK):
                last = min(b, first + _CHUNK)
                ops = [_OPS[insert] for insert in columns.inserts[first:last]]
                yield from zip(ops, self.triples.quads(columns.numbers[first:last]), strict=True)

    def steps(self, start: int = 0, stop: int | None = None) -> Iterator[tuple[int, int]]:
        """The same as numbers: 1 for an insertion and 0 for a retraction, and the triple's number."""
        return chain.from_iterable(
            zip(columns.inserts[a:b], columns.numbers[a:b].tolist(), strict=True)
            for columns, a, b in self.pieces(start, stop)
        )

    def lines(self, start: int = 0, stop: int | None = None) -> Iterator[tuple[int, list[str]]]:
        """Tick by tick, the deltas from position ``start`` to ``stop`` as lines of RDF Patch."""
        stop = len(self) if stop is None else stop
        while start < stop:
            # A chunk ends where a tick does, so that no tick is given in two
            columns, place, _ = self._place(min(stop, start + _CHUNK) - 1)
            end = min(stop, self.position(columns.ticks[place]))
            ticks = array("q")
            inserts = bytearray()
            texts: list[str] = []
            for columns, a, b in self.pieces(start, end):
                ticks.extend(columns.ticks[a:b])
                inserts += columns.inserts[a:b]
                texts += self.triples.texts(columns.numbers[a:b])
            yield from by_tick(ticks, inserts, texts)
            start = end

    # One triple

    def stood(self, number: int, position: int) -> bool:
        """Tell whether a triple stands after the first ``position`` deltas."""
        for columns, start, stop, offset in reversed(self._all_parts()):
            if position > offset:
                place = columns.latest(number, start, min(stop, start + position - offset))
                if place >= 0:
                    return bool(columns.inserts[place])
        return False

    def stand(self, numbers: Iterable[int], position: int) -> set[int]:
        """Of some triples, those that stand after the first ``position`` deltas."""
        left = set(numbers)
        standing: set[int] = set()
        for columns, start, stop, offset in reversed(self._all_parts()):
            if position > offset and left:
                last = columns.last_of(left, start, min(stop, start + position - offset))
                standing.update(number for number, place in last.items() if columns.inserts[place])
                left -= last.keys()
        return standing

    def mentions(self, number: int) -> list[int]:
        """The positions of the deltas that insert or retract a triple, ascending."""
        return [
            position + place - start
            for columns, start, stop, position in self._all_parts()
            for place in columns.places(number, start, stop)
        ]

    def net(self, start: int, stop: int) -> tuple[list[int], list[int]]:
        """Triples that stand after ``stop`` deltas and not after ``start``, and the reverse, by number."""
        before: dict[int, int] = {}
        final: dict[int, int] = {}
        unknown: list[int] = []
        for columns, first, last, position in self._all_parts():
            a, b = max(first, first + start - position), min(last, first + stop - position)
            if a >= b:
                continue
            reach, previous, inserts = columns.index(), columns.previous, columns.inserts
            for place, number in enumerate(columns.numbers[a:b], start=a):
                if number not in before:
                    earlier = previous[place] if place < reach else -1
                    before[number] = inserts[earlier] if earlier >= first else 0
                    if earlier < first and (position or place >= reach):
                        unknown.append(number)
                final[number] = inserts[place]
        before.update(dict.fromkeys(self.stand(unknown, start), 1))
        inserted = [number for number, insert in final.items() if insert and not before[number]]
        retracted = [number for number, insert in final.items() if before[number] and not insert]
        return inserted, retracted
