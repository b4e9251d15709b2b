"""The counter of right answers: of rows, of options, or of scenes' sets of rows, added up by number."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from orchestration.scoring.names import MEAN, name_of
from orchestration.scoring.statistics import mcnemar_exact, newcombe_paired
from substrate.domains.rows import Row, decode

# Rows that are judged together; the short rows of pins have the fields that most metrics need.
Rows = Sequence[Any]
_DIGITS = 6
# The most numbers of a benchmark that are all shown beside their mean.
_MANY = 8


class Unit(NamedTuple):
    """A question, or the questions of a scene: its rows, the right answers among them, and their total.

    ``key`` has scene and question; empty instead of the question if scenes are judged.
    """

    rows: Rows
    right: int
    n: int
    subset: str
    key: tuple[str, str]


class Metric(NamedTuple):
    """A way to count right answers and totals, in a row or in all rows of a scene."""

    measure: Callable[[Rows], tuple[int, int]]
    together: bool = False

    def units(self, rows: Iterable[Any]) -> Iterator[Unit]:
        """Judge rows, one by one or scene by scene; rows of a scene must then be adjacent."""
        by_scene = (tuple(scene) for _, scene in groupby(rows, key=lambda row: str(row.scene)))
        for of in by_scene if self.together else ((row,) for row in rows):
            first = of[0]
            key = str(first.scene), "" if self.together else str(first.question)
            yield Unit(of, *self.measure(of), first.subset, key)


def _right(rows: Rows) -> tuple[int, int]:
    return int(bool(rows[0].correct)), 1


def _options(rows: Rows) -> tuple[int, int]:
    choices = rows[0].choices or []
    return sum(choice.predicted == choice.expected for choice in choices), len(choices)


def _facts(rows: Rows) -> tuple[int, int]:
    expected = rows[0].expected_supporting or ()
    return int(bool(expected) and sorted(rows[0].supporting or ()) == sorted(expected)), int(bool(expected))


RIGHT = Metric(_right)
# The metrics of questions that are judged singly.
METRICS: Mapping[str, Metric] = {
    "accuracy": RIGHT,
    "per_question": RIGHT,
    "per_option": Metric(_options),
    "supporting": Metric(_facts),
}


def is_detail(number: str, every: Iterable[str]) -> bool:
    """Tell whether a number is one of many parts of a mean, which stands for them where space is short.

    Args:
        every: the numbers among which the mean and its parts are looked for.

    >>> tasks = [f"meadow/day{day}/accuracy" for day in range(9)]
    >>> is_detail(tasks[0], tasks), is_detail(tasks[0], ["meadow/mean/accuracy", *tasks])
    (False, True)
    """
    name = name_of(number)
    siblings = [other for other in map(name_of, every) if other.benchmark == name.benchmark]
    return name.subset != MEAN and len(siblings) > _MANY and name._replace(subset=MEAN) in siblings


def counts_for(row: Any, number: str) -> bool:
    """Tell whether a row counts for a number: it has gold, and the number's subset if that has one."""
    return row.correct is not None and name_of(number).covers(row.subset)


def rows_of(answers: Path) -> Iterator[Row]:
    """Yield the rows of a file of answers as they are read."""
    with answers.open("rb") as lines:
        yield from map(decode, lines)


def graded_rows(answers: Path) -> Iterator[Row]:
    """The rows of a file of answers that have gold."""
    return (row for row in rows_of(answers) if row.correct is not None)


def line_count(path: Path) -> int:
    """The number of lines of a file; 0 if it does not exist."""
    if not path.is_file():
        return 0
    with path.open("rb") as lines:
        return sum(1 for _ in lines)


def count(answers: Path, names: Collection[str], metrics: Mapping[str, Metric]) -> dict[str, tuple[int, int]]:
    """Count right answers and totals by number, over the rows of an answers file that have gold."""
    units = {name: metrics[name].units(graded_rows(answers)) for name in {name_of(n).metric for n in names}}
    totals = _added(((unit.subset, name), unit) for name, of in units.items() for unit in of)
    counts: dict[str, tuple[int, int]] = {}
    for name in names:
        wanted = name_of(name)
        cells = [totals[key] for key in totals if key[1] == wanted.metric and wanted.covers(key[0])]
        counts[name] = sum(right for right, _ in cells), sum(n for _, n in cells)
    return counts


def total(units: Iterable[Unit]) -> tuple[int, int]:
    """Add up the right answers and the totals of some units."""
    return _added((("", ""), unit) for unit in units)["", ""]


def scene_counts(rows: Iterable[Any], metric: Metric) -> list[tuple[int, int]]:
    """Right answers and total of each scene, which questions share; scenes without a total are left out."""
    totals = _added(((unit.subset, unit.key[0]), unit) for unit in metric.units(rows))
    return [(right, n) for right, n in totals.values() if n]


def _added(units: Iterable[tuple[tuple[str, str], Unit]]) -> defaultdict[tuple[str, str], tuple[int, int]]:
    """The right answers and totals of some units, added up by the keys before them; none of them is kept."""
    totals = defaultdict[tuple[str, str], tuple[int, int]](lambda: (0, 0))
    for key, unit in units:
        right, n = totals[key]
        totals[key] = right + unit.right, n + unit.n
    return totals


def outcomes(rows: Iterable[Any], metric: Metric) -> dict[tuple[str, str], bool]:
    """The units of some rows by scene and question, each with whether it is completely right."""
    return {unit.key: unit.right == unit.n for unit in metric.units(rows)}


# By question or scene: whether it is right.
Outcomes = Mapping[Any, bool]


class Comparison(msgspec.Struct, frozen=True):
    """Two systems on the same questions: the counts that both, only one or neither got right.

    ``difference`` is first minus second, ``newcombe`` its interval, ``mcnemar`` the exact p; or ``None``.
    """

    first: str
    second: str
    both: int
    first_only: int
    second_only: int
    neither: int
    difference: float | None
    newcombe: tuple[float, float] | None
    mcnemar: float | None

    @property
    def n(self) -> int:
        """The number of questions that both were asked."""
        return self.both + self.first_only + self.second_only + self.neither


def compare(first: Path, second: Path, metric: Metric) -> Comparison:
    """Compare two answers files on the questions or scenes that they share."""
    of_first, of_second = (outcomes(graded_rows(path), metric) for path in (first, second))
    return compared(first.parent.name, second.parent.name, of_first, of_second)


def compared(first: str, second: str, of_first: Outcomes, of_second: Outcomes) -> Comparison:
    """Compare two sets of outcomes on the keys that they share.

    Args:
        first, second: the names of the sides in the comparison; empty where the caller shows none.
        of_first, of_second: by question or scene, whether a side is right.
    """
    cells = Counter((of_first[key], of_second[key]) for key in of_first.keys() & of_second.keys())
    first_only, second_only = cells[True, False], cells[False, True]
    table = cells[True, True], first_only, second_only, cells[False, False]
    if not any(table):
        return Comparison(first, second, *table, None, None, None)
    low, high = (round(bound, _DIGITS) for bound in newcombe_paired(*table))
    apart = round((first_only - second_only) / sum(table), _DIGITS)
    p = float(f"{mcnemar_exact(first_only, second_only):.6g}")
    return Comparison(first, second, *table, apart, (low, high), p)
