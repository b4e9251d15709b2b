"""Numbers as text: formatted here from counts, so that every place prints the same digits."""

from __future__ import annotations

from orchestration.scoring.statistics import newcombe_paired, wilson


def share(correct: int, n: int) -> str:
    """A share in percent.

    >>> share(176, 373)
    '47.18 %'
    """
    return f"{100 * correct / n:.2f} %"


def bounds(correct: int, n: int) -> str:
    """Wilson's 95 % interval of a share, in percent.

    >>> bounds(153, 300)
    '[45.37, 56.61]'
    """
    return bracketed(*wilson(correct, n))


def counted(correct: int, n: int) -> str:
    """A count out of a total, with the share unless the total is 0.

    >>> counted(7727, 7738)
    '7,727 of 7,738 (99.86 %)'
    """
    return f"{correct:,} of {n:,}" + (f" ({share(correct, n)})" if n else "")


def paired(both: int, first_only: int, second_only: int, neither: int) -> str:
    """A paired difference in percentage points with Newcombe's 95 % interval.

    >>> paired(406, 94, 0, 0)
    '+18.80 pp [15.53, 22.46]'
    """
    n = both + first_only + second_only + neither
    interval = bracketed(*newcombe_paired(both, first_only, second_only, neither))
    return f"{100 * (first_only - second_only) / n:+.2f} pp {interval}"


def bracketed(low: float, high: float) -> str:
    """An interval of proportions, in percent."""
    return f"[{100 * low:.2f}, {100 * high:.2f}]"
