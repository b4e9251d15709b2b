"""The rows of each case's answers, from its logs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from functools import partial
from itertools import accumulate
from pathlib import Path
from typing import Any

import msgspec

from orchestration.benchmarks.benchmark import Case, Explained, Interpreted, Logs
from orchestration.code import code_of
from orchestration.spark.logs import logged
from orchestration.spark.parts import LINES, Parts, read_once
from orchestration.spark.workers import NUMBER
from orchestration.workspace.folders import Workspace
from orchestration.workspace.named import split_of
from orchestration.workspace.storage import TableRow
from orchestration.workspace.tables import case_of, logged_cases, short_key
from substrate.base.errors import SubstrateError
from substrate.domains.rows import encode
from substrate.log.event_log import EventLog

CaseRows = Callable[[Case, Logs, Any, str], Iterable[Any]]
"""From a case, its logs, the parameters and the split to rows, which are encoded as JSON; picklable."""


def answer_lines(
    workspace: Workspace,
    benchmark: Interpreted,
    stage: str,
    *,
    rows: CaseRows | None = None,
    split: str = "",
    tasks: int | None = None,
    first: int | None = None,
    only: Collection[str] | None = None,
) -> Iterator[str]:
    """Answer the questions of each case from its logs, and yield the rows as JSON, in order.

    No two calls for the same stage may overlap.

    Args:
        rows: a function from a case to its rows; by default the benchmark's function.
        split: the split named in rows; by default the split of the profile's data.
        tasks: the number of tasks; by default one per shard.
        first: the number of cases to answer; by default all.
        only: the scenes to answer, or a mapping of scenes to the rows in question; by default all.
    """
    answer, asks = rows or benchmark.rows, benchmark.asks
    cases, logs = logged(workspace, benchmark, stage)
    storage, parameters = workspace.storage, benchmark.parameters.of(workspace.settings)
    split = split or split_of(workspace, benchmark.source)
    folder = workspace.passing_tables("answers", stage.replace("/", "."))
    key = short_key(cases.folder, logs.folder, parameters, split, tasks, first, code_of(answer), only)
    count = cases.rows if first is None else min(first, cases.rows)
    ends = (count * task // tasks for task in range(tasks)) if tasks else accumulate(cases.shard_rows)
    cuts = sorted({0, count, *(end for end in ends if end < count)})
    given = partial(logged_cases, storage, cases, logs, cuts)

    def work(row: TableRow) -> Iterator[TableRow]:
        lines, case = list[str](), case_of(row)
        if asks(case) and (only is None or str(case.scene) in only):
            logs = [EventLog.from_patch(log["patch"], log["name"]) for log in row["logs"]]
            lines = [encode(made).decode() for made in answer(case, logs, parameters, split)]
            if not lines and rows is None:
                raise SubstrateError("is asked about, and has no row", where=(str(case.scene),))
        yield {NUMBER: row[NUMBER], "lines": lines}

    parts = Parts(storage, f"{folder}/{key}", len(cuts) - 1, given, work, LINES, stage)
    for of_case in read_once(workspace.settings.spark, parts, "lines"):
        yield from of_case


def answer_cases(
    workspace: Workspace, benchmark: Interpreted, stage: str, out: Path, **condition: Any
) -> None:
    """Write the rows of :func:`answer_lines`, which takes the conditions, into a file."""
    with out.open("wb") as file:
        lines = answer_lines(workspace, benchmark, stage, **condition)
        file.writelines(line.encode() + b"\n" for line in lines)


def each_case(
    workspace: Workspace, stage: str, benchmark: Explained, scenes: Collection[str], work: CaseRows
) -> Iterator[Any]:
    """Run :data:`orchestration.lineage.explain.Each` on Spark, with the logs of the table."""
    if scenes:
        lines = answer_lines(workspace, benchmark, f"{stage}/{benchmark.name}", rows=work, only=scenes)
        yield from map(msgspec.json.decode, lines)
