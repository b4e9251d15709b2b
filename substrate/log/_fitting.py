"""The triples of a table that fit a pattern, found by their first terms or by their last ones.

A place in each of two orders takes four bytes a triple. The orders are made when they are first asked for,
and follow the table in runs, of which each is more than twice as long as the next.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence

from substrate.sparql.patterns import Pattern


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

    def fitting(self, pattern: Pattern) -> Iterator[Sequence[int]]:
        """The numbers of the triples that fit, in some sequences: all that do, and perhaps others."""
        subject, predicate, object_ = pattern
        if subject is not None:
            start = f"{subject} " if predicate is None else f"{subject} {predicate} "
            return self._first.between(start, len(self._texts))
        if predicate is None:
            return iter((range(len(self._texts)),))
        if object_ is None:
            return self._last.between(f"{predicate} ", len(self._texts))
        return self._last.between(f"{predicate} {object_}", len(self._texts), exactly=True)


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
