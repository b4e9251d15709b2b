"""The Spark session, on this machine or on a cluster, and its configuration."""

from __future__ import annotations

import os
import shlex
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import gettempdir
from typing import TYPE_CHECKING, Any

from orchestration.settings import Spark
from orchestration.spark.endpoint import addresses, is_local, master_of, require_endpoint
from orchestration.spark.errors import LostError, cause_of
from orchestration.spark.java import java_fault, own_environment
from orchestration.spark.shipped_code import ship_code
from substrate.base.errors import SubstrateError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def spark_session(settings: Spark) -> SparkSession:
    """Return the only Spark session of this process, started on first use (5 to 7 s)."""
    from pyspark.sql import SparkSession

    require_endpoint(settings)
    remote, local = os.environ.get("SPARK_REMOTE"), is_local(settings)
    builder = SparkSession.builder.appName("substrate")
    builder = builder.remote(remote) if remote else builder.master(master_of(settings))
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
        ship_code(session)
    return session


# The number of retries of a silent Connect server: after 0.05, 0.2 and 0.8 s, then every 2 s to 2.5 s, which
# is 7 s to 8.6 s in all. PySpark's own client would retry for ten minutes.
ATTEMPTS = 6


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
        most = {"enabled": "true", "task.maxTaskAttemptsPerExecutor": "2", "task.maxTaskAttemptsPerNode": "3"}
        own |= {f"spark.excludeOnFailure.{key}": value for key, value in most.items()}
    return of_queries | own


# The Java option that restricts the log to errors.
LOGGING = f"-Dlog4j2.configurationFile={Path(__file__).absolute().with_name('log4j2.properties').as_uri()}"
# An archive of Spark's parsed classes, made by ``make setup``: it halves the processor time of a JVM's
# start. Java compares the archive with its version and the jars, and ignores it if they differ.
CLASSES = Path(sys.prefix) / "spark-classes.jsa"


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
