"""Allen's relations between intervals of valid time (J. F. Allen, "Maintaining Knowledge about Temporal
Intervals", 1983), for intervals that begin at a moment and end before another, or have no end.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Literal, NamedTuple, get_args

import pyoxigraph as ox

from substrate.base.delta import Triple, quads_of, text_of, triple_of
from substrate.base.errors import ParameterError
from substrate.memory._index import Bounds
from substrate.memory.records import Moment, moment, same_clock

Relation = Literal[
    "before",
    "meets",
    "overlaps",
    "finished_by",
    "contains",
    "starts",
    "equals",
    "started_by",
    "during",
    "finishes",
    "overlapped_by",
    "met_by",
    "after",
]
"""The relations: of two intervals exactly one holds, and the inverse is as far from the other end."""
RELATIONS: tuple[Relation, ...] = get_args(Relation)


class Held(NamedTuple):
    """A fact and the moments between which a record says that it holds: from ``first`` on, and at ``last`` no
    more; ``None`` where it has no end.
    """

    said: Triple
    first: Moment
    last: Moment | None


def allen(a: tuple[Moment, Moment | None], b: tuple[Moment, Moment | None]) -> Relation:
    """The relation in which one interval stands to another, both as (first moment, first moment after).

    Raises:
        ParameterError: an interval ends before it begins, or the two are by different clocks.

    >>> allen((1, 4), (4, None)), allen((4, None), (1, 4)), allen((2, 3), (1, None))
    ('meets', 'met_by', 'during')
    """
    one, other = _checked(a, "a"), _checked(b, "b")
    if not same_clock(one[0], other[0]):
        hint = "Compare ticks with ticks, and times with times"
        raise ParameterError("one interval is of ticks and one of times", where=("b",), hint=hint)
    if (gap := _order(one[1], other[0])) <= 0:
        return "meets" if gap == 0 else "before"
    if (gap := _order(other[1], one[0])) <= 0:
        return "met_by" if gap == 0 else "after"
    return RELATIONS[6 + 3 * _order(one[0], other[0]) + _order(one[1], other[1])]


def intervals(
    saying: Iterable[tuple[str, Bounds]],
    predicate: ox.NamedNode | None,
    to: tuple[Moment, Moment | None] | None,
    relations: Iterable[Relation],
) -> list[Held]:
    """For :meth:`substrate.memory.memory.Memory.intervals`: what is said of a thing, with its moments."""
    wanted, found = set(relations), list[Held]()
    if unknown := wanted - set(RELATIONS):
        raise ParameterError(f"no relation {min(unknown)!r}", hint=f"Choose among {', '.join(RELATIONS)}")
    for text, bounds in saying:
        said = triple_of(quads_of([text])[0])
        clock = to[0] if to else next(iter((*bounds.first, *bounds.written)), 0)
        for first in bounds.begins(clock):
            last = next(iter(bounds.ends(clock)), None)
            if _order(first, last) >= 0 or predicate not in (None, said[1]):
                continue
            if to is None or allen((first, last), to) in wanted:
                found.append(Held(said, first, last))
    return sorted(found, key=lambda one: (isinstance(one.first, datetime), one.first, text_of(one.said)))


def _order(one: Moment | None, other: Moment | None) -> int:
    """-1, 0 or 1: earlier, the same, later; no end is later than any."""
    if one is None or other is None:
        return (one is None) - (other is None)
    return (one > other) - (one < other)  # type: ignore[operator]


def _checked(interval: tuple[Moment, Moment | None], where: str) -> tuple[Moment, Moment | None]:
    first = moment(interval[0], where)
    last = None if interval[1] is None else moment(interval[1], where)
    if last is not None and not (same_clock(first, last) and first < last):  # type: ignore[operator]
        raise ParameterError(
            f"no interval from {first} to {last}", where=(where,), hint="End after the beginning"
        )
    return first, last
