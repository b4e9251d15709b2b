"""The difference of two sets of results: their numbers, whether that is chance, and the rows behind it.

Either is an experiment, the pinned results, or what lies in the working tree: the last, so that an experiment
of DVC, which computes there, is compared in the same way.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from orchestration.benchmarks.benchmark import Benchmark
from orchestration.experiments.record import open_experiment, read_experiment
from orchestration.ledger.drift import Cause, causes, explained, unaccepted
from orchestration.ledger.manifest import Made, PinnedRow, Pins
from orchestration.ledger.pinned import measured, read_pins, row_change
from orchestration.ledger.records import Digests, read_records
from orchestration.project import open_workspace
from orchestration.registry import BENCHMARKS
from orchestration.scoring.counting import RIGHT, compared, counts_for, outcomes, split_name
from orchestration.scoring.statistics import wilson
from orchestration.workspace.folders import Workspace
from substrate.base.errors import ParameterError

PINNED, WORKSPACE = "pinned", "workspace"
_DIGITS = 6
_FIRST = ("parameter", "input", "code", "environment", "unknown")


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


class Compared(msgspec.Struct, frozen=True):
    """Two sets of results beside each other.

    Attributes:
        name: what is compared: an experiment, or ``workspace``.
        base: what it is compared with: an experiment, ``workspace`` or ``pinned``.
        profile: the profile of both.
        causes: what differs of all that the results depend on, base first.
        numbers: every number that both have, in the order of the tables.
        changes: how many rows changed in each way, the most frequent first.
        rows: every row that differs, by benchmark, in the order of its answers.
    """

    name: str
    base: str
    profile: str
    causes: Sequence[Cause]
    numbers: Sequence[ComparedNumber]
    changes: Mapping[str, int]
    rows: Sequence[ComparedRow]


def compare(root: Path, a: str, b: str | None = None) -> Compared:
    """Compare an experiment with another one, or with the pinned results.

    Args:
        root: the project.
        a: an experiment, or ``workspace`` for what lies in `artifacts/`.
        b: what it is compared with: the pinned results unless given.

    Raises:
        ParameterError: there is no such experiment, nothing is pinned, the two are of different profiles, or
            they have no number in common.
    """
    b = b or PINNED
    profile = _profile(root, {"A": a, "B": b})
    after, before = _results(root, a, profile, "A"), _results(root, b, profile, "B")
    if b == PINNED:
        before = explained(root, profile, before, after)
    numbers = list(_numbers(before, after))
    if not numbers:
        hint = "Compute the same benchmark in both: `substrate reproduce --only BENCHMARK`"
        raise ParameterError(f"{a} and {b} have no number in common", where=("A", a, "B", b), hint=hint)
    rows = _rows(before, after)
    changes = dict(Counter(row.change for row in rows).most_common())
    return Compared(a, b, profile, _causes(before, after), numbers, changes, rows)


def _causes(before: Pins, after: Pins) -> list[Cause]:
    """The differences and where they show; then parameters that differ and show nowhere."""
    found = causes(before, after)
    named = {cause.what for cause in found}
    idle = [one for one in unaccepted(before, after) if one.kind == "parameter" and one.what not in named]
    return sorted([*found, *idle], key=lambda cause: _FIRST.index(cause.kind))


def numbers_of(root: Path, name: str) -> dict[str, Count]:
    """The numbers of an experiment, in the order of the tables; errors as :func:`compare`."""
    scores = {}
    for pinned in _results(root, name, _profile(root, {"NAME": name}), "NAME").values():
        scores |= pinned.scores
    ordered = (number for benchmark in BENCHMARKS.values() for number in benchmark.numbers)
    return {number: _count(*scores[number]) for number in ordered if number in scores and scores[number][1]}


def results_of(workspace: Workspace) -> Pins:
    """The numbers and rows of a workspace, with the records of the stages that made them."""
    found, digest = Pins(), Digests()
    for name, record in sorted(read_records(workspace).items()):
        paths = {out: workspace.path(out) for out in record.outs}
        # What was checked out since the run is what counts, not what the run made.
        there = {out: path for out, path in paths.items() if path.exists() and not out.startswith("data/")}
        now = record.outs | {out: digest(path) for out, path in there.items()}
        found[name] = measured(msgspec.structs.replace(record, outs=now), there, digest)
    return found


def _profile(root: Path, names: Mapping[str, str]) -> str:
    """The profile of the experiments among some names, else that of `params.yaml`."""
    own = {
        name: read_experiment(root, name, argument).parent.profile
        for argument, name in names.items()
        if name not in (PINNED, WORKSPACE)
    }
    if len(set(own.values())) > 1:
        told = " and ".join(f"{name} of profile {profile}" for name, profile in own.items())
        raise ParameterError(f"cannot compare {told}", where=("A", "B"), hint="Name two of one profile")
    return next(iter(own.values())) if own else open_workspace().settings.profile


def _results(root: Path, name: str, profile: str, argument: str) -> Pins:
    if name == PINNED:
        found, hint = read_pins(root, profile), "`substrate reproduce` of the default profile pins"
        where: tuple[object, ...] = (root / "pins" / profile,)
    elif name == WORKSPACE:
        workspace = open_workspace(profile)
        found, hint, where = results_of(workspace), "`substrate reproduce` makes them", (workspace.artifacts,)
    else:
        workspace = open_experiment(root, name)
        found, hint, where = results_of(workspace), "Make it again", (workspace.artifacts,)
    if not found:
        raise ParameterError(f"{name}: no results are there", where=(argument, *where), hint=hint)
    return found


def _numbers(before: Pins, after: Pins) -> list[ComparedNumber]:
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
    counts = _count(*old), _count(*new)
    one, other = (count.accuracy for count in counts)
    apart = round(other - one, _DIGITS) if one is not None and other is not None else None
    sides = [_outcomes(benchmark, name, side.rows) if side else None for side in (before, after)]
    if unpaired := _unpaired(name, before, after, sides, (old, new)):
        return ComparedNumber(name, *counts, old == new, apart, unpaired=unpaired)
    was, is_ = (side or {} for side in sides)
    found = compared("", "", is_, was)
    won, lost = found.first_only, found.second_only
    return ComparedNumber(name, *counts, won == lost == 0, apart, found.newcombe, won, lost, found.mcnemar)


def _count(correct: int, n: int) -> Count:
    if not n:
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


def _rows(before: Pins, after: Pins) -> list[ComparedRow]:
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
