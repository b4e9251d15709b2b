"""A table that tasks of Spark's compute and write: a file each, of which the driver gets a receipt.

A task reads what its file is computed from out of the storage, row by row, and writes the file there. Neither
goes through the driver, which is told of rows, SHA-256 and cost. A file that is there already is kept. All
files of a table are one job, so that a cluster's cores are busy until the last task.
"""

from __future__ import annotations

import resource
import socket
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from statistics import median
from typing import Any

import pyarrow as pa

from orchestration.pipeline.progress import cut_into, measured, say
from orchestration.pipeline.spark import (
    NUMBER,
    PLACE,
    Work,
    columns_of,
    guarded,
    nothing_lost,
    plain_errors,
    spark_session,
    telling,
    watched,
)
from orchestration.settings import Spark
from orchestration.workspace.tables import ROWS_AT_ONCE, Manifest, Storage, batched, sealed, shard_name
from substrate.base.errors import SubstrateError

Rows = Callable[[int], Iterator[dict[str, Any]]]
"""The rows that the file of a place is computed from, each with its ``number``; picklable."""
_REACHED = "Give `storage` a URI that the driver and all workers reach"
LINES = "lines"
"""The column whose texts are the lines of a file that is no table."""
_RECEIPT = pa.schema(
    [
        *((name, pa.int64()) for name in (NUMBER, "rows", "kept", "began", "ended", "cpu", "peak")),
        *((name, pa.string()) for name in ("sum", "host")),
    ]
)
"""A row a file; moments and processor time are milliseconds, ``peak`` is the worker's, in MiB."""


@dataclass(frozen=True)
class Parts:
    """A table's files: their number, their place, and what computes and writes one.

    Attributes:
        write: writes the file of a place, which it is told with the name of the file; picklable.
        ending: of the files' names.
    """

    storage: Storage
    folder: str
    count: int
    write: Callable[[int, str], None]
    ending: str = "parquet"

    def name(self, place: int) -> str:
        """The name of the file of a place."""
        return shard_name(place, self.ending)

    @property
    def names(self) -> list[str]:
        """The names of all files, in order."""
        return [*map(self.name, range(self.count))]


def parts_of(
    storage: Storage, folder: str, count: int, rows: Rows, work: Work, schema: pa.Schema | None, stage: str
) -> Parts:
    """Files that are computed from rows one by one, and hold what came back for each.

    Args:
        work: gives rows with the same number.
        schema: of Parquet files; ``None`` where they are the :data:`LINES` of what ``work`` gives.
    """

    def write(place: int, name: str) -> None:
        found = _computed(storage, rows(place), work, stage)
        if schema:
            tables = (pa.Table.from_pylist(some, schema) for some in batched(found, ROWS_AT_ONCE))
            storage.write_tables(tables, schema, folder, name)
        else:
            storage.write_lines((line for row in found for line in row[LINES]), folder, name)

    return Parts(storage, folder, count, write, "parquet" if schema else "jsonl")


def write_part(settings: Spark, parts: Parts, place: int, stage: str) -> None:
    """Compute and write one file of a table, if it is not there yet; the others are left as they are.

    Raises:
        SubstrateError: as :func:`write_parts`.
    """
    _tell(stage, _receipts(settings, parts, range(place, place + 1), stage))


def write_parts(settings: Spark, parts: Parts, stage: str) -> Manifest:
    """Compute and write those files of a table that are not there yet, in one job.

    Args:
        stage: the stage's name, for progress and errors.

    Raises:
        SubstrateError: one that was raised in a worker; or a case or a file did not come back.
    """
    if not parts.count:
        return sealed(parts.folder, [], [])
    cut_into(stage, parts.count)
    try:
        back = _receipts(settings, parts, range(parts.count), stage)
    except Exception:
        there = sum(parts.storage.exists(parts.folder, name) for name in parts.names)
        say(f"{stage}: failed; {there} of {parts.count} shards are done, and kept for the next run")
        raise
    # Of a task that was ended in the middle a part of a file may lie there.
    parts.storage.keep_only(parts.folder, parts.names)
    _tell(stage, back)
    return sealed(parts.folder, back["rows"].to_pylist(), back["sum"].to_pylist())


def _receipts(settings: Spark, parts: Parts, places: range, stage: str) -> pa.Table:
    """The receipts of some files, which tasks compute and write where they are not there yet."""

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for place in batch.column(0).to_pylist():
                with telling(stage):
                    receipt = _written(parts, place)
                yield pa.RecordBatch.from_pylist([receipt], schema=_RECEIPT)

    session = spark_session(settings)
    tasks = session.range(places.start, places.stop, 1, len(places))
    with watched(session, stage), plain_errors(stage):
        back = tasks.mapInArrow(run, columns_of(_RECEIPT)).toArrow().sort_by(NUMBER)
    names = [parts.name(place) for place in places]
    nothing_lost([(place,) for place in back[NUMBER].to_pylist()], places, names, stage)
    if lost := [name for name in names if not parts.storage.exists(parts.folder, name)]:
        raise SubstrateError(
            f"{len(lost)} of {len(names)} files that workers wrote are not in {parts.storage.base}, "
            f"{lost[0]} first",
            where=(stage,),
            hint=_REACHED,
        )
    return back


def _written(parts: Parts, place: int) -> dict[str, Any]:
    """Compute and write a file, in a worker, and give its receipt."""
    began, cpu = time.time(), time.process_time()
    storage, folder, name = parts.storage, parts.folder, parts.name(place)
    kept = storage.exists(folder, name)
    if not kept:
        parts.write(place, name)
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {
        NUMBER: place,
        "rows": storage.count(folder, name) if parts.ending == "parquet" else 0,
        "sum": storage.sum(folder, name),
        "kept": int(kept),
        "began": int(began * 1000),
        "ended": int(time.time() * 1000),
        "cpu": int((time.process_time() - cpu) * 1000),
        "peak": most // (2**20 if sys.platform == "darwin" else 2**10),
        "host": socket.gethostname(),
    }


def _computed(
    storage: Storage, rows: Iterator[dict[str, Any]], work: Work, stage: str
) -> Iterator[dict[str, Any]]:
    """The rows of a file; at the end each case that was given is held to have come back."""
    asked, names, keys = list[int](), list[str](), list[tuple[int, ...]]()
    for row in _reached(storage, rows, stage):
        asked.append(row[NUMBER])
        names.append(row.get("source") or f"number {row[NUMBER]}")
        for found in guarded(work, row):
            keys.append((found[NUMBER], *([found[PLACE]] if PLACE in found else [])))
            yield found
    nothing_lost(keys, asked, names, stage)


def _reached(storage: Storage, rows: Iterator[dict[str, Any]], stage: str) -> Iterator[dict[str, Any]]:
    """The rows that a file is computed from, as they are read from the storage."""
    try:
        yield from rows
    except OSError as error:
        what = f"a worker cannot read the storage {storage.base} ({error})"
        raise SubstrateError(what, where=(stage,), hint=_REACHED) from error


def _tell(stage: str, back: pa.Table) -> None:
    """Say of the tasks of a job what they took."""
    kept, count = sum(back["kept"].to_pylist()), back.num_rows
    say(f"{stage}: {count} shards: {kept} were kept, {count - kept} are done")
    spans = (back["ended"].to_numpy() - back["began"].to_numpy()).tolist()
    measured(
        {
            "tasks": count,
            "shards kept": kept,
            "task seconds, longest": max(spans) / 1000,
            "task seconds, median": median(spans) / 1000,
            "task seconds, all": sum(spans) / 1000,
            "job seconds": (max(back["ended"].to_pylist()) - min(back["began"].to_pylist())) / 1000,
            "processor seconds of tasks": sum(back["cpu"].to_pylist()) / 1000,
            "worker MiB, most": max(back["peak"].to_pylist()),
            "hosts": len(set(back["host"].to_pylist())),
        }
    )
