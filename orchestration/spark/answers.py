"""The rows of each case's answers, from its logs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from functools import partial
from itertools import accumulate
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from orchestration.benchmarks.benchmark import Case, Explained, Interpreted, Logs
from orchestration.code import code_of
from orchestration.spark.logs import logged
from orchestration.spark.parts import LINES, Parts, read_once
from orchestration.spark.workers import NUMBER
from orchestration.workspace.dataset_files import split_of
from orchestration.workspace.folders import Workspace
from orchestration.workspace.log_table import logged_cases
from orchestration.workspace.storage import TableRow
from orchestration.workspace.tables import ShardedTable, case_of, short_key
from substrate.base.errors import SubstrateError
from substrate.domains.rows import encode
from substrate.log.event_log import EventLog

# From a case, its logs, the parameters and the split to rows, which are encoded as JSON; picklable.
CaseRows = Callable[[Case, Logs, Any, str], Iterable[Any]]


class Condition(NamedTuple):
    """The condition of some answers; each field has a default, as in a benchmark's own stage of answers.

    Attributes:
        rows: a function from a case to its rows; by default the benchmark's function.
        split: the split named in rows; by default the split of the profile's data.
        tasks: the number of tasks; by default one per shard.
        first: the number of cases to answer; by default all.
        only: the scenes to answer; by default all. The rest of a mapping's content, such as the rows in
            question, is only part of the key under which finished shards are kept.
    """

    rows: CaseRows | None = None
    split: str = ""
    tasks: int | None = None
    first: int | None = None
    only: Collection[str] | None = None


def answer_lines(
    workspace: Workspace, benchmark: Interpreted, stage: str, condition: Condition
) -> Iterator[str]:
    """Answer the questions of each case from its logs, and yield the rows as JSON, in order.

    No two calls for the same stage may overlap.
    """
    rows, split, tasks, first, only = condition
    answer, is_asked = rows or benchmark.rows, benchmark.is_asked
    cases, logs = logged(workspace, benchmark, stage)
    storage, parameters = workspace.storage, benchmark.parameters.of(workspace.settings)
    split = split or split_of(workspace, benchmark.source)
    folder = workspace.passing_tables("answers", stage.replace("/", "."))
    key = short_key(cases.folder, logs.folder, parameters, split, tasks, first, code_of(answer), only)
    cuts = _cuts(cases, tasks, first)
    # Each case with its ``logs``, as rows of the table of logs.
    given = partial(logged_cases, storage, cases, logs, cuts)

    def work(row: TableRow) -> Iterator[TableRow]:
        lines, case = list[str](), case_of(row)
        if is_asked(case) and (only is None or str(case.scene) in only):
            of_case = [EventLog.from_patch(log["patch"], log["name"]) for log in row["logs"]]
            lines = [encode(made).decode() for made in answer(case, of_case, parameters, split)]
            if not lines and rows is None:
                raise SubstrateError("is asked about, and has no row", where=(str(case.scene),))
        yield {NUMBER: row[NUMBER], "lines": lines}

    parts = Parts(storage, f"{folder}/{key}", len(cuts) - 1, given, work, LINES, stage)
    for lines in read_once(workspace.settings.spark, parts, "lines"):
        yield from lines


def _cuts(cases: ShardedTable, tasks: int | None, first: int | None) -> list[int]:
    """The bounds of the tasks: each task has the cases between two bounds, in the order of the table."""
    count = cases.rows if first is None else min(first, cases.rows)
    ends = (count * task // tasks for task in range(tasks)) if tasks else accumulate(cases.shard_rows)
    return sorted({0, count, *(end for end in ends if end < count)})


def answer_cases(
    workspace: Workspace, benchmark: Interpreted, stage: str, out: Path, condition: Condition
) -> None:
    """Write the rows of :func:`answer_lines` into a file."""
    with out.open("wb") as file:
        lines = answer_lines(workspace, benchmark, stage, condition)
        file.writelines(line.encode() + b"\n" for line in lines)


def each_case(
    workspace: Workspace, stage: str, benchmark: Explained, scenes: Collection[str], work: CaseRows
) -> Iterator[Any]:
    """Run :data:`orchestration.lineage.explain.Each` on Spark, with the logs of the table."""
    if scenes:
        condition = Condition(rows=work, only=scenes)
        lines = answer_lines(workspace, benchmark, f"{stage}/{benchmark.name}", condition)
        yield from map(msgspec.json.decode, lines)
