"""Numbers in sentences."""

from __future__ import annotations


def counted(number: int, noun: str) -> str:
    """A number with its noun.

    >>> counted(1, "delta"), counted(2, "delta")
    ('1 delta', '2 deltas')
    """
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
