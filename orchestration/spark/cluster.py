"""A check of a cluster before work is sent to it: its versions, its workers, its storage."""

from __future__ import annotations

import os
import platform
import shutil
import socket
import tempfile
import time
import uuid
from collections.abc import Iterator
from importlib.util import find_spec
from typing import TYPE_CHECKING, NamedTuple

import msgspec
import pyarrow as pa

from orchestration.ledger.environment import java_version
from orchestration.settings import Spark
from orchestration.spark.endpoint import addresses, is_local, require_endpoint
from orchestration.spark.session import spark_session, within
from orchestration.spark.workers import NUMBER, gathered
from orchestration.workspace.folders import Workspace
from orchestration.workspace.storage import INT, TEXT, TableRow
from substrate.base.errors import SubstrateError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# The tasks of a round that queries the workers.
TASKS = 4
# The seconds without a new worker after which the rounds end.
LATE = 4.0
# The most seconds that the workers may take to answer.
LATEST = 30.0
# Third-party packages that every task needs.
MODULES = ("msgspec", "pyarrow", "pyoxigraph")
# The most seconds that a worker's clock may be off; S3 refuses signatures that are 15 minutes off.
ASTRAY = 60
# The free MiB that a worker's disk needs, for our code and Spark's files.
ROOM = 256
_REPORTS = pa.schema({NUMBER: INT, "report": TEXT})


class _Worker(NamedTuple):
    """A worker's report: versions, clock in seconds, free MiB in its working folder, and the packages that it
    lacks.
    """

    host: str
    python: str
    pyspark: str
    clock: float
    folder: str
    free: int
    missing: list[str]


class Finding(NamedTuple):
    """The result of a check: the state in words and, if it is a fault, the remedy."""

    what: str
    said: str
    fits: bool
    hint: str = ""


_worker = msgspec.json.Decoder(_Worker)


def findings(workspace: Workspace) -> Iterator[Finding]:
    """Check the endpoint, the driver, the storage and the workers.

    Args:
        workspace: its settings, and the variable ``SPARK_MASTER`` or ``SPARK_REMOTE``, name the cluster.
    """
    settings = workspace.settings.spark
    yield from _tried("endpoint", _endpoint(settings))
    ours = f"Python {platform.python_version()}, PySpark {_pyspark()}, Java {java_version() or 'not found'}"
    yield Finding("driver", ours, fits=True)
    yield from _tried("storage", _storage(workspace))
    yield from _tried("workers", _spark(settings))


def _tried(what: str, look: Iterator[Finding]) -> Iterator[Finding]:
    """Yield findings; an error ends them, and is the last one."""
    try:
        yield from look
    except SubstrateError as error:
        yield Finding(what, ": ".join([*error.where, error.what]), fits=False, hint=error.hint)
    except (OSError, ImportError, ValueError) as error:
        hint = "Correct `storage` in params.yaml, or install the package that it names"
        yield Finding(what, f"{type(error).__name__}: {error}", fits=False, hint=hint)


def _endpoint(settings: Spark) -> Iterator[Finding]:
    require_endpoint(settings)
    where = ", ".join(addresses(settings)) or "this machine alone"
    yield Finding("endpoint", f"{where} answers", fits=True)


def _spark(settings: Spark) -> Iterator[Finding]:
    """Start a session, and compare its version and its workers with this process."""
    began, pyspark = time.time(), _pyspark()
    session = spark_session(settings)
    said = f"{session.version} on the cluster, {pyspark} here"
    yield Finding("Spark", said, session.version == pyspark, _remedy(session.version, pyspark))
    workers = _workers(session, lonely=is_local(settings))
    if not workers:
        hint = "Ask for no more than a worker has free: spark.executor.memory, spark.executor.cores"
        yield Finding("workers", f"none did a task within {LATEST:.0f} s", fits=False, hint=hint)
    ended = time.time()
    for worker in workers:
        # The least error of its clock that is certain; 0 if it shows a time between the two here.
        yield _of_worker(worker, max(worker.clock - ended, min(worker.clock - began, 0)))


def _workers(session: SparkSession, *, lonely: bool) -> list[_Worker]:
    """The workers that answer, in order; asked again while new workers start.

    Args:
        lonely: there is a single worker, and no other will start.
    """
    known: dict[tuple[str, str], _Worker] = {}  # a machine may have several, each with a folder of its own
    names = [f"task {number}" for number in range(TASKS)]
    first = latest = time.monotonic()
    while time.monotonic() - latest < LATE and time.monotonic() - first < LATEST:
        before = len(known)
        try:
            with within(session.interruptAll, LATEST):
                rows = gathered(session, _account_of, _REPORTS, names, stage="cluster check")
        except SubstrateError:
            if time.monotonic() - latest < LATEST:
                raise
            break
        for worker in map(_worker.decode, rows["report"].to_pylist()):
            known[worker.host, worker.folder] = worker
        latest = time.monotonic() if len(known) > before else latest
        if lonely:
            break
    return sorted(known.values())


def _account_of(row: TableRow) -> list[TableRow]:
    """Report on the worker that runs this."""
    time.sleep(0.2)  # so that no single worker takes all tasks
    try:
        folder = os.getcwd()
    except FileNotFoundError:  # on one machine, the process's starting folder may be gone
        folder = tempfile.gettempdir()
    missing = [name for name in MODULES if find_spec(name) is None]
    free = shutil.disk_usage(folder).free >> 20
    python = platform.python_version()
    account = _Worker(socket.gethostname(), python, _pyspark(), time.time(), folder, free, missing)
    return [{NUMBER: row[NUMBER], "report": msgspec.json.encode(account).decode()}]


def _pyspark() -> str:
    """The PySpark that this process uses; in a worker it came with Spark, not from a package."""
    import pyspark

    return pyspark.__version__


def _of_worker(worker: _Worker, off: float) -> Finding:
    """Compare a worker's report with this process.

    Args:
        off: the seconds that the worker's clock is ahead.
    """
    lacks, way = ", ".join(worker.missing), "ahead" if off > 0 else "behind"
    python, ours = (of.rpartition(".")[0] for of in (worker.python, platform.python_version()))
    clock = f"its clock is {abs(off):.0f} s {way}"
    checks = [
        (lacks, f"lacks {lacks}", "`make cluster-env` packs what workers need"),
        (abs(off) > ASTRAY, clock, "Set it by NTP: S3 refuses its signatures"),
        (worker.free < ROOM, "its disk is full", "Free space there, or give it another SPARK_LOCAL_DIRS"),
        (python != ours, f"Python is {ours} here", _remedy(python, ours)),
        (worker.pyspark != _pyspark(), f"PySpark is {_pyspark()} here", _remedy(worker.pyspark, _pyspark())),
    ]
    faults = [(what, hint) for fails, what, hint in checks if fails]
    summary = f"Python {worker.python}, PySpark {worker.pyspark}, {worker.free:,} MiB free at {worker.folder}"
    words = [what for what, _ in faults] or ["has every package"]
    hint = "; ".join(hint for _, hint in faults)
    return Finding(f"worker {worker.host}", ", ".join([summary, *words]), not faults, hint)


def _remedy(theirs: str, ours: str) -> str:
    """The remedy for a version that differs."""
    return "" if theirs == ours else f"Give the cluster {ours}, or this environment {theirs}"


def _storage(workspace: Workspace) -> Iterator[Finding]:
    """Write a table to the storage, read it back, list its folder and delete it."""
    storage, folder = workspace.storage, f"check-{uuid.uuid4()}"
    rows, schema = [{NUMBER: number} for number in (1, 2, 3)], pa.schema({NUMBER: INT})
    try:
        storage.write_rows(rows, schema, folder, "part.parquet")
        if storage.read(folder, "part.parquet") != pa.Table.from_pylist(rows, schema):
            raise OSError(f"{storage.base}/{folder} gives back other bytes than it was given")
    finally:
        storage.remove(folder)
    if storage.exists(folder, "part.parquet"):
        raise OSError(f"{storage.base}/{folder} keeps what was deleted")
    yield Finding("storage", f"{storage.base}: written, read back, listed, deleted", fits=True)
