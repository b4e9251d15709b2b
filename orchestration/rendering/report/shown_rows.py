"""The answers that the report shows: their results and faults, and which of them have their steps."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from operator import attrgetter
from typing import Any

import msgspec

from substrate.domains.rows import Row

RESULTS = ("right", "wrong", "error", "ungraded")


def result_of(row: Row) -> str:
    """The result of an answer, as :data:`RESULTS` names it."""
    if row.error is not msgspec.UNSET:
        return "error"
    return {None: "ungraded", True: "right", False: "wrong"}[row.correct]


def first_rows(
    rows: Iterable[Row], wrong: int | None, others: int, group: Callable[[Row], Any] = attrgetter("subset")
) -> Iterator[Row]:
    """The first rows of each subset, or of another group.

    Args:
        wrong: the most rows of a group that are wrong or cannot run; ``None`` for all.
        others: the most other rows of a group.
    """
    taken = Counter[tuple[Any, bool]]()
    for row in rows:
        is_wrong = result_of(row) in ("wrong", "error")
        alike, most = (group(row), is_wrong), wrong if is_wrong else others
        taken[alike] += 1
        if most is None or taken[alike] <= most:
            yield row


def fault(row: Row) -> str:
    """Say what is wrong with an answer, so that answers with the same fault form a group."""
    if row.error is not msgspec.UNSET:
        return f"cannot run: {row.error}"
    if row.choices is msgspec.UNSET:
        return f"“{row.predicted}” instead of “{row.expected}”"
    faults = {choice.predicted for choice in row.choices if choice.predicted != choice.expected}
    if len(faults) > 1:
        return "a choice that holds is denied, and another that does not hold is affirmed"
    if faults == {"correct"}:
        return "a choice that does not hold is affirmed"
    return "a choice that holds is denied"


def limit_for(wrong: Sequence[int], most: int) -> int | None:
    """The most wrong rows to take from each subset so that the total stays within ``most``.

    >>> limit_for([7, 30, 50], 60), limit_for([7, 30, 50], 90)
    (26, None)
    """
    if sum(wrong) <= most:
        return None
    return max(n for n in range(most + 1) if sum(min(n, count) for count in wrong) <= most)
