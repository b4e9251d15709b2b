"""A look at a cluster before work is sent to it: who answers, what runs there, what the storage takes."""

from __future__ import annotations

import os
import platform
import re
import shlex
import shutil
import socket
import subprocess
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
import pyarrow as pa

from orchestration.pipeline.spark import (
    LOGGING,
    NUMBER,
    addresses,
    alive_workers,
    is_local,
    java_options,
    map_rows,
    require_endpoint,
    spark_session,
)
from orchestration.workspace.folders import Workspace
from substrate.base.errors import SubstrateError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TASKS = 4
"""The tasks that ask workers what they have, where nobody says how many there are."""
PAUSE = 0.5
"""The seconds between two rounds of questions."""
LATE = 4.0
"""The seconds without an answer of a new worker that end the questions, where nobody lists the workers."""
LATEST = 30.0
"""The seconds until there is an executor, and those that a worker may take to answer after the first one did,
where its master says it is alive.
"""
SHORT_LIVED = {
    "spark.speculation": "false",  # a slow worker is to be looked at, not overtaken
    "spark.executor.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.driver.extraJavaOptions": shlex.join([LOGGING, *java_options(local=True)]),
}
"""The settings of a session that asks some small things and ends."""
MODULES = ("msgspec", "pyarrow", "pyoxigraph")
"""Packages of third parties without which no task runs."""
ASTRAY = 60
"""The seconds that a worker's clock may be off; S3 refuses what is signed 15 minutes off."""
ROOM = 256
"""The MiB that a worker's disk must have free, for the code that is sent and what Spark puts there."""
_SAID = pa.schema([("number", pa.int64()), ("said", pa.string())])


class _Worker(NamedTuple):
    """A worker's account of itself: host, ``host:port`` as its master lists it, versions, clock in seconds,
    the MiB free where it works, and the packages that it lacks.
    """

    host: str
    address: str
    python: str
    pyspark: str
    java: str
    clock: float
    folder: str
    free: int
    missing: list[str]


class Finding(NamedTuple):
    """A thing that was looked at: its state in words, and the way out where it does not fit."""

    what: str
    said: str
    fits: bool
    hint: str = ""


_worker = msgspec.json.Decoder(_Worker)


def findings(workspace: Workspace) -> Iterator[Finding]:
    """Look at the endpoint, the driver, the storage and the workers, and stop where nothing can follow.

    Args:
        workspace: its settings and the environment's ``SPARK_MASTER`` or ``SPARK_REMOTE`` name the cluster.
    """
    settings, began = workspace.settings.spark, time.time()
    remote = bool(os.environ.get("SPARK_REMOTE"))
    if not remote:
        settings = msgspec.structs.replace(settings, config=SHORT_LIVED | settings.config)
    where = ", ".join(addresses(settings)) or "this machine alone"
    yield from _tried("endpoint", lambda: (require_endpoint(settings), f"{where} answers")[1])
    python, pyspark = platform.python_version(), _pyspark()
    yield Finding("driver", f"Python {python}, PySpark {pyspark}, Java {_java()}", fits=True)
    yield from _tried("storage", lambda: _storage(workspace))
    try:
        require_endpoint(settings)
        alive = {f"{one.host}:{one.port}": one.cores - one.coresused for one in alive_workers(settings)}
        free = {address for address, cores in alive.items() if cores > 0}
        if free:
            # The cores that a run may have can be fewer than there are workers.
            every = {"spark.cores.max": str(sum(max(0, cores) for cores in alive.values()))}
            settings = msgspec.structs.replace(settings, config=settings.config | every)
        session = spark_session(settings)
        same = _same(session.version, pyspark)
        yield Finding("Spark", f"{session.version} on the cluster, {pyspark} here", *same)
        if not (remote or is_local(settings) or _has_executor(session)):
            hint = "Ask for no more than a worker has free: spark.executor.memory, spark.executor.cores"
            yield Finding("workers", f"none gave an executor within {LATEST:.0f} s", fits=False, hint=hint)
            return
        workers = _workers(session, free, lonely=is_local(settings))
    except SubstrateError as error:
        yield _failed("workers", error)
        return
    ended = time.time()
    for worker in workers:
        yield _of_worker(worker, max(worker.clock - ended, min(worker.clock - began, 0)))
    for address in sorted(alive.keys() - {worker.address for worker in workers}):
        said, hint = "not asked, since other applications have all of its cores", ""
        if address in free:
            said = f"alive, but did no task within {LATEST:.0f} s of the first answer"
            hint = "Look whether others have its memory, and in the log of its executor"
        yield Finding(f"worker at {address}", said, fits=address not in free, hint=hint)


def _has_executor(session: SparkSession) -> bool:
    """Wait for a worker to give what the settings ask of each."""
    context: Any = session.sparkContext
    tracker, latest = context._jsc.sc().statusTracker(), time.monotonic() + LATEST
    while len(tracker.getExecutorInfos()) < 2:  # the driver is the first
        if time.monotonic() > latest:
            return False
        time.sleep(PAUSE)
    return True


def _workers(session: SparkSession, free: set[str], *, lonely: bool) -> list[_Worker]:
    """The workers that answer, in order; they are asked again while others come up.

    Args:
        free: the addresses of those that must answer; empty where nobody knows them.
        lonely: there is one, and no other will come up.
    """
    found: dict[tuple[str, str], _Worker] = {}  # a machine may have several, each with a folder of its own
    tasks = max(TASKS, 2 * len(free))
    frame = session.range(0, tasks, 1, tasks).withColumnRenamed("id", NUMBER)
    names = [f"task {number}" for number in range(tasks)]
    first = latest = None
    while True:
        known = len(found)
        back = map_rows(frame, _look, _SAID, range(tasks), stage="cluster check", names=names)
        for one in map(_worker.decode, back["said"].to_pylist()):
            found[one.address or one.host, one.folder] = one
        now = time.monotonic()
        first = first or now
        latest = now if len(found) > known or latest is None else latest
        missing = free - {worker.address for worker in found.values()}
        if lonely or (not missing if free else now - latest > LATE) or now - first > LATEST:
            return sorted(found.values())
        time.sleep(PAUSE)


def _look(row: dict[str, Any]) -> list[dict[str, Any]]:
    """A worker's own account of itself."""
    from importlib.util import find_spec

    time.sleep(0.2)  # so that no worker takes all tasks
    try:
        folder = os.getcwd()
    except FileNotFoundError:  # on one machine: the folder that a process was started in may be gone
        folder = tempfile.gettempdir()
    java, address = _executor()
    said = _Worker(
        socket.gethostname(),
        address,
        platform.python_version(),
        _pyspark(),
        java,
        time.time(),
        folder,
        shutil.disk_usage(folder).free >> 20,
        [name for name in MODULES if find_spec(name) is None],
    )
    return [{"number": row["number"], "said": msgspec.json.encode(said).decode()}]


def _pyspark() -> str:
    """The PySpark that this process has, which in a worker came with Spark and not with a package."""
    import pyspark

    return pyspark.__version__


def _of_worker(worker: _Worker, off: float) -> Finding:
    """The words of a worker on itself, held against this process.

    Args:
        off: the seconds that its clock is ahead.
    """
    faults: list[tuple[str, str]] = []
    if worker.missing:
        faults.append((f"lacks {', '.join(worker.missing)}", "`make cluster-env` packs what workers need"))
    if abs(off) > ASTRAY:
        way = "ahead" if off > 0 else "behind"
        faults.append((f"its clock is {abs(off):.0f} s {way}", "Set it by NTP: S3 refuses what is signed so"))
    if worker.free < ROOM:
        faults.append(("its disk is full", "Free some there, or give it another SPARK_LOCAL_DIRS"))
    for name, theirs, ours in (
        ("Python", worker.python.rpartition(".")[0], platform.python_version().rpartition(".")[0]),
        ("PySpark", worker.pyspark, _pyspark()),
    ):
        if theirs != ours:
            faults.append((f"{name} is {ours} here", _same(theirs, ours)[1]))
    said = f"Python {worker.python}, PySpark {worker.pyspark}, Java {worker.java}"
    said = f"{said}, {worker.free:,} MiB free at {worker.folder}"
    found = [what for what, _ in faults] or ["has every package"]
    name = " at ".join(filter(None, (f"worker {worker.host}", worker.address)))
    return Finding(name, ", ".join([said, *found]), not faults, "; ".join(h for _, h in faults))


def _executor() -> tuple[str, str]:
    """The version of the Java that this worker was started by, and its ``host:port`` as its master lists it;
    ``unknown`` and nothing where the system does not say.
    """
    process: str | None = "self"
    with suppress(OSError):
        while process:
            folder = Path("/proc", process)
            program = (folder / "exe").resolve()
            if program.name == "java":
                address = _found(r"spark://Worker@([^\s\0]+)", (folder / "cmdline").read_text("utf-8"))
                release = (program.parents[1] / "release").read_text("utf-8")
                return _found(r'JAVA_VERSION="([^"]+)"', release) or "unknown", address or ""
            process = _found(r"PPid:\s*([1-9]\d*)", (folder / "status").read_text("utf-8"))
    return "unknown", ""


def _found(pattern: str, text: str) -> str | None:
    match = re.search(pattern, text)
    return match[1] if match else None


def _same(theirs: str, ours: str) -> tuple[bool, str]:
    return theirs == ours, "" if theirs == ours else f"Give the cluster {ours}, or this environment {theirs}"


def _failed(what: str, error: SubstrateError) -> Finding:
    return Finding(what, ": ".join([*error.where, error.what]), fits=False, hint=error.hint)


def _tried(what: str, look: Callable[[], str]) -> Iterator[Finding]:
    try:
        yield Finding(what, look(), fits=True)
    except SubstrateError as error:
        yield _failed(what, error)
    except (OSError, ImportError, ValueError) as error:
        hint = "Correct `storage` in params.yaml, or install the package that it names"
        yield Finding(what, f"{type(error).__name__}: {error}", fits=False, hint=hint)


def _storage(workspace: Workspace) -> str:
    """Write a table, read it back, list its folder and delete it."""
    storage, folder = workspace.storage, f"check-{uuid.uuid4()}"
    table = pa.table({"number": pa.array([1, 2, 3], pa.int64())})
    try:
        storage.write(table, folder, "part.parquet")
        if storage.read(folder, "part.parquet") != table:
            raise OSError(f"{storage.uri(folder)} gives back other bytes than it was given")
    finally:
        storage.keep_only(folder, ())
    if storage.exists(folder, "part.parquet"):
        raise OSError(f"{storage.uri(folder)} keeps what was deleted")
    return f"{storage.base}: written, read back, listed, deleted"


def _java() -> str:
    home = os.environ.get("JAVA_HOME")
    program = str(Path(home) / "bin" / "java") if home else "java"
    try:
        said = subprocess.run([program, "-version"], capture_output=True, text=True, check=False, timeout=30)
    except OSError:
        return "not found"
    return _found(r'version "([^"]+)"', said.stderr) or "unknown"
