"""McNemar's exact test, the interval of a paired difference, and Wilson's interval for trials in clusters.

Wilson's interval for independent trials is in :mod:`substrate.base.intervals`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from substrate.base.intervals import wilson


def newcombe_paired(
    both: int, first_only: int, second_only: int, neither: int, confidence: float = 0.95
) -> tuple[float, float]:
    """Interval of the difference of two paired proportions by Newcombe's method 10.

    R. G. Newcombe, Statistics in Medicine 17, 1998, 2635-2650.

    Args:
        both: pairs that both got right.
        first_only: pairs that only the first got right.
        second_only: pairs that only the second got right.
        neither: pairs that neither got right; at least one pair in all.

    Returns:
        Lower and upper bound of first minus second, as proportions.

    >>> [round(100 * bound, 2) for bound in newcombe_paired(406, 94, 0, 0)]
    [15.53, 22.46]
    """
    n = both + first_only + second_only + neither
    first, second = both + first_only, both + second_only
    (low1, high1), (low2, high2) = wilson(first, n, confidence), wilson(second, n, confidence)
    p1, p2 = first / n, second / n
    margins = math.sqrt(first * (n - first) * second * (n - second))
    cross = both * neither - first_only * second_only
    # Positive association is corrected for continuity; negative is not.
    phi = (max(cross - n / 2, 0) if cross > 0 else cross) / margins if margins else 0.0
    below = (p1 - low1) ** 2 - 2 * phi * (p1 - low1) * (high2 - p2) + (high2 - p2) ** 2
    above = (high1 - p1) ** 2 - 2 * phi * (high1 - p1) * (p2 - low2) + (p2 - low2) ** 2
    return p1 - p2 - math.sqrt(below), p1 - p2 + math.sqrt(above)


def clustered(cells: Sequence[tuple[int, int]]) -> tuple[float, float]:
    """Wilson's 95 % interval of a share whose trials come in clusters, such as the questions about a video.

    Right answers and trials are divided by the design effect, which is at least 1 (L. Kish, Survey Sampling,
    1965, chapter 8). If every answer is right or every one wrong, the clusters count as the trials.

    Args:
        cells: right answers and trials of each cluster; at least one trial in all.

    >>> [round(100 * bound, 2) for bound in clustered([(1, 1)] * 153 + [(0, 1)] * 147)]
    [45.37, 56.61]
    >>> [round(100 * bound, 2) for bound in clustered([(3, 3)] * 51 + [(0, 3)] * 49)]
    [41.35, 60.58]
    """
    right, n, clusters = sum(r for r, _ in cells), sum(m for _, m in cells), len(cells)
    share = right / n
    simple, effect = n * share * (1 - share), n / clusters
    if simple:
        effect = max(1.0, sum((r - share * m) ** 2 for r, m in cells) / simple)
    return wilson(right / effect, n / effect)


def mcnemar_exact(first_only: int, second_only: int) -> float:
    """Exact two-sided p that two paired proportions are equal (Q. McNemar, Psychometrika 12, 1947).

    Args:
        first_only: pairs that only the first got right.
        second_only: pairs that only the second got right.

    Returns:
        The p-value; 1.0 if no pair differs.

    >>> f"{mcnemar_exact(94, 0):.2g}"
    '1e-28'
    """
    discordant = first_only + second_only
    tail = sum(math.comb(discordant, count) for count in range(min(first_only, second_only) + 1))
    # Both tails of a fair coin are equally likely.
    return min(1.0, 2 * tail / 2**discordant)
