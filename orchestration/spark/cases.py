"""A benchmark's tables on Spark, one task per shard: make scenes, read cases, build logs, answer.

A task reads its input from the storage row by row, and writes its file there. Neither passes the driver,
which gets the row count, SHA-256 and cost. All files of a table are one job, so that a cluster's cores
stay busy until the last task. A finished file is kept under a key of its inputs, so that a run after a
killed run computes only the missing files.
"""

from __future__ import annotations

import resource
import socket
import sys
import time
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import accumulate
from pathlib import Path
from statistics import median
from threading import RLock
from typing import Any

import msgspec
import pyarrow as pa

from orchestration.base.progress import advance, measured, say
from orchestration.benchmarks.benchmark import Explained, Interpreted, Logger, Source, World
from orchestration.code import code_of
from orchestration.settings import Spark
from orchestration.spark.session import spark_session
from orchestration.spark.workers import NUMBER, PLACE, Work, gathered, guarded, nothing_lost
from orchestration.workspace.folders import Workspace
from orchestration.workspace.named import files_of, split_of
from orchestration.workspace.storage import ROWS_AT_ONCE, Storage, batched
from orchestration.workspace.tables import (
    LOGS,
    LogEntry,
    Manifest,
    case_of,
    index_key,
    logged_cases,
    sealed,
    shard_name,
    short_key,
    table_once,
    write_cases,
)
from substrate.base.errors import SubstrateError
from substrate.base.files import replacing, sha256
from substrate.domains.rows import encode
from substrate.log.event_log import EventLog

Rows = Callable[[int], Iterator[dict[str, Any]]]
"""A picklable function from a place to the input rows of its file, each with its ``number``."""
LINES = pa.schema([(NUMBER, pa.int64()), ("lines", pa.list_(pa.string()))])
"""One row per case, with its lines of the file."""
SCENES = pa.schema([(NUMBER, pa.int64()), ("scene", pa.binary())])
"""One row per generated scene."""
_REACHED = "Give `storage` a URI that the driver and all workers reach"
_RECEIPT = pa.schema(
    [
        *((name, pa.int64()) for name in (NUMBER, "rows", "kept", "began", "ended", "cpu", "peak")),
        *((name, pa.string()) for name in ("sum", "host")),
    ]
)
"""One row per file; times are in milliseconds, ``peak`` is the worker's peak memory in MiB."""


@dataclass(frozen=True)
class Parts:
    """The files of a table: their number, their places, and the rows that each is computed from.

    Attributes:
        rows: gives the input rows of a file.
        work: gives rows numbered as the input.
        stage: the stage's name, for progress and errors.
    """

    storage: Storage
    folder: str
    count: int
    rows: Rows
    work: Work
    schema: pa.Schema
    stage: str

    @property
    def names(self) -> list[str]:
        """Return the names of all files, in order."""
        return [*map(shard_name, range(self.count))]

    def lines(self, folder: str) -> Iterator[bytes]:
        """Yield the lines of the table's files, of schema :data:`LINES`, from the folder that has them."""
        for name in self.names:
            for row in self.storage.rows(folder, name, columns=["lines"]):
                yield from (line.encode() for line in row["lines"])


def write_parts(settings: Spark, parts: Parts) -> Manifest:
    """Compute and write the missing files of a table, in one job.

    Raises:
        SubstrateError: a worker raised it, or a case or a file is missing.
    """
    if not parts.count:
        return sealed(parts.folder, [], [])
    try:
        receipts = _receipts(settings, parts)
    except Exception:
        there = sum(parts.storage.exists(parts.folder, name) for name in parts.names)
        say(f"{parts.stage}: failed; {there} of {parts.count} shards are done, and kept for the next run")
        raise
    # A task that was killed may have left part of a file.
    parts.storage.keep_only(parts.folder, parts.names)
    _tell_costs(parts.stage, receipts)
    return sealed(parts.folder, receipts["rows"].to_pylist(), receipts["sum"].to_pylist())


def _receipts(settings: Spark, parts: Parts) -> pa.Table:
    def place_row(place: int) -> list[dict[str, Any]]:
        return [{NUMBER: place, "source": parts.stage}]

    def write(row: dict[str, Any]) -> list[dict[str, Any]]:
        return [_written(parts, row[NUMBER])]

    session, stage, places = spark_session(settings), parts.stage, range(parts.count)
    names = parts.names
    receipts = gathered(session, places, place_row, write, _RECEIPT, places, stage=stage, names=names)
    if lost := [name for name in parts.names if not parts.storage.exists(parts.folder, name)]:
        what = f"{len(lost)} of {parts.count} files that workers wrote are not in {parts.storage.base}"
        raise SubstrateError(f"{what}, {lost[0]} first", where=(stage,), hint=_REACHED)
    return receipts


def _written(parts: Parts, place: int) -> dict[str, Any]:
    """Compute and write a file, in a worker, and return its receipt."""
    began, cpu = time.time(), time.process_time()
    storage, folder, name = parts.storage, parts.folder, shard_name(place)
    reused = storage.exists(folder, name)
    if not reused:
        batches = batched(_computed(parts, place), ROWS_AT_ONCE)
        tables = (pa.Table.from_pylist(rows, parts.schema) for rows in batches)
        storage.write_tables(tables, parts.schema, folder, name)
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {
        NUMBER: place,
        "rows": storage.count(folder, name),
        "sum": storage.sum(folder, name),
        "kept": int(reused),
        "began": int(began * 1000),
        "ended": int(time.time() * 1000),
        "cpu": int((time.process_time() - cpu) * 1000),
        "peak": most // (2**20 if sys.platform == "darwin" else 2**10),
        "host": socket.gethostname(),
    }


def _computed(parts: Parts, place: int) -> Iterator[dict[str, Any]]:
    """Yield the rows of a file, then check that each given case came back."""
    numbers, names, keys = list[int](), list[str](), list[tuple[int, ...]]()
    for row in _reached(parts, place):
        numbers.append(row[NUMBER])
        names.append(row.get("source") or f"number {row[NUMBER]}")
        for made in guarded(parts.work, row):
            keys.append((made[NUMBER], *([made[PLACE]] if PLACE in made else [])))
            yield made
    nothing_lost(keys, numbers, names, parts.stage)


def _reached(parts: Parts, place: int) -> Iterator[dict[str, Any]]:
    """Yield the input rows of a file, read from the storage."""
    try:
        yield from parts.rows(place)
    except OSError as error:
        what = f"a worker cannot read the storage {parts.storage.base} ({error})"
        raise SubstrateError(what, where=(parts.stage,), hint=_REACHED) from error


def _tell_costs(stage: str, receipts: pa.Table) -> None:
    columns = receipts.to_pydict()
    reused, count = sum(columns["kept"]), receipts.num_rows
    say(f"{stage}: {count} shards: {reused} were kept, {count - reused} are done")
    spans = [(end - begin) / 1000 for begin, end in zip(columns["began"], columns["ended"], strict=True)]
    measured(
        {
            "tasks": count,
            "shards kept": reused,
            "task seconds, longest": max(spans),
            "task seconds, median": median(spans),
            "task seconds, all": sum(spans),
            "job seconds": (max(columns["ended"]) - min(columns["began"])) / 1000,
            "processor seconds of tasks": sum(columns["cpu"]) / 1000,
            "worker MiB, most": max(columns["peak"]),
            "hosts": len(set(columns["host"])),
        }
    )


def make_scenes(workspace: Workspace, source: Source, world: World, stage: str, out: Path) -> int:
    """Generate a profile's scenes of a world, a few per task, and write them in the official layout.

    Returns:
        The number of scenes.
    """
    settings, storage, seed = workspace.settings, workspace.storage, workspace.settings.seed
    data = settings.data(source.name)
    numbers = world.numbers(data)
    # Simulation is slow and varies: a task gets a twentieth of the usual number of cases.
    size = min(settings.spark.cut(len(numbers)), max(1, settings.spark.shard // 20))
    key = short_key(seed, data, size, code_of(world.make))
    folder = f"{workspace.shelves[0]}/made/{source.name}"

    def rows(place: int) -> Iterator[dict[str, Any]]:
        return ({NUMBER: number} for number in numbers[place * size : (place + 1) * size])

    def work(row: dict[str, Any]) -> Iterator[dict[str, Any]]:
        yield row | {"scene": world.make(row[NUMBER], seed, data)}

    parts = Parts(storage, f"{folder}/{key}", -(-len(numbers) // size), rows, work, SCENES, stage)
    write_parts(settings.spark, parts)
    made = (row["scene"] for name in parts.names for row in storage.rows(parts.folder, name))
    world.write(out, made, seed)
    storage.remove(folder)
    return len(numbers)


_MAKING = RLock()
"""A lock for making a shared table: two threads would overwrite each other's files."""


def cases_of(workspace: Workspace, source: Source, stage: str) -> Manifest:
    """Return the table of a source's cases; if it is missing, write it from the source's files."""
    data, spark, storage = workspace.data / source.name, workspace.settings.spark, workspace.storage
    key = short_key(sha256(data), spark.shard, spark.partitions, code_of(source.cases))
    folders = [f"{shelf}/cases/{source.name}" for shelf in workspace.shelves]

    def write(folder: str) -> Manifest:
        cases = source.cases(source.files(data), None, True)
        # A table's bytes must not depend on the project's folder.
        here = f"{workspace.home}/"
        each = (case._replace(source=case.source.removeprefix(here)) for case in cases.each)
        return write_cases(storage, cases._replace(each=each), spark.cut, partial(advance, stage), folder)

    with _MAKING:
        return table_once(storage, folders, key, write)


def build_logs(workspace: Workspace, logger: Logger, stage: str, index: Path) -> int:
    """Build the logs of every case, one file per shard, and write their index.

    Returns:
        The number of logs.
    """
    cases, storage = cases_of(workspace, logger.source, stage), workspace.storage
    parameters, logs = logger.parameters.of(workspace.settings), logger.logs
    key = short_key(cases.folder, parameters, code_of(logs))
    folder = f"{workspace.shelves[0]}/logs/{logger.name}"
    given = cases.folder

    def rows(shard: int) -> Iterator[dict[str, Any]]:
        return storage.rows(given, shard_name(shard))

    def work(row: dict[str, Any]) -> Iterator[dict[str, Any]]:
        for place, named in enumerate(logs(case_of(row), parameters)):
            yield {
                NUMBER: row[NUMBER],
                PLACE: place,
                "name": named.name,
                "digest": named.log.digest,
                "deltas": len(named.log),
                "source": named.source or row["source"],
                "patch": named.log.to_patch(),
            }

    parts = Parts(storage, f"{folder}/{key}", len(cases.shards), rows, work, LOGS, stage)
    made = write_parts(workspace.settings.spark, parts)
    columns = ("name", "digest", "deltas", "source")
    with index.open("wb") as file:
        for name in parts.names:
            for row in storage.rows(parts.folder, name, columns=columns):
                file.write(msgspec.json.encode(LogEntry(*row.values())) + b"\n")
    pointer = index_key(index)
    storage.write_record(sealed(made.folder, made.shards, made.sums, cases.shards), folder, pointer)
    storage.keep_only(folder, [key, pointer])
    return made.rows


def ensure_logs(workspace: Workspace, logger: Logger, stage: str) -> Manifest:
    """Return the table of a logger's logs.

    The table is built again if only its index exists, or if it lacks the number of cases of each shard.

    Raises:
        SubstrateError: the built logs differ from the index.
    """
    logs = workspace.logs(logger.name)
    with _MAKING:
        known = logs.manifest
        if known is None or not known.cases:
            again = logs.index.with_name("index.again.jsonl")
            with replacing(again) as fresh:
                build_logs(workspace, logger, stage, fresh)
                if sha256(fresh) != sha256(logs.index):
                    hint = f"`substrate materialize {logger.name}/logs` builds them anew"
                    what = "the logs that the data give are not those of the index"
                    raise SubstrateError(what, where=(logs.index,), hint=hint)
            again.unlink()
            known = logs.manifest
    assert known
    return known


def answer_parts(
    workspace: Workspace,
    benchmark: Interpreted,
    stage: str,
    *,
    rows: Any = None,
    split: str = "",
    tasks: int | None = None,
    first: int | None = None,
    only: Collection[str] | None = None,
) -> tuple[int, Parts]:
    """Return the number of cases to answer, and the files of their rows.

    Args:
        rows: a function from a case to its rows; by default the benchmark's function.
        split: the split named in rows; by default the split of the profile's data.
        tasks: the number of tasks; by default one per shard.
        first: the number of cases to answer; by default all.
        only: the scenes to answer, or a mapping of scenes to the rows in question; by default all.
    """
    whole, rows, asks = rows is None, rows or benchmark.rows, benchmark.asks
    cases = cases_of(workspace, benchmark.source, stage)
    logs = ensure_logs(workspace, benchmark.logger, stage)
    storage, parameters = workspace.storage, benchmark.parameters.of(workspace.settings)
    split = split or split_of(workspace, benchmark.source)
    folder = f"{workspace.shelves[0]}/answers/{stage.replace('/', '.')}"
    key = short_key(cases.folder, logs.folder, parameters, split, tasks, first, code_of(rows), only)
    count = cases.rows if first is None else min(first, cases.rows)
    ends = (count * task // tasks for task in range(tasks)) if tasks else accumulate(cases.shards)
    cuts = sorted({0, count, *(end for end in ends if end < count)})
    given = partial(logged_cases, storage, cases, logs, cuts)

    def work(row: dict[str, Any]) -> Iterator[dict[str, Any]]:
        lines, case = list[str](), case_of(row)
        if asks(case) and (only is None or str(case.scene) in only):
            logs = [EventLog.from_patch(log["patch"], log["name"]) for log in row["logs"]]
            lines = [encode(answer).decode() for answer in rows(case, logs, parameters, split)]
            if not lines and whole:
                raise SubstrateError("is asked about, and has no row", where=(str(case.scene),))
        yield {NUMBER: row[NUMBER], "lines": lines}

    return count, Parts(storage, f"{folder}/{key}", len(cuts) - 1, given, work, LINES, stage)


def answer_cases(
    workspace: Workspace, benchmark: Interpreted, stage: str, out: Path, **condition: Any
) -> int:
    """Answer the questions of every case from its logs, and write the rows in order.

    Args:
        condition: the options of :func:`answer_parts`.

    Returns:
        The number of cases answered.
    """
    count, parts = answer_parts(workspace, benchmark, stage, **condition)
    write_parts(workspace.settings.spark, parts)
    with out.open("wb") as file:
        file.writelines(line + b"\n" for line in parts.lines(parts.folder))
    workspace.storage.remove(parts.folder.rpartition("/")[0])
    return count


def each_case(
    workspace: Workspace, stage: str, benchmark: Explained, scenes: Collection[str], work: Any
) -> Iterator[Any]:
    """Run :data:`orchestration.lineage.explain.Each` on Spark, with the logs of the table."""
    if not (scenes and files_of(workspace, benchmark.source)):
        return
    told = f"{stage}/{benchmark.name}/{work.func.__name__}"
    _, parts = answer_parts(workspace, benchmark, told, rows=work, only=scenes)
    write_parts(workspace.settings.spark, parts)
    yield from map(msgspec.json.decode, parts.lines(parts.folder))
    workspace.storage.remove(parts.folder.rpartition("/")[0])
