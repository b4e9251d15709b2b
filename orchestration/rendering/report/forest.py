"""The forest plot of the report: measurements with intervals, and published figures, on one axis."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import NamedTuple

from orchestration.scoring.comparability import stated
from orchestration.scoring.published import published
from orchestration.scoring.scores import Score


class Forest(NamedTuple):
    """A forest plot of groups of labelled numbers.

    Attributes:
        groups: the labelled numbers by benchmark.
        systems: the systems with published figures of these numbers, in the order of the legend.
        start: the proportion at which the axis begins; it ends at 1.
        words: from a score and a system to the words for the system's figure.
    """

    groups: Mapping[str, Collection[tuple[str, Score]]]
    systems: Sequence[str]
    start: float
    words: Callable[[Score, str], str]

    def place(self, value: float) -> float:
        """Return the position of a proportion in percent of the axis."""
        return round(100 * (value - self.start) / (1 - self.start), 2)

    @property
    def axis(self) -> list[tuple[float, str]]:
        """The labels of the axis, each after its position."""
        return [(self.place(tick / 100), f"{tick}") for tick in range(100, round(100 * self.start) - 1, -20)]


def forest(
    groups: Mapping[str, Collection[tuple[str, Score]]],
    low: float = 1.0,
    words: Callable[[Score, str], str] = stated,
) -> Forest:
    """Make the forest plot of some groups.

    Args:
        low: the axis begins here, as a proportion, or below the least value.
        words: from a score and a system to the words for the system's figure.
    """
    every = [score for numbers in groups.values() for _, score in numbers]
    values = [value for score in every for value in (*(score.wilson or ()), *score.published.values())]
    start = min(low, math.floor(10 * min(values, default=0)) / 10)
    there = {who for score in every for who in score.published}
    return Forest(groups, [who for who in published().systems if who in there], start, words)
