"""Drift: the files, cells, scores and rows in which two measurements differ, and the causes.

:func:`compare_results` tells the same difference in numbers, each with its test, and in answers. Every report
of a drift or an experiment begins with it.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import msgspec

from orchestration.base.git import git
from orchestration.benchmarks.benchmark import Benchmark
from orchestration.ledger.manifest import Made, PinnedRow, Pins, changed
from orchestration.ledger.pinned import NOTHING, measure, pin_name, read_pins
from orchestration.ledger.records import LOCK, apart_at
from orchestration.registry import BENCHMARKS
from orchestration.scoring.counting import RIGHT, compared, counts_for, outcomes, split_name
from orchestration.scoring.formatting import counted
from orchestration.scoring.scores import DIGITS, Count, count_of
from orchestration.settings import flattened
from orchestration.stage import Stages
from orchestration.workspace.folders import Workspace

_LISTED = 5
GRADES = {True: "right", False: "wrong", None: "without gold"}


class Difference(msgspec.Struct, frozen=True, omit_defaults=True):
    """A changed table cell, score, answer row, verdict on a claim, or file without further detail.

    Attributes:
        stage: the stage that made the item.
        kind: the item's kind.
        what: the item's name: number/column, number, scene/question, or path.
        old: the former value.
        new: the present value.
        here: True if the file here differs from a recomputation; else the recomputation differs from the pin.
    """

    stage: str
    kind: Literal["cell", "score", "row", "input", "file", "verdict"]
    what: str
    old: str
    new: str
    here: bool = False

    def __str__(self) -> str:
        here = " (here -> recomputed)" if self.here else ""
        return f"{self.stage}: {self.what}: {self.old} -> {self.new}{here}"


class Cause(msgspec.Struct, frozen=True, omit_defaults=True):
    """A changed dependency of stages whose outs differ."""

    kind: Literal["code", "parameter", "input", "environment", "unknown"]
    what: str
    stages: tuple[str, ...] = ()
    old: str = ""
    new: str = ""

    def __str__(self) -> str:
        change = f" {self.old} -> {self.new}" if self.old or self.new else ""
        stages = ", ".join(self.stages[:_LISTED])
        if len(self.stages) > _LISTED:
            stages += f" and {len(self.stages) - _LISTED} more stages"
        return _CAUSES[self.kind].format(what=self.what, change=change, stages=stages)


_CAUSES = {
    "code": "code of {stages} changed: {what}",
    "parameter": "parameter {what}{change} ({stages})",
    "input": "input {what} changed ({stages})",
    "environment": "{what}{change} in the environment ({stages})",
    "unknown": "nothing that {stages} declares has changed: {what}",
}


def differences(old: Pins, new: Pins, *, here: bool = False) -> list[Difference]:
    """Return every difference between two measurements, in the order of the new stages.

    Items in only one measurement are ignored. A file is named only if none of its parts can be.
    """
    apart: list[Difference] = []
    for stage in (name for name in new if name in old):
        texts = changed(_texts(old[stage]), _texts(new[stage]))
        details = [
            Difference(stage, kind, what, was or f"no {kind}", is_ or f"no {kind}", here)
            for (kind, what), (was, is_) in texts.items()
        ]
        apart += details or file_differences(stage, old[stage], new[stage], here)
    return apart


def _texts(made: Made) -> dict[tuple[Literal["cell", "score", "row"], str], str]:
    """Return the readable items of a stage's outs as text, by kind and name."""
    lines = ((row, cells) for table in made.cells.values() for row, cells in table.items())
    return {
        **{("cell", f"{row}, {head}"): text or '""' for row, cells in lines for head, text in cells.items()},
        **{("score", number): counted(*counts) for number, counts in made.scores.items()},
        **{("row", name): _row(row) for name, row in made.rows.items()},
    }


def _row(row: PinnedRow) -> str:
    gold = "" if row.expected is None else f', expected "{row.expected}"'
    return f'"{row.predicted}" {GRADES[row.correct]}{gold}, log {row.log or "unknown"}, bytes {row.row}'


def file_differences(stage: str, old: Made, new: Made, here: bool = False) -> list[Difference]:
    """Return the files of a stage's outs that differ, each with its differing lines."""
    apart: list[Difference] = []
    inner = sorted(changed(old.files, new.files))
    for out, pair in changed(old.outs, new.outs).items():
        kind = "input" if out.startswith("data/") else "file"
        for name in (None not in pair and [name for name in inner if name.startswith(f"{out}/")]) or [out]:
            was, is_ = ({**made.outs, **made.files}.get(name, NOTHING) for made in (old, new))
            at = apart_at(old.lines.get(name), new.lines.get(name))
            apart.append(Difference(stage, kind, name + at, short(was), short(is_), here))
    return apart


def short(digest: str) -> str:
    """Shorten a digest; return any other text unchanged."""
    return digest[:15] if digest.startswith("sha256:") else digest


def causes(old: Pins, new: Pins, *, differ: bool = True) -> list[Cause]:
    """Return the changed dependencies of stages; a cause that stages share is named once.

    Args:
        differ: true for the causes of stages whose outs differ; false for those of other stages, whose outs
            nobody has recomputed.
    """
    shared: dict[Cause, list[str]] = defaultdict(list)
    for stage in (name for name in new if name in old):
        if (old[stage].outs != new[stage].outs) == differ:
            for cause in _changes_of(old[stage], new[stage], differ):
                shared[cause].append(stage)
    return [msgspec.structs.replace(cause, stages=tuple(stages)) for cause, stages in shared.items()]


def _changes_of(was: Made, is_: Made, differ: bool) -> Iterator[Cause]:
    """Yield a stage's causes, with `stages` empty."""
    known, ran = was.code and is_.code, was.environment and is_.environment
    found = [Cause("code", file) for file in sorted(changed(was.code, is_.code)) if known]
    for key, pair in sorted(changed(_values(was), _values(is_)).items()):
        found.append(Cause("parameter", key, (), *(text or "not set" for text in pair)))
    # A changed input's own stage has its cause; a changed package version alone makes no stage stale.
    if differ:
        for what, pair in sorted(changed(was.environment, is_.environment).items()) if ran else ():
            found.append(Cause("environment", what, (), *(short(text or NOTHING) for text in pair)))
        inputs = changed(was.inputs, is_.inputs)
        found += [Cause("input", path) for path in sorted(inputs) if path.startswith("data/")]
        if not (found or inputs):
            found = [Cause("input", path) for path in is_.outs if path.startswith("data/")]
            unknown = "code that it does not declare, or a result that does not repeat"
            found = found or [Cause("unknown", unknown)]
    yield from found


def _values(made: Made) -> dict[str, str]:
    """Return the parameters as text, by dotted key."""
    return {key: msgspec.json.encode(value).decode() for key, value in flattened(made.parameters).items()}


def explained(root: Path, profile: str, pins: Pins, now: Pins) -> Pins:
    """Add to pins the code that made them.

    If no ledger records it, as in a clone, it is the present code, less the files that git reports changed
    since the pins' last commit.
    """
    unknown = {name: now[name] for name in pins if name in now and now[name].code and not pins[name].code}
    base = git(root, "log", "-1", "--format=%H", "--", pin_name(profile)) if unknown else None
    since = git(root, "diff", "--name-only", "-z", base.decode().strip()) if base else None
    if since is None:
        return pins
    files, pinned = set(since.decode().split("\0")), dict(pins)
    for name, made in unknown.items():
        code = {file: "" if file in files else digest for file, digest in made.code.items()}
        environment = made.environment | ({LOCK: "another"} if LOCK in files else {})
        pinned[name] = msgspec.structs.replace(pins[name], code=code, environment=environment)
    return pinned


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
        measured: how many numbers both measurements have.
        numbers: the numbers that differ, in the order of the tables.
        changes: the number of rows per kind of change, most frequent first.
        rows: the rows that differ.
    """

    measured: int = 0
    numbers: Sequence[ComparedNumber] = ()
    changes: Mapping[str, int] = {}
    rows: Sequence[ComparedRow] = ()


def compare_results(before: Pins, after: Pins) -> Changes:
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


def _numbers(before: Pins, after: Pins) -> Iterator[ComparedNumber]:
    """Every number that two measurements have, in the order of the tables."""
    for benchmark in BENCHMARKS.values():
        scores, answers = (f"{benchmark.name}/{step}" for step in ("scores", "answers"))
        if scores in before and scores in after:
            old, new = before[scores].scores, after[scores].scores
            both = [side.get(answers, Made()) for side in (before, after)]
            for name in benchmark.numbers:
                if name in old and name in new and old[name][1]:
                    yield _number(benchmark, name, [old[name], new[name]], both)


def _number(
    benchmark: Benchmark, name: str, counts: Sequence[tuple[int, int]], answers: Sequence[Made]
) -> ComparedNumber:
    """Compare a number by its counts, and by its answers if they pair and give these counts."""
    was, is_ = (count_of(*pair) for pair in counts)
    both = None not in (was.accuracy, is_.accuracy)
    apart = round((is_.accuracy or 0) - (was.accuracy or 0), DIGITS) if both else None
    old, new = (_outcomes(benchmark, name, made.rows) for made in answers)
    given = [(sum(units.values()), len(units)) for units in (old, new)]
    if given != list(counts) or old.keys() != new.keys() or _data(answers[0]) != _data(answers[1]):
        return ComparedNumber(name, was, is_, counts[0] == counts[1], apart)
    pair = compared("", "", new, old)
    won, lost = pair.first_only, pair.second_only
    return ComparedNumber(name, was, is_, won == lost == 0, apart, pair.newcombe, won, lost, pair.mcnemar)


def _data(pinned: Made) -> dict[str, str]:
    return {path: digest for path, digest in pinned.inputs.items() if path.startswith("data/")}


def _outcomes(benchmark: Benchmark, name: str, rows: Mapping[Any, PinnedRow]) -> Mapping[Any, bool]:
    """Tell for a number's questions or scenes whether they are right; empty if the rows do not say."""
    metric = benchmark.metrics[split_name(name)[1]]
    wanted = [row for row in rows.values() if counts_for(row, name)]
    if metric.together:
        return outcomes(sorted(wanted, key=lambda row: (str(row.scene), str(row.question))), metric)
    return {row.name: bool(row.correct) for row in wanted} if metric is RIGHT else {}


def _rows(before: Pins, after: Pins) -> Iterator[ComparedRow]:
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


def row_change(was: PinnedRow | None, is_: PinnedRow | None) -> str:
    """Describe the change of a row in words.

    >>> row = PinnedRow("by_id", 1, "2", "yes", "no", False, "", "")
    >>> row_change(row, msgspec.structs.replace(row, predicted="no", correct=True)), row_change(None, row)
    ('wrong to right', 'new')
    """
    if was is None or is_ is None:
        return "new" if was is None else "gone"
    before, after = (GRADES[row.correct] for row in (was, is_))
    return f"{before} to {after}" if before != after else f"otherwise {after}"
