"""Interval estimates for counts of correct answers."""

from __future__ import annotations

from scipy.stats import binomtest


def wilson(correct: int, n: int, confidence: float = 0.95) -> tuple[float, float]:
    """Wilson's score interval of a proportion (E. B. Wilson, JASA 22, 1927), without continuity correction.

    Args:
        correct: successes, 0 <= correct <= n.
        n: trials, at least 1.

    Returns:
        Lower and upper bound as proportions.

    >>> [round(100 * bound, 2) for bound in wilson(153, 300)]
    [45.37, 56.61]
    """
    interval = binomtest(correct, n).proportion_ci(confidence, method="wilson")
    return float(interval.low), float(interval.high)
