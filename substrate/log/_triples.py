"""Triples by number, so that a log and its states hold a small integer for each triple."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

import pyoxigraph as ox

from substrate.base.ntriples import fitting as fitting
from substrate.base.ntriples import quads_of
from substrate.base.vocabulary import AWAITS
from substrate.log._fitting import Orders, containing
from substrate.log._locking import MEMORY
from substrate.sparql.patterns import Pattern

# A predicate of an agent's memory: a record awaits the moment at which its fact begins or ends. Every memory
# searches its log for it, mostly in vain
AWAITED = f" {AWAITS} "
# The number of quads that are kept with their spellings: small logs read their quads repeatedly
KEPT = 1 << 13
_CHUNK = 1 << 14


class Triples:
    """A table of triples, each once, in its canonical spelling; the table only grows.

    A table may lie on another table, and sees the triples that this base had when the upper table was made:
    so a fork adds only its own triples and shares the rest.

    Args:
        base: the table to lie on.

    >>> table = Triples()
    >>> table.number('<urn:s> <urn:p> "a"'), table.number('<urn:s> <urn:p> "b"')
    (0, 1)
    >>> above = Triples(table)
    >>> table.number('<urn:s> <urn:p> "c"'), above.number('<urn:s> <urn:p> "d"')
    (2, 2)
    >>> above.find('<urn:s> <urn:p> "a"'), above.find('<urn:s> <urn:p> "c"')
    (0, None)
    """

    __slots__ = ("_awaited", "_base", "_floor", "_numbers", "_orders", "_quads", "_sought", "_texts", "depth")

    def __init__(self, base: Triples | None = None) -> None:
        self._base = base
        self._floor = 0 if base is None else len(base)
        self.depth: int = 0 if base is None else base.depth + 1
        self._numbers: defaultdict[str, int] = defaultdict(None)
        self._texts: list[str] = []
        self._quads: dict[int, ox.Quad] = {}
        self._orders: Orders | None = None
        self._awaited: list[int] = []
        self._sought = 0  # the number of texts that were searched for what is awaited

    def __len__(self) -> int:
        return self._floor + len(self._texts)

    def find(self, text: str) -> int | None:
        """The number of a triple; ``None`` if it is not in the table."""
        table, limit = self, len(self)
        while table is not None:
            number = table._numbers.get(text)
            if number is not None and number < limit:
                return number
            table, limit = table._base, table._floor
        return None

    def number(self, text: str) -> int:
        """The number of a triple; adds the triple if it is new."""
        number = self.find(text)
        if number is None:
            number = self._numbers[text] = len(self)
            self._texts.append(text)
        return number

    def numbers(self, texts: Iterable[str]) -> list[int]:
        """The numbers of many triples; adds the new ones."""
        if self._base is not None:
            return [self.number(text) for text in texts]
        known = self._numbers
        # While the dictionary numbers new triples by itself, one pass finds all
        known.default_factory = known.__len__
        try:
            numbers = list(map(known.__getitem__, texts))
        finally:
            known.default_factory = None
        # New triples come last in the dictionary
        new = list(islice(reversed(known), len(known) - len(self._texts)))
        self._texts.extend(reversed(new))
        return numbers

    def sample(self) -> None:
        """Take samples of the texts now; otherwise the first search does it and takes longer.

        A sample is a few characters of a text at fixed places (:mod:`substrate.log._fitting`); nothing is
        random.
        """
        with MEMORY:
            for table, _ in self._below():
                table._ordered().sample()
            self.awaited()

    def awaited(self) -> list[int]:
        """The numbers of the triples by which a record awaits a moment; each text is searched once."""
        numbers: list[int] = []
        with MEMORY:
            for table, limit in self._below():
                new = containing(table._texts, AWAITED, table._sought)
                table._awaited += [number + table._floor for number in new]
                table._sought = len(table._texts)
                numbers += [number for number in table._awaited if number < limit]
        return numbers

    def keep(self, numbers: Iterable[int], quads: Iterable[ox.Quad], most: int = KEPT) -> None:
        """Keep quads that are already made, up to ``most`` per table."""
        if self._base is None:
            room = most - len(self._quads)
            if room > 0:
                self._quads.update(islice(zip(numbers, quads, strict=False), room))
            return
        for number, quad in zip(numbers, quads, strict=True):
            table = self._home(number)
            if len(table._quads) < most:
                table._quads[number] = quad

    def text(self, number: int) -> str:
        """The spelling of a triple."""
        home = self._home(number)
        return home._texts[number - home._floor]

    def texts(self, numbers: Iterable[int]) -> list[str]:
        """The spellings of many triples."""
        own, floor, base = self._texts, self._floor, self._base
        if base is None:
            return [own[number] for number in numbers]
        below = base._texts.__getitem__ if base._base is None else base.text
        return [own[number - floor] if number >= floor else below(number) for number in numbers]

    def quad(self, number: int) -> ox.Quad:
        """A triple as a quad of the default graph."""
        return next(self.quads((number,)))

    def quads(self, numbers: Sequence[int], most: int = KEPT) -> Iterator[ox.Quad]:
        """Many triples as quads of the default graph, in order; keeps up to ``most`` for later calls."""
        for start in range(0, len(numbers), _CHUNK):
            chunk = numbers[start : start + _CHUNK]
            # The fast way, for a log without a base: a fork's older quads are kept in the tables below
            quads = list(map(self._quads.get, chunk))
            if all(quad is not None for quad in quads):
                yield from quads  # pyright: ignore[reportReturnType]
                continue
            by_number = {number: self._home(number)._quads.get(number) for number in chunk}
            lacking = [number for number, quad in by_number.items() if quad is None]
            if lacking:
                made = quads_of(self.texts(lacking))
                self.keep(lacking, made, most)
                by_number.update(zip(lacking, made, strict=True))
            # All missing quads have been made
            yield from [by_number[number] for number in chunk]  # pyright: ignore[reportReturnType]

    def search_cost(self, pattern: Pattern) -> int:
        """The cost of a search for a pattern, in whole texts read; sixteen samples count as one text."""
        return sum(table._ordered().search_cost(pattern) for table, _ in self._below())

    def fitting(self, pattern: Pattern) -> list[Sequence[int]]:
        """The numbers, in sequences, of all triples that fit a pattern, and perhaps of others."""
        fitting = list[Sequence[int]]()
        with MEMORY:  # a first question samples and orders the table
            for table, limit in self._below():
                floor = table._floor
                for numbers in table._ordered().fitting(pattern):
                    if floor or limit < len(table):
                        numbers = [number + floor for number in numbers if number + floor < limit]
                    fitting.append(numbers)
        return fitting

    def _ordered(self) -> Orders:
        if self._orders is None:
            self._orders = Orders(self._texts)
        return self._orders

    def items(self) -> Iterator[tuple[int, str]]:
        """Every triple with its number."""
        for table, limit in self._below():
            yield from enumerate(table._texts[: limit - table._floor], start=table._floor)

    def shared(self, other: Triples) -> int:
        """The number below which two tables share their triples, because they lie on a common table."""
        tables = {id(table): limit for table, limit in self._below()}
        return next(
            (min(limit, tables[id(table)]) for table, limit in other._below() if id(table) in tables), 0
        )

    def _below(self) -> Iterator[tuple[Triples, int]]:
        """This table and the tables below it, each with the number below which it is visible."""
        table, limit = self, len(self)
        while table is not None:
            yield table, limit
            table, limit = table._base, table._floor

    def _home(self, number: int) -> Triples:
        """The table, this one or one below it, that a number belongs to."""
        table = self
        while number < table._floor and table._base is not None:
            table = table._base
        return table
