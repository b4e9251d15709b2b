"""Errors of Spark's workers, which the driver raises again as they were.

Any other error counts as the loss of a worker or of the connection.

Spark passes on only the text of a worker's traceback. So :func:`guarded` adds the error to that text in a
worker, and :func:`plain_errors` reads it from there in the driver.
"""

from __future__ import annotations

import os
import traceback
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

import msgspec

from orchestration.settings import Spark
from orchestration.spark.endpoint import addresses
from orchestration.workspace.storage import TableRow
from substrate.base import errors
from substrate.base.errors import SubstrateError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

T = TypeVar("T")
# The number of lines kept of a worker's traceback.
TRACEBACK_LINES = 60


class LostError(SubstrateError):
    """A worker or the connection to Spark was lost; the same work may be tried again."""


class _SentError(msgspec.Struct, frozen=True):
    """An error as a worker sends it: its parts, and the end of its traceback."""

    kind: str
    what: str
    where: tuple[str, ...]
    hint: str
    traceback: str


# The beginning of the note that holds an error.
_MARK = "the error as JSON: "


def guarded(work: Callable[[TableRow], Iterable[T]], row: TableRow, source: str) -> Iterator[T]:
    """Yield the results of one input, in a worker.

    An error carries itself as a note, so that the driver can raise it again (:func:`plain_errors`). A foreign
    error is reported with the name of that input, its ``source``.
    """
    try:
        yield from work(row)
    except Exception as error:
        if any(note.startswith(_MARK) for note in getattr(error, "__notes__", ())):
            raise
        lines = traceback.format_exc().splitlines()[-TRACEBACK_LINES:]
        ours = error if isinstance(error, SubstrateError) else _named(error, source)
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


def cause_of(error: Exception) -> str:
    """Return the first informative line of a Spark error; of an error in a worker, its type and text.

    >>> cause_of(Exception("in it:\\nTraceback (most recent call last):\\n  File 'a'\\nOSError: full"))
    'OSError: full'
    """
    _, _, traced = str(error).partition("Traceback (most recent call last):\n")
    if raised := [line for line in traced.splitlines() if line and not line[0].isspace()]:
        return raised[0]
    lines = [line.strip().removeprefix(": ") for line in str(error).splitlines()]
    reasons = [line for line in lines if line and not line.startswith("An error occurred while")]
    return reasons[0] if reasons else f"Spark gave no reason ({type(error).__name__})"
