"""Trivial methods on a benchmark's questions: a number is evidence only as far as it exceeds the best one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import msgspec
from msgspec.structs import replace

from orchestration.scoring.counting import Metric, Unit, compared, total
from orchestration.scoring.formatting import share
from substrate.domains.rows import Row

YES_OR_NO = {"always “yes”": "yes", "always “no”": "no"}
_OPTIONS = {"every option": "correct", "no option": "wrong"}


def always(row: Row, answer: str) -> Row:
    """A row answered by a constant; if it has options, each gets that answer."""
    if not isinstance(row.choices, list):
        return replace(row, predicted=answer, correct=row.expected == answer)
    choices = [replace(choice, predicted=answer) for choice in row.choices]
    return replace(row, choices=choices, correct=all(choice.expected == answer for choice in choices))


def constants(rows: Sequence[Row]) -> Mapping[str, str]:
    """The constant answers to some rows, by their labels in tables.

    >>> asked = {"benchmark": "b", "split": "s", "subset": "", "predicted": "", "correct": False, "log": ""}
    >>> rows = [Row(**asked, scene=0, question=0, expected=gold) for gold in ("3", "no", "3")]
    >>> constants(rows)["always the majority, “3”"]
    '3'
    """
    if any(row.choices is not msgspec.UNSET for row in rows):
        return _OPTIONS
    gold = Counter(str(row.expected) for row in rows)
    most = min(gold, key=lambda answer: (-gold[answer], answer), default="")
    return YES_OR_NO | {f"always the majority, “{most}”": most}


def counted(rows: Sequence[Row], metric: Metric, answers: Mapping[str, str]) -> dict[str, tuple[int, int]]:
    """Count, by its name, the right answers and the total of each constant answer."""
    return {way: total(metric.units(always(row, answer) for row in rows)) for way, answer in answers.items()}


def best(rows: Sequence[Row], metric: Metric, others: Mapping[str, Sequence[Row]]) -> tuple[str, str]:
    """The best trivial method on some rows, a constant or one of ``others``, after its share; and the test.

    The paired test has the questions that only the rows, then that only the method got right, and McNemar's
    exact p. Both texts are empty if nothing is counted, the test if a row counts for more than one.
    """
    fixed = {name: [always(row, answer) for row in rows] for name, answer in constants(rows).items()}
    ways: Mapping[str, Sequence[Row]] = {**fixed, **others}
    totals = {name: total(metric.units(of)) for name, of in ways.items()}
    name = max(totals, key=lambda way: totals[way][0] / totals[way][1] if totals[way][1] else 0.0)
    right, n = totals[name]
    return (f"{share(right, n)} {name}", _paired(rows, ways[name], metric)) if n else ("", "")


def _paired(rows: Sequence[Row], others: Sequence[Row], metric: Metric) -> str:
    """The paired test of some rows and a trivial method's on the same questions."""
    sides = [[*metric.units(of)] for of in (rows, others)]
    if any(unit.n > 1 for side in sides for unit in side):
        return ""
    many = len({row.subset for row in rows}) > 1

    def verdicts(units: list[Unit]) -> dict[tuple[str, ...], bool]:
        # Several subsets may number their questions alike.
        subsets = (unit.subset.partition(": ")[0] if many else "" for unit in units)
        return {(of, *unit.key): bool(unit.right) for of, unit in zip(subsets, units, strict=True) if unit.n}

    pair = compared("", "", *map(verdicts, sides))
    if pair.mcnemar is None:
        return ""
    p = f"p {pair.mcnemar:.2g}" if pair.mcnemar else "p < 1e-300"  # smaller ones are 0 in a float
    return f"{pair.first_only:,} : {pair.second_only:,}, {p}"
