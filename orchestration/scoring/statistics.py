"""Interval estimates for counts of correct answers."""

from __future__ import annotations

import math

from substrate.base.intervals import wilson


def newcombe_paired(
    both: int, first_only: int, second_only: int, neither: int, confidence: float = 0.95
) -> tuple[float, float]:
    """Interval of the difference of two paired proportions: method 10 of R.

    G. Newcombe, Statistics in Medicine 17, 1998, 2635-2650.

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
    from scipy.special import bdtr

    discordant = first_only + second_only
    # Both tails of a fair coin are equally likely.
    return min(1.0, 2 * float(bdtr(min(first_only, second_only), discordant, 0.5))) if discordant else 1.0
