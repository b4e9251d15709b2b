"""The difference of two measurements in numbers, each with its test, and in answers: every report of a
drift or an experiment says this first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import chain, islice, zip_longest
from typing import Any

import msgspec

from orchestration.benchmarks.benchmark import Benchmark
from orchestration.ledger.manifest import Made, PinnedRow, Pins
from orchestration.ledger.pinned import row_change
from orchestration.registry import BENCHMARKS
from orchestration.scoring.counting import RIGHT, compared, counts_for, outcomes, split_name
from orchestration.scoring.statistics import wilson

_DIGITS = 6


class Count(msgspec.Struct, frozen=True):
    """The number of right answers; accuracy and its 95 % interval (Wilson) are proportions."""

    correct: int
    n: int
    accuracy: float | None
    wilson: tuple[float, float] | None


class ComparedNumber(msgspec.Struct, frozen=True):
    """A number on both sides.

    Attributes:
        name: BENCHMARK/SUBSET/METRIC.
        before: in the base.
        after: in what is compared with it.
        same: whether nothing that is counted differs, question by question where these are paired.
        difference: accuracy after minus before, as a proportion.
        newcombe: its 95 % interval, of paired questions.
        won: questions that were wrong before and are right after.
        lost: those that were right before and are wrong after.
        mcnemar: the exact two-sided p of McNemar's test on these two.
        unpaired: why there is no such test; empty where there is one.
    """

    name: str
    before: Count
    after: Count
    same: bool
    difference: float | None
    newcombe: tuple[float, float] | None = None
    won: int | None = None
    lost: int | None = None
    mcnemar: float | None = None
    unpaired: str = ""


class ComparedRow(msgspec.Struct, frozen=True):
    """A row that is not as it was; an answer that one side lacks is ``None``.

    Attributes:
        benchmark: whose row it is.
        subset: of the benchmark.
        answer: its name, as `explain` takes it.
        change: in words, such as ``wrong to right``.
        expected: the gold.
        before: what was answered in the base.
        after: what is answered in what is compared with it.
    """

    benchmark: str
    subset: str
    answer: str
    change: str
    expected: str | None
    before: str | None
    after: str | None


class Moved(msgspec.Struct, frozen=True):
    """The numbers and answers that are not what they were.

    Attributes:
        numbers: those that differ, in the order of the tables.
        changes: how many rows changed in each way, the most frequent first.
        rows: the rows.
    """

    numbers: Sequence[ComparedNumber] = ()
    changes: Mapping[str, int] = {}
    rows: Sequence[ComparedRow] = ()

    def sample(self, most: int) -> list[ComparedRow]:
        """Some of the rows: of each benchmark and way of changing in turn, in their order.

        >>> Moved().sample(10)
        []
        """
        groups: dict[tuple[str, str], list[ComparedRow]] = {}
        for row in self.rows:
            groups.setdefault((row.benchmark, row.change), []).append(row)
        dealt = chain.from_iterable(zip_longest(*groups.values()))
        return list(islice((row for row in dealt if row), most))


def moved(before: Pins, after: Pins) -> Moved:
    """The numbers and answers that differ between two measurements."""
    rows = rows_of(before, after)
    changes = dict(Counter(row.change for row in rows).most_common())
    return Moved([one for one in numbers_of(before, after) if not one.same], changes, rows)


def numbers_of(before: Pins, after: Pins) -> list[ComparedNumber]:
    """Every number that two measurements have, in the order of the tables."""
    found: list[ComparedNumber] = []
    for benchmark in BENCHMARKS.values():
        scores, answers = f"{benchmark.name}/scores", f"{benchmark.name}/answers"
        if scores not in before or scores not in after:
            continue
        old, new = before[scores].scores, after[scores].scores
        both = [side.get(answers) for side in (before, after)]
        measured = [name for name in benchmark.numbers if name in old and name in new and old[name][1]]
        found += (_number(benchmark, name, old[name], new[name], *both) for name in measured)
    return found


def _number(
    benchmark: Benchmark,
    name: str,
    old: tuple[int, int],
    new: tuple[int, int],
    before: Made | None,
    after: Made | None,
) -> ComparedNumber:
    counts = count_of(*old), count_of(*new)
    one, other = (count.accuracy for count in counts)
    apart = round(other - one, _DIGITS) if one is not None and other is not None else None
    sides = [_outcomes(benchmark, name, side.rows) if side else None for side in (before, after)]
    if unpaired := _unpaired(name, before, after, sides, (old, new)):
        return ComparedNumber(name, *counts, old == new, apart, unpaired=unpaired)
    was, is_ = (side or {} for side in sides)
    found = compared("", "", is_, was)
    won, lost = found.first_only, found.second_only
    return ComparedNumber(name, *counts, won == lost == 0, apart, found.newcombe, won, lost, found.mcnemar)


def count_of(correct: int, n: int) -> Count:
    """The proportion of some counts, with its interval; neither for none, nor for more right ones than there
    are: such counts were edited.
    """
    if not n or not 0 <= correct <= n:
        return Count(correct, n, None, None)
    low, high = wilson(correct, n)
    return Count(correct, n, round(correct / n, _DIGITS), (round(low, _DIGITS), round(high, _DIGITS)))


def _unpaired(
    name: str,
    before: Made | None,
    after: Made | None,
    sides: Sequence[Mapping[Any, bool] | None],
    counts: Sequence[tuple[int, int]],
) -> str:
    """Why two sides of a number are not paired; empty where they are."""
    if name.endswith("/per_option"):
        return "options of one question hang together: its per_question is tested"
    if before is None or after is None or sides[0] is None or sides[1] is None:
        return "not counted from right and wrong rows"
    if _data(before) != _data(after) or sides[0].keys() != sides[1].keys():
        return "not asked of the same data"
    for side, count in zip(sides, counts, strict=True):
        if side is not None and (sum(side.values()), len(side)) != count:
            return "its rows do not give its counts"
    return ""


def _data(pinned: Made) -> dict[str, str]:
    return {path: digest for path, digest in pinned.inputs.items() if path.startswith("data/")}


def _outcomes(benchmark: Benchmark, name: str, rows: Mapping[Any, PinnedRow]) -> Mapping[Any, bool] | None:
    """The right ones of a number's questions, or of scenes of them; ``None`` where its rows do not say."""
    metric = benchmark.metrics[split_name(name)[1]]
    if metric is not RIGHT and not metric.together:
        return None
    wanted = [row for row in rows.values() if counts_for(row, name)]
    if metric.together:
        return outcomes(sorted(wanted, key=lambda row: (str(row.scene), str(row.question))), metric)
    return {row.name: bool(row.correct) for row in wanted}


def rows_of(before: Pins, after: Pins) -> list[ComparedRow]:
    """Every row that differs, by benchmark, in the order of its answers."""
    found: list[ComparedRow] = []
    for benchmark in BENCHMARKS.values():
        name = f"{benchmark.name}/answers"
        if name not in before or name not in after:
            continue
        old, new = before[name].rows, after[name].rows
        for key in {**old, **new}:
            was, is_ = old.get(key), new.get(key)
            if was is None or is_ is None or _told(was) != _told(is_):
                found.append(_row(benchmark, was, is_))
    return found


def _told(row: PinnedRow) -> tuple[object, ...]:
    return row.predicted, row.expected, row.correct


def _row(benchmark: Benchmark, was: PinnedRow | None, is_: PinnedRow | None) -> ComparedRow:
    row: Any = is_ or was
    return ComparedRow(
        benchmark.name,
        row.subset,
        benchmark.answer_name(row),
        row_change(was, is_),
        row.expected,
        was.predicted if was else None,
        is_.predicted if is_ else None,
    )
