"""The shards of a table, computed and written by Spark's workers, one task per shard.

A task reads its input from the storage row by row, and writes its file there. Neither passes the driver,
which gets a *receipt*: row count, SHA-256 and time. All shards of a table are one job, so that a cluster's
cores stay busy until the last task. A finished shard is kept under a key of its inputs, so that a run after a
killed run computes only the missing shards.
"""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from orchestration.base.progress import measured, say
from orchestration.settings import Spark
from orchestration.spark.errors import guarded
from orchestration.spark.session import spark_session
from orchestration.spark.workers import NUMBER, PLACE, Work, gathered, nothing_lost, source_of
from orchestration.workspace.storage import INT, TEXT, Storage, TableRow
from orchestration.workspace.tables import ShardedTable, sealed, shard_name
from substrate.base.errors import SubstrateError

# A row per case, with its lines of the file.
LINES = pa.schema({NUMBER: INT, "lines": pa.list_(TEXT)})
_REACHED = "Give `storage` a URI that the driver and all workers reach"
# A receipt per shard, in the column of the number; times are in milliseconds.
_RECEIPT = pa.schema(
    {NUMBER: INT, "rows": INT, "kept": INT, "began": INT, "ended": INT, "sum": TEXT, "host": TEXT}
)


@dataclass(frozen=True)
class Parts:
    """The shards of a table that is made: where they lie, and what their rows are computed from.

    Attributes:
        folder: the table's folder in the storage.
        count: the number of shards.
        rows: from a shard to its input rows, each with the number of its case; picklable.
        work: from an input row to rows of the table, which have the same number.
        schema: the columns of the table.
        stage: the stage's name, for progress and errors.
    """

    storage: Storage
    folder: str
    count: int
    rows: Callable[[int], Iterator[TableRow]]
    work: Work
    schema: pa.Schema
    stage: str

    @property
    def names(self) -> list[str]:
        """Return the names of all files, in order."""
        return [*map(shard_name, range(self.count))]


def write_parts(settings: Spark, parts: Parts) -> ShardedTable:
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


def read_once(settings: Spark, parts: Parts, column: str) -> Iterator[Any]:
    """Compute a table and yield a column of it, in order; then remove it, and tables of other keys beside it.

    An interrupted run leaves the finished files, so that the next one continues with them.
    """
    write_parts(settings, parts)
    for name in parts.names:
        for row in parts.storage.rows(parts.folder, name, columns=[column]):
            yield row[column]
    parts.storage.remove(parts.folder.rpartition("/")[0])


def _receipts(settings: Spark, parts: Parts) -> pa.Table:
    def write(row: TableRow) -> list[TableRow]:
        return [_written(parts, row[NUMBER])]

    receipts = gathered(spark_session(settings), write, _RECEIPT, parts.names, stage=parts.stage)
    if lost := [name for name in parts.names if not parts.storage.exists(parts.folder, name)]:
        what = f"{len(lost)} of {parts.count} files that workers wrote are not in {parts.storage.base}"
        raise SubstrateError(f"{what}, {lost[0]} first", where=(parts.stage,), hint=_REACHED)
    return receipts


def _written(parts: Parts, shard: int) -> TableRow:
    """Compute and write a file, in a worker, and return its receipt."""
    began, storage, folder, name = time.time(), parts.storage, parts.folder, shard_name(shard)
    reused = storage.exists(folder, name)
    if not reused:
        storage.write_rows(_computed(parts, shard), parts.schema, folder, name)
    return {
        NUMBER: shard,
        "rows": storage.count(folder, name),
        "sum": storage.sum(folder, name),
        "kept": int(reused),
        "began": int(began * 1000),
        "ended": int(time.time() * 1000),
        "host": socket.gethostname(),
    }


def _computed(parts: Parts, shard: int) -> Iterator[TableRow]:
    """Yield the rows of a file, then check that each given case came back."""
    given, keys = dict[int, str](), list[tuple[int, ...]]()
    for row in _reached(parts, shard):
        given[row[NUMBER]] = source = source_of(row)
        for made in guarded(parts.work, row, source):
            keys.append((made[NUMBER], *([made[PLACE]] if PLACE in made else [])))
            yield made
    nothing_lost(keys, given, parts.stage)


def _reached(parts: Parts, shard: int) -> Iterator[TableRow]:
    """Yield the input rows of a file, read from the storage."""
    try:
        yield from parts.rows(shard)
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
            "task seconds, all": sum(spans),
            "job seconds": (max(columns["ended"]) - min(columns["began"])) / 1000,
            "hosts": len(set(columns["host"])),
        }
    )
