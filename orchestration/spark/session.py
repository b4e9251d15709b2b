"""The Spark session, on this machine or on a cluster, and its configuration."""

from __future__ import annotations

import io
import os
import shlex
import socket
import sys
import threading
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir
from typing import TYPE_CHECKING, Any

from orchestration.code import PACKAGES, ROOT
from orchestration.settings import Spark
from orchestration.spark.java import java_fault, own_environment
from substrate.base.errors import SubstrateError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class LostError(SubstrateError):
    """A worker or the connection to Spark was lost; the same work may be tried again."""


def spark_session(settings: Spark) -> SparkSession:
    """Return the only Spark session of this process, started on first use (5 to 7 s).

    ``SPARK_REMOTE`` in the environment names a Spark Connect server, ``SPARK_MASTER`` a cluster; without
    either, the settings say where Spark runs.
    """
    from pyspark.sql import SparkSession

    require_endpoint(settings)
    remote, local = os.environ.get("SPARK_REMOTE"), is_local(settings)
    builder = SparkSession.builder.appName("substrate")
    builder = builder.remote(remote) if remote else builder.master(_master(settings))
    if local:
        own_environment()
    # Workers must use this interpreter: another interpreter may lack packages.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    builder = builder.config(map=_configuration(local, bool(remote)) | settings.config)
    try:
        session = builder.getOrCreate()
    except Exception as error:
        if local:
            raise (java_fault() or error) from error
        from pyspark import __version__ as ours

        what = f"no session for PySpark {ours} ({cause_of(error)})"
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
    """Return the hosts and ports of the cluster's masters or Connect server; none if Spark is local."""
    address = os.environ.get("SPARK_REMOTE") or _master(settings)
    scheme, _, rest = address.partition("://")
    default = {"spark": 7077, "sc": 15002}.get(scheme)
    if default is None:
        return []
    hosts = rest.partition("/")[0].partition(";")[0].split(",")
    pairs = (address.rpartition(":") for address in hosts)
    return [(host or port, int(port) if host and port.isdigit() else default) for host, _, port in pairs]


def addresses(settings: Spark) -> tuple[str, ...]:
    """Format the endpoints as ``host:port``, for errors."""
    return tuple(f"{host}:{port}" for host, port in endpoints(settings))


def require_endpoint(settings: Spark) -> None:
    """Check that Spark's endpoints accept connections.

    Raises:
        SubstrateError: no endpoint does; the error names the address and the setting.
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
    """Interrupt the block's work after ``timeout`` seconds."""
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


def _configuration(local: bool, remote: bool) -> dict[str, Any]:
    """Return the settings of a session; a Connect server accepts only the settings of queries."""
    of_queries = {
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.execution.arrow.pyspark.enabled": "true",
        "spark.sql.shuffle.partitions": "4",
        # A worker holds one batch in memory: a few cases, not a partition.
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
        # Tasks are pure and write files atomically, so either of two attempts may win.
        own |= {"spark.speculation": "true", "spark.speculation.quantile": "0.9"}
        # After two failures on one executor, perhaps from a full disk, retry the task on another.
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
    """Return the JVM's options: a local JVM starts often and does little; a cluster's driver does more.

    The options may contain paths. Spark splits the line as a shell does.
    """
    if not local:
        return []
    # The second compiler never pays off here: Python's workers do the work.
    options = ["-XX:+IgnoreUnrecognizedVMOptions", "-XX:TieredStopAtLevel=1"]
    options.append(f"-Djava.io.tmpdir={gettempdir()}")
    if CLASSES.is_file():
        # Log disabled: Java would report a mismatched archive on standard output.
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
    """Pack the project's packages as an importable zip; the same code gives the same bytes."""
    # Packed inside the package, as in the wheel: an imported zip has no neighbouring folder.
    named = {f"substrate/tboxes/{file.name}": file for file in (ROOT / "tboxes").glob("*.ttl")}
    for package in PACKAGES:
        files = (file for file in (ROOT / package).rglob("*") if "__pycache__" not in file.parts)
        named |= {file.relative_to(ROOT).as_posix(): file for file in files if file.is_file()}
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, file in sorted(named.items()):
            archive.writestr(zipfile.ZipInfo(name), file.read_bytes(), zipfile.ZIP_DEFLATED)
    return data.getvalue()


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
