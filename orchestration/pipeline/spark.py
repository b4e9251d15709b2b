"""Spark: one session, and a shard of cases through a pure function.

A worker gets its cases as rows and gives rows back; it never opens a file of the driver's disk. What comes
back is compared with what was asked for, case by case.
"""

from __future__ import annotations

import contextvars
import io
import os
import shlex
import socket
import sys
import threading
import traceback
import zipfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir
from typing import TYPE_CHECKING, Any

import msgspec
import pyarrow as pa

from orchestration.code import PACKAGES, ROOT
from orchestration.pipeline.java import java_fault, own_environment
from orchestration.pipeline.progress import advance
from orchestration.settings import Spark
from substrate.base import errors
from substrate.base.errors import SubstrateError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType


Work = Callable[[dict[str, Any]], Iterable[dict[str, Any]]]
"""From a row of input to rows of output; picklable, and pure: it may run twice."""
NUMBER = "number"
PLACE = "place"
"""The columns by which what comes back is told apart: the case, and the place among what it gives."""


def spark_session(settings: Spark) -> SparkSession:
    """Return the only Spark session of this process, started on first use (5 to 7 s).

    ``SPARK_REMOTE`` in the environment names a Spark Connect server, ``SPARK_MASTER`` a cluster; without
    either, the settings say where Spark runs.
    """
    from pyspark.sql import SparkSession

    require_endpoint(settings)
    remote, master = os.environ.get("SPARK_REMOTE"), _master(settings)
    builder = SparkSession.builder.appName("substrate")
    builder = builder.remote(remote) if remote else builder.master(master)
    local = is_local(settings)
    if local:
        own_environment()
    # Workers must use this interpreter: another would have other packages, or none.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    for key, value in (_configuration(settings, local, bool(remote)) | settings.config).items():
        builder = builder.config(key, str(value).lower() if isinstance(value, bool) else str(value))
    try:
        session = builder.getOrCreate()
    except Exception as error:
        if local:
            raise (java_fault() or error) from error
        from pyspark import __version__ as ours

        what = f"no session for PySpark {ours} ({_cause(error)})"
        hint = f"Look whether the cluster is of Spark {ours}: its master's page and log say it"
        raise LostError(what, where=addresses(settings), hint=hint) from error
    if remote:
        from pyspark.sql.connect.client.retries import DefaultPolicy

        session.client.set_retry_policies([DefaultPolicy(max_retries=ATTEMPTS, max_backoff=2000)])
    else:
        session.sparkContext.setLogLevel("FATAL")
    if not local:
        _ship_code(session)
    return session


ANSWERING = 5.0
"""The seconds that a master or Connect server may take to accept a connection."""
ATTEMPTS = 6
"""The number of retries of a silent Connect server: after 0.05, 0.2 and 0.8 s, then every 2 s to 2.5 s, which
is 7 s to 8.6 s in all. PySpark's own client would retry for ten minutes.
"""


def endpoints(settings: Spark) -> list[tuple[str, int]]:
    """The hosts and ports of the cluster's masters or Connect server; none if Spark runs on this machine."""
    address = os.environ.get("SPARK_REMOTE") or _master(settings)
    scheme, _, rest = address.partition("://")
    if scheme not in ("spark", "sc"):
        return []
    default = 15002 if scheme == "sc" else 7077
    hosts = rest.partition("/")[0].partition(";")[0].split(",")
    pairs = (address.rpartition(":") for address in hosts)
    return [(host or port, int(port) if host and port.isdigit() else default) for host, _, port in pairs]


def addresses(settings: Spark) -> tuple[str, ...]:
    """The endpoints as ``host:port``, for errors."""
    return tuple(f"{host}:{port}" for host, port in endpoints(settings))


def require_endpoint(settings: Spark) -> None:
    """Check that Spark's endpoints accept connections.

    Raises:
        SubstrateError: none does; names the address and the setting.
    """
    refused: list[str] = []
    for host, port in endpoints(settings):
        try:
            socket.create_connection((host, port), timeout=ANSWERING).close()
            return
        except OSError as error:
            refused.append(f"{host}:{port} ({error.strerror or error})")
    if refused:
        setting = "SPARK_REMOTE" if os.environ.get("SPARK_REMOTE") else "SPARK_MASTER or spark.master"
        hint = f"Start it, or correct {setting}; `substrate cluster check` looks at all of a cluster"
        raise SubstrateError("no Spark answers", where=tuple(refused), hint=hint)


def leave_session() -> None:
    """End this process's session, if there is one; the next session opens a new connection."""
    from pyspark.sql import SparkSession

    with suppress(Exception):
        SparkSession.active().client.set_retry_policies([])  # a lost Connect server gets no retries
    # A session that is already lost cannot be ended.
    with suppress(Exception):
        SparkSession.active().stop()


@contextmanager
def within(interrupt: Callable[[], Any], timeout: float) -> Iterator[None]:
    """Interrupt the block's work after some seconds."""
    late = threading.Event()

    def stop() -> None:
        late.set()
        interrupt()

    timer = threading.Timer(timeout, stop)
    timer.start()
    try:
        yield
    except Exception as error:
        if not late.is_set():
            raise
        hint = "Ask for less, or raise --timeout"
        raise SubstrateError(f"took longer than {timeout:g} s", hint=hint) from error
    finally:
        timer.cancel()


def _master(settings: Spark) -> str:
    return os.environ.get("SPARK_MASTER") or settings.master


def is_local(settings: Spark) -> bool:
    """Tell whether Spark runs only on this machine, so that workers see the driver's disk."""
    return not os.environ.get("SPARK_REMOTE") and _master(settings).startswith("local")


def _configuration(settings: Spark, local: bool, remote: bool) -> dict[str, str]:
    """The settings of a session; a Connect server accepts only the settings of queries."""
    of_queries = {
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.execution.arrow.pyspark.enabled": "true",
        "spark.sql.shuffle.partitions": "4",
        # A worker holds a batch at once: some cases, not a partition.
        "spark.sql.execution.arrow.maxRecordsPerBatch": "16",
    }
    if remote:
        return of_queries
    own = {
        "spark.driver.extraJavaOptions": shlex.join([LOGGING, *java_options(local)]),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }
    if local:
        own |= {"spark.driver.bindAddress": "127.0.0.1", "spark.driver.host": "127.0.0.1"}
    else:
        events = Path(os.environ.get("DAGSTER_HOME", ".dagster")).absolute() / "spark-events"
        events.mkdir(parents=True, exist_ok=True)
        own |= {"spark.eventLog.enabled": "true", "spark.eventLog.dir": events.as_uri()}
        # A task is pure, and its file appears whole, so either of two attempts may win.
        own |= {"spark.speculation": "true", "spark.speculation.quantile": "0.9"}
        # A task that failed twice at an executor, perhaps for a full disk, is retried at another executor.
        excluding = {
            "enabled": "true",
            "task.maxTaskAttemptsPerExecutor": "2",
            "task.maxTaskAttemptsPerNode": "3",
        }
        own |= {f"spark.excludeOnFailure.{key}": value for key, value in excluding.items()}
    return of_queries | own


LOGGING = f"-Dlog4j2.configurationFile={Path(__file__).absolute().with_name('log4j2.properties').as_uri()}"
"""The Java option that restricts the log to errors."""
CLASSES = Path(sys.prefix) / "spark-classes.jsa"
"""An archive of Spark's parsed classes, made by ``make setup``: it halves the processor time of a JVM's
start. Java compares the archive with its version and the jars, and ignores it if they differ.
"""


def java_options(local: bool) -> list[str]:
    """The options of a JVM that starts often and does little; a cluster's driver does more.

    They may contain paths. Spark splits the line as a shell does.
    """
    if not local:
        return []
    # The second compiler never pays off here: Python's workers do the work.
    options = ["-XX:+IgnoreUnrecognizedVMOptions", "-XX:TieredStopAtLevel=1"]
    options.append(f"-Djava.io.tmpdir={gettempdir()}")
    if CLASSES.is_file():
        # Log disabled: Java would print on standard output that an archive does not fit.
        options += [f"-XX:SharedArchiveFile={CLASSES}", "-Xlog:disable"]
    return options


_shipped: list[tuple[SparkSession, TemporaryDirectory[str]]] = []
"""The sessions whose executors have the code, and the folders that new executors fetch it from."""


def _ship_code(session: SparkSession) -> None:
    """Send this project's code to the executors, once per session, so that they need no installation."""
    if any(session is known for known, _ in _shipped):
        return
    folder = TemporaryDirectory(prefix="substrate-")
    archive = Path(folder.name) / "substrate-code.zip"
    archive.write_bytes(code_archive())
    session.addArtifacts(str(archive), pyfile=True)
    _shipped.append((session, folder))


def code_archive() -> bytes:
    """The project's packages as an importable zip; the same code gives the same bytes."""
    data, files = io.BytesIO(), set[Path]()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for package in PACKAGES:
            for file in (ROOT / package).rglob("*"):
                if file.is_file() and "__pycache__" not in file.parts:
                    files.add(file)
        named = {file.relative_to(ROOT).as_posix(): file for file in files}
        # Inside the package, as in the wheel: an imported zip has no neighbouring folder.
        named |= {f"substrate/tboxes/{file.name}": file for file in (ROOT / "tboxes").glob("*.ttl")}
        for name, file in sorted(named.items()):
            archive.writestr(zipfile.ZipInfo(name), file.read_bytes(), zipfile.ZIP_DEFLATED)
    return data.getvalue()


def places_frame(
    session: SparkSession, places: range, rows: Callable[[int], Iterator[pa.RecordBatch]], schema: pa.Schema
) -> DataFrame:
    """The rows that a function gives for each of some places, a task a place."""

    def give(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for place in batch.column(0).to_pylist():
                yield from rows(place)

    tasks = session.range(places.start, places.stop, 1, max(1, len(places)))
    return tasks.mapInArrow(give, columns_of(schema))


def numbers_frame(session: SparkSession, numbers: Sequence[int], partitions: int) -> DataFrame:
    """A row a number, to compute from numbers alone."""
    rows = session.createDataFrame(pa.table({NUMBER: pa.array(numbers, pa.int64())}))
    return rows.repartition(max(1, min(partitions, len(numbers))), NUMBER)


def map_rows(
    frame: DataFrame, work: Work, schema: pa.Schema, ids: Sequence[int], *, stage: str, names: Sequence[str]
) -> pa.Table:
    """Run a function over the rows of a frame, and give what comes back, by number.

    Args:
        frame: has a column ``number``, and in ``source``, if it has that, what errors call a row.
        work: gives rows with the same ``number``.
        schema: of what comes back.
        ids: the numbers that are in the frame; each must come back.
        stage: the stage's name, for progress.
        names: what errors call each of ``ids``.

    Raises:
        SubstrateError: one that ``work`` raised in a worker; or a number is missing, or was never asked for.
    """

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            rows = [row for given in batch.to_pylist() for row in guarded(work, given)]
            yield pa.RecordBatch.from_pylist(rows, schema=schema)

    with watched(frame.sparkSession, stage), plain_errors(frame.sparkSession, stage):
        back = frame.mapInArrow(run, columns_of(schema)).toArrow()
    keys = [name for name in (NUMBER, PLACE) if name in back.column_names]
    nothing_lost(list(zip(*(back[key].to_pylist() for key in keys), strict=True)), ids, names, stage)
    return back.sort_by([(key, "ascending") for key in keys]).cast(schema)


def columns_of(schema: pa.Schema) -> StructType:
    """A schema as Spark takes it."""
    from pyspark.sql.pandas.types import from_arrow_schema

    return from_arrow_schema(schema)


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


class LostError(SubstrateError):
    """A worker, or the connection to Spark, was lost: what was asked is sound, and may be asked again."""


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
        raise LostError(_cause(error), where=where, hint=hint) from error


def _has_jvm(session: SparkSession) -> bool:
    try:
        return bool(session.version)  # which the JVM is asked for
    except Exception:
        return False


def _cause(error: Exception) -> str:
    """The first line of an error of Spark's that says anything."""
    lines = [line.strip().removeprefix(": ") for line in str(error).splitlines()]
    told = [line for line in lines if line and not line.startswith("An error occurred while")]
    return told[0] if told else f"Spark gave no reason ({type(error).__name__})"


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
