"""The numbers that moved between two measurements, each with its test, and the answers that changed.

Every report of drift or of an experiment begins with them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from orchestration.benchmarks.benchmark import Benchmark
from orchestration.drift.as_pinned import GRADES
from orchestration.ledger.manifest import changed
from orchestration.ledger.stage_results import Results, ShortRow, StageResult, measure
from orchestration.pins.pin_files import read_pins
from orchestration.registry import BENCHMARKS
from orchestration.scoring.counting import RIGHT, compared, counts_for, outcomes
from orchestration.scoring.names import name_of
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
        mcnemar: the exact two-sided p of McNemar's test on the two; ``None`` if the questions are not paired:
            they are options of one question, of other data, or not counted from rows.
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


class Changes(msgspec.Struct, frozen=True, kw_only=True):
    """The numbers and answers that differ.

    Attributes:
        measured: how many numbers both measurements have, without those that the first did not measure.
        numbers: the numbers that differ, in the order of the tables.
        changes: the number of rows per kind of change, most frequent first.
        rows: the rows that differ.
    """

    measured: int = 0
    numbers: Sequence[ComparedNumber] = ()
    changes: Mapping[str, int] = {}
    rows: Sequence[ComparedRow] = ()


def compare_results(before: Results, after: Results) -> Changes:
    """Find the numbers and answers that differ between two measurements."""
    rows, numbers = list(_rows(before, after)), list(_numbers(before, after))
    changes = dict(Counter(row.change for row in rows).most_common())
    differing = [number for number in numbers if not number.same]
    return Changes(measured=len(numbers), numbers=differing, changes=changes, rows=rows)


def changes_here(workspace: Workspace, stages: Stages, names: Iterable[str]) -> Changes:
    """The numbers and answers of some stages that differ from their pins."""
    pinned = read_pins(workspace.root, workspace.settings.profile)
    wanted = [stages[name] for name in names if name in pinned]
    return compare_results(pinned, measure(workspace, stages, wanted, known=pinned))


def _numbers(before: Results, after: Results) -> Iterator[ComparedNumber]:
    """Every number that two measurements have and the first one measured, in the order of the tables."""
    for benchmark in BENCHMARKS.values():
        scores, answers = (f"{benchmark.name}/{step}" for step in ("scores", "answers"))
        old, new = (side.get(scores, StageResult()).scores for side in (before, after))
        both = [side.get(answers, StageResult()) for side in (before, after)]
        for name in benchmark.numbers:
            if name in old and name in new and old[name][1]:
                yield _number(benchmark, name, [old[name], new[name]], both)


def _number(
    benchmark: Benchmark, name: str, counts: Sequence[tuple[int, int]], answers: Sequence[StageResult]
) -> ComparedNumber:
    """Compare a number by its counts, and by its answers if they pair and give these counts."""
    was, is_ = (count_of(*pair) for pair in counts)
    both = None not in (was.accuracy, is_.accuracy)
    apart = round((is_.accuracy or 0) - (was.accuracy or 0), DIGITS) if both else None
    old, new = (_outcomes(benchmark, name, made.rows) for made in answers)
    given = [(sum(units.values()), len(units)) for units in (old, new)]
    if given != list(counts) or old.keys() != new.keys() or _data(answers[0]) != _data(answers[1]):
        return ComparedNumber(name, was, is_, counts[0] == counts[1], apart)
    pair = compared("after", "before", new, old)
    won, lost = pair.first_only, pair.second_only
    return ComparedNumber(name, was, is_, won == lost == 0, apart, pair.newcombe, won, lost, pair.mcnemar)


def _data(result: StageResult) -> dict[str, str]:
    return {path: digest for path, digest in result.inputs.items() if path.startswith("data/")}


def _outcomes(benchmark: Benchmark, name: str, rows: Mapping[Any, ShortRow]) -> Mapping[Any, bool]:
    """Tell for a number's questions or scenes whether they are right; empty if the rows do not say."""
    metric = benchmark.metrics[name_of(name).metric]
    wanted = [row for row in rows.values() if counts_for(row, name)]
    if metric.together:
        return outcomes(sorted(wanted, key=lambda row: (str(row.scene), str(row.question))), metric)
    return {row.name: bool(row.correct) for row in wanted} if metric is RIGHT else {}


def _rows(before: Results, after: Results) -> Iterator[ComparedRow]:
    """The rows that differ, by benchmark, in the order of its answers."""
    for benchmark in BENCHMARKS.values():
        name = f"{benchmark.name}/answers"
        if name in before and name in after:
            for was, is_ in changed(before[name].rows, after[name].rows).values():
                told = [(row.predicted, row.expected, row.correct) if row else None for row in (was, is_)]
                row: Any = is_ or was
                if told[0] != told[1]:
                    about = benchmark.name, row.subset, benchmark.answer_name(row), row_change(was, is_)
                    yield ComparedRow(*about, row.expected, was and was.predicted, is_ and is_.predicted)


def row_change(was: ShortRow | None, is_: ShortRow | None) -> str:
    """Describe the change of a row in words.

    >>> row = ShortRow("by_id", 1, "2", "yes", "no", False, "", "")
    >>> row_change(row, msgspec.structs.replace(row, predicted="no", correct=True)), row_change(None, row)
    ('wrong to right', 'new')
    """
    if was is None or is_ is None:
        return "new" if was is None else "gone"
    before, after = (GRADES[row.correct] for row in (was, is_))
    return f"{before} to {after}" if before != after else f"otherwise {after}"
