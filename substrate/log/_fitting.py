"""The triples of a table that fit a pattern, found by their first or last terms.

The first patterns are searched in samples (some characters of each text), and the matches are kept. Once the
searches have cost as much as sorting, the texts are sorted in two orders, at four bytes per triple and order.
The orders follow the table in runs; each run is more than twice as long as the next.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from operator import itemgetter

from substrate.sparql.patterns import Pattern

# Triples whose spellings are sampled or searched at once: together they fit into a processor's cache
_STRETCH = 1 << 10
# The characters of a sample
_WIDE = 8
# The number of samples that can be read at the cost of a whole text
_QUICK = 16
# The number of searches through a table at the cost of sorting it
_PAYS = 16


class Orders:
    """The orders of a list of spelled triples, which only grows.

    >>> orders = Orders(["<urn:b> <urn:p> <urn:o>", "<urn:a> <urn:p> <urn:o>", "<urn:a> <urn:q> <urn:o>"])
    >>> [list(numbers) for numbers in orders.fitting(Pattern(None, "<urn:p>", "<urn:o>"))]
    [[0, 1]]
    """

    def __init__(self, texts: list[str]) -> None:
        self._texts = texts
        self._first = _Order(texts.__getitem__)
        self._last = _Order(lambda number: _after_subject(texts[number]))
        self._spent = 0  # the cost of all scans so far
        # For each pattern, the number of texts that were scanned, and the matches among them
        self._known: dict[Pattern, tuple[int, array[int]]] = {}
        # For each stretch, the joined samples of its texts: a part of each subject, and the end of each text
        self._starts: list[str] = []
        self._ends: list[str] = []
        self._cut = slice(-_WIDE, None)

    def sample(self) -> None:
        """Sample the new texts, a stretch at a time; this costs least right after the texts were made."""
        while (size := len(self._ends) * _STRETCH) + _STRETCH <= len(self._texts):
            stretch = self._texts[size : size + _STRETCH]
            if not size:
                self._cut = _distinctive({text[: text.index(" ")] for text in stretch})
            cut = self._cut
            self._starts.append("".join([text[: text.index(" ")][cut].rjust(_WIDE) for text in stretch]))
            self._ends.append("".join(map(itemgetter(slice(-_WIDE, None)), stretch)))

    def search_cost(self, pattern: Pattern) -> int:
        """The cost of a search for a pattern, in whole texts read; sixteen samples count as one text."""
        if not (pattern.subject or pattern.predicate) or self._spent >= _PAYS * len(self._texts):
            return 0
        left = len(self._texts) - self._known.get(pattern, (0,))[0]
        return left // _QUICK if self._key(pattern, _part(pattern))[1] else left

    def fitting(self, pattern: Pattern) -> Iterator[Sequence[int]]:
        """The numbers, in sequences, of all triples that fit, and perhaps of others.

        An object that ends in a space matches every object that begins with it.
        """
        subject, predicate, object_ = pattern
        size = len(self._texts)
        if subject is None and predicate is None:
            return iter((range(size),))
        if self._spent < _PAYS * size:
            return iter((self._scan(pattern),))
        if subject is not None:
            start = f"{subject} " if predicate is None else f"{subject} {predicate} "
            return self._first.between(start, size)
        if object_ is None:
            return self._last.between(f"{predicate} ", size)
        return self._last.between(f"{predicate} {object_}", size, exactly=object_[-1] != " ")

    def _scan(self, pattern: Pattern) -> array[int]:
        done, numbers = self._known.get(pattern, (0, array("I")))
        self._spent += self.search_cost(pattern)
        self.sample()
        part = _part(pattern)
        numbers.extend(
            number for number in self._candidates(pattern, part, done) if part in self._texts[number]
        )
        self._known[pattern] = len(self._texts), numbers
        return numbers

    def _candidates(self, pattern: Pattern, part: str, first: int) -> Iterator[int]:
        """The numbers, from ``first`` on, of the triples that may contain a part."""
        unsampled = max(first, len(self._ends) * _STRETCH)
        samples, key = self._key(pattern, part)
        if key:
            for start in range(first - first % _STRETCH, len(self._ends) * _STRETCH, _STRETCH):
                stretch = samples[start // _STRETCH]
                place = stretch.find(key)
                while place >= 0:
                    if place % _WIDE == 0 and start + place // _WIDE >= first:
                        yield start + place // _WIDE
                    place = stretch.find(key, place + 1)
        else:
            unsampled = first
        yield from containing(self._texts, part, unsampled)

    def _key(self, pattern: Pattern, part: str) -> tuple[list[str], str]:
        """The samples to search for a part, and the part's own sample; empty if the part has none."""
        if pattern.subject is not None:
            return self._starts, pattern.subject[self._cut].rjust(_WIDE)
        return self._ends, "" if pattern.object is None or part[-1] == " " else part[-_WIDE:]


def _part(pattern: Pattern) -> str:
    subject, predicate, object_ = pattern
    if subject is None:
        return f" {predicate} {object_ or ''}"
    return f"{subject} " if predicate is None else f"{subject} {predicate} "


def _distinctive(subjects: Collection[str]) -> slice:
    """The part of a subject, counted from its end, that distinguishes most subjects."""
    cuts = [slice(-_WIDE - left, -left or None) for left in range(0, 64, _WIDE)]
    return max(cuts, key=lambda cut: len({subject[cut] for subject in subjects}))


def containing(texts: Sequence[str], part: str, first: int = 0) -> Iterator[int]:
    """The numbers of the texts, from ``first`` on, that contain a part; skips stretches without it.

    >>> list(containing(['<urn:s> <urn:p> "a"', '<urn:s> <urn:q> "a"'], " <urn:q> "))
    [1]
    """
    for start in range(first, len(texts), _STRETCH):
        stretch = texts[start : start + _STRETCH]
        if part in "\n".join(stretch):
            yield from [number for number, text in enumerate(stretch, start) if part in text]


class _Order:
    """Numbers from 0 on, sorted by each number's text."""

    def __init__(self, key: Callable[[int], str]) -> None:
        self._key = key
        self._runs: list[array[int]] = []
        self._size = 0

    def between(self, start: str, size: int, *, exactly: bool = False) -> Iterator[array[int]]:
        """The numbers below ``size`` whose text begins with ``start`` or, with ``exactly``, equals it."""
        self._grow(size)
        # `\0` is the least character; `!` is the next one after the space that ends `start`
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


def _after_subject(text: str) -> str:
    return text[text.index(" ") + 1 :]
