"""The difference of two measurements: numbers, each with its test, and answers. Every report of a drift or
an experiment begins with it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from orchestration.benchmarks.benchmark import Benchmark
from orchestration.ledger.drift import row_change
from orchestration.ledger.manifest import Made, PinnedRow, Pins, changed
from orchestration.ledger.pinned import measure, read_pins
from orchestration.registry import BENCHMARKS
from orchestration.scoring.counting import RIGHT, compared, counts_for, outcomes, split_name
from orchestration.scoring.scores import DIGITS, Count, count_of
from orchestration.stage import Stages
from orchestration.workspace.folders import Workspace


class ComparedNumber(msgspec.Struct, frozen=True):
    """A number in both measurements.

    Attributes:
        name: BENCHMARK/SUBSET/METRIC.
        before: its counts in the base.
        after: its counts in the other measurement.
        same: true if nothing that is counted differs, question by question if questions are paired.
        difference: accuracy after minus before, as a proportion.
        newcombe: the 95 % interval of the difference of paired questions.
        won: the questions that were wrong before and are right after.
        lost: the questions that were right before and are wrong after.
        mcnemar: the exact two-sided p of McNemar's test on the two.
        unpaired: why there is no such test; else empty.
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
    """A row that differs; a missing answer is ``None``.

    Attributes:
        benchmark: the row's benchmark.
        subset: the row's subset.
        answer: its name, as `explain` takes it.
        change: in words, such as ``wrong to right``.
        expected: the gold.
        before: the answer in the base.
        after: the answer in the other measurement.
    """

    benchmark: str
    subset: str
    answer: str
    change: str
    expected: str | None
    before: str | None
    after: str | None


class Moved(msgspec.Struct, frozen=True):
    """The numbers and answers that differ.

    Attributes:
        numbers: the numbers that differ, in the order of the tables.
        changes: the number of rows per kind of change, most frequent first.
        rows: the rows that differ.
    """

    numbers: Sequence[ComparedNumber] = ()
    changes: Mapping[str, int] = {}
    rows: Sequence[ComparedRow] = ()


def moved(before: Pins, after: Pins) -> Moved:
    """Find the numbers and answers that differ between two measurements."""
    rows = rows_of(before, after)
    changes = dict(Counter(row.change for row in rows).most_common())
    return Moved([number for number in numbers_of(before, after) if not number.same], changes, rows)


def moved_here(workspace: Workspace, stages: Stages, names: Iterable[str]) -> Moved:
    """The numbers and answers of some stages that differ from their pins."""
    pinned = read_pins(workspace.root, workspace.settings.profile)
    wanted = [stages[name] for name in names if name in pinned]
    return moved(pinned, measure(workspace, stages, wanted, known=pinned))


def numbers_of(before: Pins, after: Pins) -> list[ComparedNumber]:
    """Every number that two measurements have, in the order of the tables."""
    numbers: list[ComparedNumber] = []
    for benchmark in BENCHMARKS.values():
        scores, answers = (f"{benchmark.name}/{step}" for step in ("scores", "answers"))
        if scores in before and scores in after:
            old, new = before[scores].scores, after[scores].scores
            both = [side.get(answers) for side in (before, after)]
            measured = (name for name in benchmark.numbers if name in old and name in new and old[name][1])
            numbers += (_number(benchmark, name, [old[name], new[name]], both) for name in measured)
    return numbers


def _number(
    benchmark: Benchmark, name: str, counts: Sequence[tuple[int, int]], answers: Sequence[Made | None]
) -> ComparedNumber:
    """Compare a number by its counts and answers in both measurements."""
    was, is_ = (count_of(*pair) for pair in counts)
    both = None not in (was.accuracy, is_.accuracy)
    apart = round((is_.accuracy or 0) - (was.accuracy or 0), DIGITS) if both else None
    known = [(made, _outcomes(benchmark, name, made.rows)) for made in answers if made]
    units = [outcomes for _, outcomes in known if outcomes is not None]
    unpaired = ""
    if name.endswith("/per_option"):
        unpaired = "options of one question hang together: its per_question is tested"
    elif len(units) < len(counts):
        unpaired = "not counted from right and wrong rows"
    elif units[0].keys() != units[1].keys() or _data(known[0][0]) != _data(known[1][0]):
        unpaired = "not asked of the same data"
    elif [(sum(outcomes.values()), len(outcomes)) for outcomes in units] != list(counts):
        unpaired = "its rows do not give its counts"
    if unpaired:
        return ComparedNumber(name, was, is_, counts[0] == counts[1], apart, unpaired=unpaired)
    paired = compared("", "", *reversed(units))
    won, lost = paired.first_only, paired.second_only
    return ComparedNumber(name, was, is_, won == lost == 0, apart, paired.newcombe, won, lost, paired.mcnemar)


def _data(pinned: Made) -> dict[str, str]:
    return {path: digest for path, digest in pinned.inputs.items() if path.startswith("data/")}


def _outcomes(benchmark: Benchmark, name: str, rows: Mapping[Any, PinnedRow]) -> Mapping[Any, bool] | None:
    """Tell for a number's questions or scenes whether they are right; ``None`` if the rows do not say."""
    metric = benchmark.metrics[split_name(name)[1]]
    if metric is not RIGHT and not metric.together:
        return None
    wanted = [row for row in rows.values() if counts_for(row, name)]
    if metric.together:
        return outcomes(sorted(wanted, key=lambda row: (str(row.scene), str(row.question))), metric)
    return {row.name: bool(row.correct) for row in wanted}


def rows_of(before: Pins, after: Pins) -> list[ComparedRow]:
    """The rows that differ, by benchmark, in the order of its answers."""
    rows: list[ComparedRow] = []
    for benchmark in BENCHMARKS.values():
        name = f"{benchmark.name}/answers"
        if name in before and name in after:
            for was, is_ in changed(before[name].rows, after[name].rows).values():
                told = [(row.predicted, row.expected, row.correct) if row else None for row in (was, is_)]
                row: Any = is_ or was
                if told[0] != told[1]:
                    about = benchmark.name, row.subset, benchmark.answer_name(row), row_change(was, is_)
                    answers = was and was.predicted, is_ and is_.predicted
                    rows.append(ComparedRow(*about, row.expected, *answers))
    return rows
