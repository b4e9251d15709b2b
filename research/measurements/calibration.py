"""Probabilities compared with the truth: each is a pair of a probability and whether the thing happened."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from statistics import fmean

from msgspec import Struct

Chances = Sequence[tuple[float, bool]]


class Bin(Struct, frozen=True):
    """Things of like probability: their number, their mean probability, and the share that happened.

    Attributes:
        low: the lowest probability in the bin.
        high: the probability above all in the bin; 1 is in the last one.
    """

    low: float
    high: float
    pairs: int
    probability: float
    share: float


def brier(chances: Chances) -> float:
    """Mean squared distance of probability and truth.

    >>> brier([(1.0, True), (0.5, False)])
    0.125
    """
    return fmean((chance - true) ** 2 for chance, true in chances)


def binned(chances: Chances, bounds: Sequence[float]) -> Iterator[Bin]:
    """The things in bins between successive bounds; empty bins are left out.

    >>> list(binned([(0.25, False), (0.75, True), (1.0, True), (0.75, False)], (0, 0.5, 1)))[1]
    Bin(low=0.5, high=1, pairs=3, probability=0.8333333333333334, share=0.6666666666666666)
    """
    for low, high in pairwise(bounds):
        here = [pair for pair in chances if low <= pair[0] < high or pair[0] == high == bounds[-1]]
        if here:
            mean, share = fmean(chance for chance, _ in here), fmean(true for _, true in here)
            yield Bin(low, high, len(here), mean, share)
