"""Probabilities compared with the truth: each is a pair of a probability and whether the thing happened.

Sums run in the order that is given: the last bits of a mean depend on it.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from msgspec import Struct

Chances = Sequence[tuple[float, bool]]
TENTHS = [place / 10 for place in range(11)]
"""The bounds of ten bins of equal width."""


class Bin(Struct, frozen=True):
    """Things of like probability: their number, their mean stated probability, and how many happened."""

    n: int
    said: float
    right: int

    @property
    def share(self) -> float:
        """The share that happened."""
        return self.right / self.n


def brier(chances: Chances) -> float:
    """Mean squared distance of probability and truth.

    >>> brier([(1.0, True), (0.5, False)])
    0.125
    """
    return sum((chance - true) ** 2 for chance, true in chances) / len(chances)


def binned(chances: Chances, bounds: Sequence[float]) -> dict[tuple[float, float], Bin]:
    """The bins between successive bounds, by their bounds; empty bins are left out.

    A probability at a bound is in the bin above it, and 1 in the last bin.

    >>> binned([(0.25, False), (0.75, True), (1.0, True), (0.5, False)], (0, 0.5, 1))[0.5, 1]
    Bin(n=3, said=0.75, right=2)
    """
    bins: dict[tuple[float, float], Bin] = {}
    for low, high in pairwise(bounds):
        here = [pair for pair in chances if low <= pair[0] < high or pair[0] == high == bounds[-1]]
        if here:
            mean = sum(chance for chance, _ in here) / len(here)
            bins[low, high] = Bin(len(here), mean, sum(true for _, true in here))
    return bins
