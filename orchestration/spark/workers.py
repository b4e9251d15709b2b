"""The work of Spark's workers: a pure function over rows, one task per shard.

A worker receives its cases as rows and returns rows; it never opens a file on the driver's disk. The driver
checks, case by case, that every requested row came back.
"""

from __future__ import annotations

import contextvars
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from orchestration.base.progress import advance
from orchestration.spark.errors import guarded, plain_errors
from orchestration.workspace.storage import TableRow
from substrate.base.errors import SubstrateError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

# A function from an input row to output rows; picklable, and pure because it may run twice.
Work = Callable[[TableRow], Iterable[TableRow]]
# The columns that identify a returned row: its case's number, and its place among that case's rows.
NUMBER, PLACE = "number", "place"


def frame_of_shards(
    session: SparkSession, shards: int, rows: Callable[[int], Iterator[pa.RecordBatch]], schema: pa.Schema
) -> DataFrame:
    """Return a frame of the rows that a function gives for each shard, one task per shard."""
    from pyspark.sql.pandas.types import from_arrow_schema

    def give(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for shard in batch.column(0).to_pylist():
                yield from rows(shard)

    tasks = session.range(0, shards, 1, max(1, shards))
    return tasks.mapInArrow(give, from_arrow_schema(schema))


def gathered(
    session: SparkSession, work: Work, schema: pa.Schema, names: Sequence[str], *, stage: str
) -> pa.Table:
    """Do some work once per name, one task each; return its rows, one per name, in the order of the names.

    Args:
        work: from a row with a ``number``, and the name as its ``source``, to the one row of that number.
        schema: the schema of the returned rows.
        names: the names of the numbers from 0 on, for errors; each number must come back.
        stage: the stage's name, for progress.

    Raises:
        SubstrateError: ``work`` raised it in a worker; or a number is missing or was never given.
    """

    def run(number: int) -> Iterator[pa.RecordBatch]:
        made = guarded(work, {NUMBER: number, "source": names[number]}, names[number])
        yield pa.RecordBatch.from_pylist([*made], schema=schema)

    with watched(session, stage), plain_errors(session, stage):
        back = frame_of_shards(session, len(names), run, schema).toArrow()
    nothing_lost([(number,) for number in back[NUMBER].to_pylist()], dict(enumerate(names)), stage)
    return back.sort_by(NUMBER).cast(schema)


def source_of(row: TableRow) -> str:
    """The name of an input row in errors."""
    return row.get("source") or f"number {row[NUMBER]}"


def nothing_lost(keys: Sequence[tuple[int, ...]], given: Mapping[int, str], stage: str) -> None:
    """Check that the returned rows match the given numbers.

    Args:
        keys: the keys of the returned rows, each beginning with the row's number.
        given: the numbers that were given, each with its name in errors.

    Raises:
        SubstrateError: a number is missing, came twice, or was never given.
    """
    came, times = {key[0] for key in keys}, Counter(keys)
    faults = {
        "did not come back": [name for number, name in given.items() if number not in came],
        "came back twice": [given.get(key[0], str(key[0])) for key in times if times[key] > 1],
        "came back without a request": [f"number {number}" for number in sorted(came - given.keys())],
    }
    words = [f"{len(of)} of {len(given)} {how}, {of[0]} first" for how, of in faults.items() if of]
    if words:
        hint = "Run the stage again: finished shards are kept"
        raise SubstrateError("; ".join(words), where=(stage,), hint=hint)


@contextmanager
def watched(session: SparkSession, stage: str) -> Iterator[None]:
    """Report done and total tasks of the stage's running jobs from a thread, if the session knows them."""
    if type(session).__module__ != "pyspark.sql.session":
        yield
        return
    session.sparkContext.setJobGroup(stage, stage)  # its name in Spark's event log
    tracker: Any = session.sparkContext.statusTracker()
    done, context = threading.Event(), contextvars.copy_context()

    def watch() -> None:
        while not done.wait(0.2):
            try:
                infos = [info for at in tracker.getActiveStageIds() if (info := tracker.getStageInfo(at))]
            except Exception:
                return  # Spark has ended; the job's own error says so
            if infos:
                advance(stage, sum(i.numCompletedTasks for i in infos), sum(i.numTasks for i in infos))

    thread = threading.Thread(target=context.run, args=(watch,), daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()
