"""The 95 % interval of a proportion of right answers."""

from __future__ import annotations

import math
from statistics import NormalDist


def wilson(correct: float, n: float, confidence: float = 0.95) -> tuple[float, float]:
    """Wilson's score interval of a proportion (E. B. Wilson, JASA 22, 1927), without continuity correction.

    Args:
        correct: successes, 0 <= correct <= n.
        n: trials, more than 0; ``correct`` and ``n`` are fractions if a design effect has divided them.
        confidence: the interval's confidence level, between 0 and 1.

    Returns:
        Lower and upper bound as proportions.

    >>> [round(100 * bound, 2) for bound in wilson(153, 300)]
    [45.37, 56.61]
    >>> wilson(0, 5)[0], wilson(5, 5)[1]
    (0.0, 1.0)
    """
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    share = correct / n
    middle = share + z * z / (2 * n)
    reach = z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    whole = 1 + z * z / n
    low, high = (middle - reach) / whole, (middle + reach) / whole
    return (0.0 if correct == 0 else low, 1.0 if correct == n else high)
