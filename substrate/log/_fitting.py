"""The triples of a table that fit a pattern, found by their first terms or by their last ones.

The first patterns are looked for in all texts, and what fits them is kept. Once that has cost as much, the
texts are put in order: a place in each of two orders takes four bytes a triple. The orders follow the table
in runs, of which each is more than twice as long as the next.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence

from substrate.sparql.patterns import Pattern

_STRETCH = 1 << 10
"""Triples whose spellings are looked through at once: together they lie in a processor's cache."""
_PAYS = 16
"""The times that a table is looked through at the cost of putting it in order."""


class Orders:
    """The orders of a list of spelled triples, which only grows.

    >>> orders = Orders(["<urn:b> <urn:p> <urn:o>", "<urn:a> <urn:p> <urn:o>", "<urn:a> <urn:q> <urn:o>"])
    >>> [list(found) for found in orders.fitting(Pattern(None, "<urn:p>", "<urn:o>"))]
    [[0, 1]]
    """

    def __init__(self, texts: list[str]) -> None:
        self._texts = texts
        self._first = _Order(texts.__getitem__)
        self._last = _Order(lambda number: _behind_subject(texts[number]))
        self._looked = 0
        self._known: dict[Pattern, tuple[int, array[int]]] = {}

    def unread(self, pattern: Pattern) -> int:
        """The number of texts that are looked at to find what fits."""
        if not (pattern.subject or pattern.predicate) or self._looked >= _PAYS * len(self._texts):
            return 0
        return len(self._texts) - self._known.get(pattern, (0,))[0]

    def fitting(self, pattern: Pattern) -> Iterator[Sequence[int]]:
        """The numbers of the triples that fit, in some sequences: all that do, and perhaps others."""
        subject, predicate, object_ = pattern
        size = len(self._texts)
        if subject is None and predicate is None:
            return iter((range(size),))
        if self._looked < _PAYS * size:
            return iter((self._looked_through(pattern),))
        if subject is not None:
            start = f"{subject} " if predicate is None else f"{subject} {predicate} "
            return self._first.between(start, size)
        if object_ is None:
            return self._last.between(f"{predicate} ", size)
        return self._last.between(f"{predicate} {object_}", size, exactly=True)

    def _looked_through(self, pattern: Pattern) -> array[int]:
        done, numbers = self._known.get(pattern, (0, array("I")))
        subject, predicate, object_ = pattern
        part = f" {predicate} {object_ or ''}"
        if subject is not None:
            part = f"{subject} " if predicate is None else f"{subject} {predicate} "
        numbers.extend(containing(self._texts, part, done))
        self._looked += len(self._texts) - done
        self._known[pattern] = len(self._texts), numbers
        return numbers


def containing(texts: Sequence[str], part: str, first: int = 0) -> Iterator[int]:
    """The numbers of the texts, from one on, that have a part; a stretch without it is passed over at once.

    >>> list(containing(['<urn:s> <urn:p> "a"', '<urn:s> <urn:q> "a"'], " <urn:q> "))
    [1]
    """
    for start in range(first, len(texts), _STRETCH):
        stretch = texts[start : start + _STRETCH]
        if part in "\n".join(stretch):
            yield from [number for number, text in enumerate(stretch, start) if part in text]


class _Order:
    """Numbers from 0 on, sorted by a text of each."""

    def __init__(self, key: Callable[[int], str]) -> None:
        self._key = key
        self._runs: list[array[int]] = []
        self._size = 0

    def between(self, start: str, size: int, *, exactly: bool = False) -> Iterator[array[int]]:
        """Those of the first ``size`` whose text begins with ``start``, or is it."""
        self._grow(size)
        # No text goes on by these: they are the characters before and behind the space of `start`
        stop = f"{start}\0" if exactly else f"{start[:-1]}!"
        for run in self._runs:
            first = bisect_left(run, start, key=self._key)
            yield run[first : bisect_left(run, stop, first, key=self._key)]

    def _grow(self, size: int) -> None:
        new: Iterable[int] = range(self._size, size)
        if not new:
            return
        merged = list(new)
        while self._runs and len(self._runs[-1]) <= 2 * len(merged):
            merged = [*self._runs.pop(), *merged]
        merged.sort(key=self._key)
        self._runs.append(array("I", merged))
        self._size = size


def _behind_subject(text: str) -> str:
    return text[text.index(" ") + 1 :]
