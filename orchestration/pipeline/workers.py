"""What workers do: rows through a pure function, a task a place.

A worker gets its cases as rows and gives rows back; it never opens a file of the driver's disk. What comes
back is compared with what was asked for, case by case.
"""

from __future__ import annotations

import contextvars
import os
import threading
import traceback
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import msgspec
import pyarrow as pa

from orchestration.pipeline.progress import advance
from orchestration.pipeline.spark import LostError, addresses, cause_of
from orchestration.settings import Spark
from orchestration.workspace.storage import ROWS_AT_ONCE, batched
from substrate.base import errors
from substrate.base.errors import SubstrateError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


Work = Callable[[dict[str, Any]], Iterable[dict[str, Any]]]
"""From a row of input to rows of output; picklable, and pure: it may run twice."""
NUMBER = "number"
PLACE = "place"
"""The columns by which what comes back is told apart: the case, and the place among what it gives."""


def places_frame(
    session: SparkSession, places: range, rows: Callable[[int], Iterator[pa.RecordBatch]], schema: pa.Schema
) -> DataFrame:
    """The rows that a function gives for each of some places, a task a place."""
    from pyspark.sql.pandas.types import from_arrow_schema

    def give(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for place in batch.column(0).to_pylist():
                yield from rows(place)

    tasks = session.range(places.start, places.stop, 1, max(1, len(places)))
    return tasks.mapInArrow(give, from_arrow_schema(schema))


def gathered(
    session: SparkSession,
    places: range,
    rows: Callable[[int], Iterable[dict[str, Any]]],
    work: Work,
    schema: pa.Schema,
    ids: Sequence[int],
    *,
    stage: str,
    names: Sequence[str],
) -> pa.Table:
    """Run a function over the rows of some places, a task a place, and give what comes back, by number.

    Args:
        rows: the rows of a place; each has a ``number``, and in ``source``, if it has that, what errors call
            it.
        work: gives rows with the same ``number``.
        schema: of what comes back.
        ids: the numbers of all rows; each must come back.
        stage: the stage's name, for progress.
        names: what errors call each of ``ids``.

    Raises:
        SubstrateError: one that ``work`` raised in a worker; or a number is missing, or was never asked for.
    """

    def run(place: int) -> Iterator[pa.RecordBatch]:
        made = (row for given in rows(place) for row in guarded(work, given))
        for some in batched(made, ROWS_AT_ONCE):
            yield pa.RecordBatch.from_pylist(some, schema=schema)

    with watched(session, stage), plain_errors(session, stage):
        back = places_frame(session, places, run, schema).toArrow()
    keys = [name for name in (NUMBER, PLACE) if name in back.column_names]
    nothing_lost(list(zip(*(back[key].to_pylist() for key in keys), strict=True)), ids, names, stage)
    return back.sort_by([(key, "ascending") for key in keys]).cast(schema)


class _Told(msgspec.Struct, frozen=True):
    """An error as a worker tells it: what it is made from, and the end of its traceback."""

    kind: str
    what: str
    where: tuple[str, ...]
    hint: str
    traceback: str


_TOLD = "the error as JSON: "
_told = msgspec.json.Decoder(_Told)


def guarded(work: Work, row: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The rows of one input; an error that is not ours says which input it came from."""
    with telling(row.get("source") or f"number {row[NUMBER]}"):
        yield from work(row)


@contextmanager
def telling(where: str) -> Iterator[None]:
    """Let an error of the block, in a worker, reach the driver in its own words.

    Args:
        where: what an error that is not ours says it came from.
    """
    try:
        yield
    except Exception as error:
        if any(note.startswith(_TOLD) for note in getattr(error, "__notes__", ())):
            raise
        lines = traceback.format_exc().splitlines()[-TRACEBACK_LINES:]
        if isinstance(error, SubstrateError):
            ours = error
        else:
            starved = isinstance(error, MemoryError)
            what = "a worker has not enough memory" if starved else f"{type(error).__name__}: {error}"
            hint = "Free some, or let fewer work at once by spark.master in params.yaml" if starved else ""
            ours = SubstrateError(what, where=(where,), hint=hint)
        told = _Told(type(ours).__name__, ours.what, ours.where, ours.hint, "\n".join(lines))
        # A note stands in the text of the traceback, which is all that Spark hands on.
        ours.add_note(_TOLD + msgspec.json.encode(told).decode())
        if ours is error:
            raise
        raise ours from error


def nothing_lost(
    keys: Sequence[tuple[int, ...]], ids: Sequence[int], names: Sequence[str], stage: str
) -> None:
    """Hold what came back against what was asked for.

    Args:
        keys: what tells apart the rows that came back, their number first.
        ids: the numbers that were given.
        names: what errors call each of ``ids``.

    Raises:
        SubstrateError: a number is missing, came twice, or was never asked for.
    """
    wanted = dict(zip(ids, names, strict=True))
    came = {key[0] for key in keys}
    faults = {
        "did not come back": [name for number, name in wanted.items() if number not in came],
        "came back twice": [
            wanted.get(key[0], str(key[0])) for key, times in Counter(keys).items() if times > 1
        ],
        "came back though nobody asked": [f"number {number}" for number in sorted(came - wanted.keys())],
    }
    words = [f"{len(cases)} of {len(ids)} {how}, {cases[0]} first" for how, cases in faults.items() if cases]
    if words:
        hint = "Run the stage again: finished shards are kept"
        raise SubstrateError("; ".join(words), where=(stage,), hint=hint)


class WorkerError(Exception):
    """The end of the Python traceback that a worker left, as the cause of the error that reaches the user."""


@contextmanager
def plain_errors(session: SparkSession, stage: str) -> Iterator[None]:
    """Give an error that a worker raised its own words back, without the stack of the JVM around it.

    An error of the work always tells of itself (:func:`telling`). One that does not is Spark's own: a worker
    that died, a disk that is full, a connection that broke.

    Raises:
        SubstrateError: a worker raised it, or Spark's JVM on this machine is gone, and with it the session.
        LostError: anything else: it may not come again.
    """
    try:
        yield
    except SubstrateError:
        raise
    except Exception as error:
        if (place := str(error).find(_TOLD)) >= 0:
            told = _told.decode(str(error)[place + len(_TOLD) :].splitlines()[0])
            kind = getattr(errors, told.kind, SubstrateError)
            raise kind(told.what, where=told.where, hint=told.hint) from WorkerError(told.traceback)
        if not os.environ.get("SPARK_REMOTE") and not _has_jvm(session):
            hint = "Free memory, or give it less by spark.config, and run it again: finished shards are kept"
            raise SubstrateError("Spark's JVM has ended", where=(stage,), hint=hint) from error
        where = (stage, *addresses(Spark()))
        hint = "Look in the run's log, and whether Spark runs; finished shards are kept"
        raise LostError(cause_of(error), where=where, hint=hint) from error


def _has_jvm(session: SparkSession) -> bool:
    try:
        return bool(session.version)  # which the JVM is asked for
    except Exception:
        return False


TRACEBACK_LINES = 60
"""The number of lines of a worker's traceback that are kept."""


@contextmanager
def watched(session: SparkSession, stage: str) -> Iterator[None]:
    """Reports the done and total tasks of the stage's own running jobs, from a thread, where the session can
    tell.
    """
    if type(session).__module__ != "pyspark.sql.session":
        yield
        return
    session.sparkContext.setJobGroup(stage, stage)  # of this thread's jobs alone
    tracker: Any = session.sparkContext.statusTracker()
    done, context = threading.Event(), contextvars.copy_context()

    def watch() -> None:
        while not done.wait(0.2):
            try:
                jobs = [job for at in tracker.getJobIdsForGroup(stage) if (job := tracker.getJobInfo(at))]
                running = [number for job in jobs if job.status == "RUNNING" for number in job.stageIds]
                infos = [info for number in running if (info := tracker.getStageInfo(number))]
            except Exception:
                return  # Spark is gone, as the job's own error says
            if infos:
                advance(stage, sum(i.numCompletedTasks for i in infos), sum(i.numTasks for i in infos))

    thread = threading.Thread(target=context.run, args=(watch,), daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()
