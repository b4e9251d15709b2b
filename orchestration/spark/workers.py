"""The work of Spark's workers: a pure function over rows, one task per place.

A worker receives its cases as rows and returns rows; it never opens a file on the driver's disk. The driver
checks, case by case, that every requested row came back.
"""

from __future__ import annotations

import contextvars
import os
import threading
import traceback
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec
import pyarrow as pa

from orchestration.base.progress import advance
from orchestration.settings import Spark
from orchestration.spark.session import LostError, addresses, cause_of
from orchestration.workspace.storage import TableRow
from substrate.base import errors
from substrate.base.errors import SubstrateError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


T = TypeVar("T")
Work = Callable[[TableRow], Iterable[TableRow]]
"""A function from an input row to output rows; picklable, and pure because it may run twice."""
NUMBER = "number"
PLACE = "place"
"""The columns that identify a returned row: its case, and its position among that case's rows."""


def places_frame(
    session: SparkSession, places: range, rows: Callable[[int], Iterator[pa.RecordBatch]], schema: pa.Schema
) -> DataFrame:
    """Return a frame of the rows that a function gives for each place, one task per place."""
    from pyspark.sql.pandas.types import from_arrow_schema

    def give(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for place in batch.column(0).to_pylist():
                yield from rows(place)

    tasks = session.range(places.start, places.stop, 1, max(1, len(places)))
    return tasks.mapInArrow(give, from_arrow_schema(schema))


def gathered(
    session: SparkSession, work: Work, schema: pa.Schema, names: Sequence[str], *, stage: str
) -> pa.Table:
    """Do some work once per name, one task each; return its rows in order of number.

    Args:
        work: from a row with a ``number``, and the name as its ``source``, to rows with the same number.
        schema: the schema of the returned rows.
        names: the names of the numbers from 0 on, for errors; each number must come back.
        stage: the stage's name, for progress.

    Raises:
        SubstrateError: ``work`` raised it in a worker; or a number is missing or was never given.
    """

    def run(place: int) -> Iterator[pa.RecordBatch]:
        made = guarded(work, {NUMBER: place, "source": names[place]})
        yield pa.RecordBatch.from_pylist([*made], schema=schema)

    places = range(len(names))
    with watched(session, stage), plain_errors(session, stage):
        back = places_frame(session, places, run, schema).toArrow()
    nothing_lost([(number,) for number in back[NUMBER].to_pylist()], dict(enumerate(names)), stage)
    return back.sort_by(NUMBER).cast(schema)


class _SentError(msgspec.Struct, frozen=True):
    """An error as a worker sends it: its parts, and the end of its traceback."""

    kind: str
    what: str
    where: tuple[str, ...]
    hint: str
    traceback: str


_MARK = "the error as JSON: "
"""The beginning of the note that holds an error, since Spark passes on only the text of the traceback."""


def source_of(row: TableRow) -> str:
    """The name of an input row for errors."""
    return row.get("source") or f"number {row[NUMBER]}"


def guarded(work: Callable[[TableRow], Iterable[T]], row: TableRow) -> Iterator[T]:
    """Yield the results of one input, in a worker.

    An error carries itself as a note, so that the driver can raise it again (:func:`plain_errors`). A foreign
    error is reported with that input.
    """
    try:
        yield from work(row)
    except Exception as error:
        if any(note.startswith(_MARK) for note in getattr(error, "__notes__", ())):
            raise
        lines = traceback.format_exc().splitlines()[-TRACEBACK_LINES:]
        ours = error if isinstance(error, SubstrateError) else _named(error, source_of(row))
        sent = _SentError(type(ours).__name__, ours.what, ours.where, ours.hint, "\n".join(lines))
        ours.add_note(_MARK + msgspec.json.encode(sent).decode())
        if ours is error:
            raise
        raise ours from error


def _named(error: Exception, source: str) -> SubstrateError:
    """A foreign error as one of ours, with the input that it arose from."""
    if isinstance(error, MemoryError):
        hint = "Free some, or let fewer work at once by spark.master in params.yaml"
        return SubstrateError("a worker has not enough memory", where=(source,), hint=hint)
    return SubstrateError(f"{type(error).__name__}: {error}", where=(source,))


def nothing_lost(keys: Sequence[tuple[int, ...]], given: Mapping[int, str], stage: str) -> None:
    """Check that the returned rows match the given numbers.

    Args:
        keys: the keys of the returned rows, each beginning with the row's number.
        given: the numbers that were given, each with its name in errors.

    Raises:
        SubstrateError: a number is missing, came twice, or was never given.
    """
    came = {key[0] for key in keys}
    faults = {
        "did not come back": [name for number, name in given.items() if number not in came],
        "came back twice": [
            given.get(key[0], str(key[0])) for key, times in Counter(keys).items() if times > 1
        ],
        "came back without a request": [f"number {number}" for number in sorted(came - given.keys())],
    }
    words = [
        f"{len(cases)} of {len(given)} {how}, {cases[0]} first" for how, cases in faults.items() if cases
    ]
    if words:
        hint = "Run the stage again: finished shards are kept"
        raise SubstrateError("; ".join(words), where=(stage,), hint=hint)


@contextmanager
def plain_errors(session: SparkSession, stage: str) -> Iterator[None]:
    """Raise a worker's error again in the driver, without the JVM's stack around it.

    An error of the work carries a note (:func:`guarded`). Any other error is Spark's own: a dead worker,
    a full disk, a broken connection.

    Raises:
        SubstrateError: a worker raised it, or Spark's JVM on this machine has ended, and with it the session.
        LostError: any other error, which may not recur.
    """
    try:
        yield
    except SubstrateError:
        raise
    except Exception as error:
        _, marked, note = str(error).partition(_MARK)
        if marked:
            sent = msgspec.json.decode(note.splitlines()[0], type=_SentError)
            kind = getattr(errors, sent.kind, SubstrateError)
            # The cause of the error that the user sees is the end of the worker's traceback.
            raise kind(sent.what, where=sent.where, hint=sent.hint) from RuntimeError(sent.traceback)
        remote = os.environ.get("SPARK_REMOTE")
        if not remote and not _has_jvm(session):
            hint = "Free memory, or give it less by spark.config, and run it again: finished shards are kept"
            raise SubstrateError("Spark's JVM has ended", where=(stage,), hint=hint) from error
        # Spark Connect has no context, and its address is in the environment.
        where = (stage, *addresses(Spark() if remote else Spark(master=session.sparkContext.master or "")))
        hint = "Look in the run's log, and whether Spark runs; finished shards are kept"
        raise LostError(cause_of(error), where=where, hint=hint) from error


def _has_jvm(session: SparkSession) -> bool:
    try:
        return bool(session.version)  # which the JVM is asked for
    except Exception:
        return False


TRACEBACK_LINES = 60
"""The number of lines kept of a worker's traceback."""


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
