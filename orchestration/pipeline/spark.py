"""Scenes ► results on Spark: work is cut by scene, and the order of results never depends on the cut.

Each task gets a contiguous run of scenes; what the tasks write, taken in partition order, is in scene
order whatever the number of partitions.
"""

from __future__ import annotations

import contextvars
import os
import re
import shutil
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from orchestration.pipeline.progress import advance
from orchestration.settings import Spark
from substrate.errors import SubstrateError

Work = Callable[[Sequence[Any]], Iterable[str]]
"""From a task's scenes to lines of text, in scene order."""


def spark_session(settings: Spark) -> SparkSession:
    """The one Spark session of this process, started on first use (5 to 7 s)."""
    # Workers must run this interpreter: another one has other packages, or none.
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    master = os.environ.get("SPARK_MASTER", settings.master)
    configuration = dict(_CONFIGURATION)
    if master.startswith("local"):
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
        configuration |= {"spark.driver.bindAddress": "127.0.0.1", "spark.driver.host": "127.0.0.1"}
    builder = SparkSession.builder.appName("substrate").master(master)
    for key, value in configuration.items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("FATAL")
    return session


_CONFIGURATION = {
    "spark.driver.extraJavaOptions": f"-Dlog4j2.configurationFile={Path(__file__).with_name('log4j2.properties').as_uri()}",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    "spark.sql.shuffle.partitions": "4",
    # A batch is what a worker holds at once: some scenes, not a partition.
    "spark.sql.execution.arrow.maxRecordsPerBatch": "64",
}


def write_lines(
    session: SparkSession, scenes: Sequence[Any], work: Work, out: Path, *, stage: str, partitions: int
) -> None:
    """Run ``work`` over scenes and write its lines to one file, in scene order.

    Args:
        scenes: what scenes are named by, in order; a task gets a contiguous run of them.
        work: picklable; called in a worker with some of the scenes.
        out: the file to write.
        stage: the stage's name, for progress.
        partitions: how many tasks; no byte of the file depends on it.

    Raises:
        SubstrateError: one that ``work`` raised in a worker.
    """
    parts = out.with_name(f"{out.name}.parts")
    with _watched(session, stage), _plain_errors():
        _lines(session, scenes, work, partitions).write.text(parts.as_uri())
    with out.open("wb") as file:
        for part in sorted(parts.glob("part-*")):
            with part.open("rb") as source:
                shutil.copyfileobj(source, file)
    shutil.rmtree(parts)


def _lines(session: SparkSession, scenes: Sequence[Any], work: Work, partitions: int) -> DataFrame:
    ordered = list(scenes)

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            lines = list(work([ordered[index] for index in batch.column(0).to_pylist()]))
            yield pa.RecordBatch.from_arrays([pa.array(lines, pa.string())], names=["value"])

    # range() cuts its numbers into contiguous runs; mapInArrow keeps the order inside each.
    return session.range(0, len(ordered), 1, max(1, min(partitions, len(ordered)))).mapInArrow(
        run, "value string"
    )


@contextmanager
def _plain_errors() -> Iterator[None]:
    """Give an error of ours that a worker raised its own words back, without the stack of the JVM around it."""
    try:
        yield
    except Exception as error:
        if match := re.search(r"substrate\.errors\.\w+: (.+)", str(error)):
            raise SubstrateError(match[1]) from None
        raise


@contextmanager
def _watched(session: SparkSession, stage: str) -> Iterator[None]:
    """Reports the done and total tasks of the running job, from a thread, until the block ends."""
    tracker, done = session.sparkContext.statusTracker(), threading.Event()
    context = contextvars.copy_context()

    def watch() -> None:
        while not done.wait(0.2):
            infos = [info for number in tracker.getActiveStageIds() if (info := tracker.getStageInfo(number))]
            if infos:
                advance(stage, sum(i.numCompletedTasks for i in infos), sum(i.numTasks for i in infos))

    thread = threading.Thread(target=context.run, args=(watch,), daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()
