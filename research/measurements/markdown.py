"""Tables in Markdown as the pages of `docs/` have them, and the output of a program, line by line."""

from __future__ import annotations

import sys
from collections.abc import Iterable

from substrate.base.errors import SubstrateError
from substrate.base.intervals import wilson


def head(*names: str) -> str:
    """The first two lines of a table."""
    return f"| {' | '.join(names)} |\n|{'---|' * len(names)}"


def row(*cells: object) -> str:
    """A line of a table."""
    return f"| {' | '.join(map(str, cells))} |"


def counted(right: int, n: int, digits: int = 1) -> str:
    """A count with its share.

    >>> counted(1, 3)
    '1 of 3 (33.3 %)'
    """
    return f"{right} of {n} ({100 * right / max(1, n):.{digits}f} %)"


def with_interval(right: int, n: int) -> str:
    """A share with Wilson's interval, in per cent, and the count.

    >>> with_interval(9, 10)
    '90.00 [59.58, 98.21] (9 of 10)'
    """
    low, high = wilson(right, n)
    return f"{100 * right / n:.2f} [{100 * low:.2f}, {100 * high:.2f}] ({right} of {n})"


def print_lines(lines: Iterable[str]) -> int:
    """Print lines as soon as each is known; the exit code is 1 if the input is wrong."""
    try:
        for line in lines:
            sys.stdout.write(f"{line}\n")
            sys.stdout.flush()
    except SubstrateError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0
