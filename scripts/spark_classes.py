"""Archive the classes of Spark that Java loads, so that a JVM starts in half the processor time.

    .venv/bin/python scripts/spark_classes.py     a part of `make setup`; once for an environment and its Java

A session does a little of each thing that stages ask of Spark. When Java ends, it writes the classes that it
loaded (class-data sharing, https://openjdk.org/jeps/350).
"""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import psutil
import pyarrow as pa
import pyarrow.parquet as pq

from orchestration.settings import Spark
from orchestration.spark.session import (
    CLASSES,
    LOGGING,
    spark_session,
)
from orchestration.spark.workers import NUMBER, gathered
from substrate.base.files import replacing

ROWS = pa.schema([(NUMBER, pa.int64()), ("lines", pa.list_(pa.string()))])


def one_row(given: dict[str, Any]) -> list[dict[str, Any]]:
    """The row of a number."""
    return [{NUMBER: given[NUMBER], "lines": ["a"]}]


def main() -> None:
    """Write the archive of classes anew."""
    for name in ("SPARK_REMOTE", "SPARK_MASTER"):
        os.environ.pop(name, None)
    # A session would load the old archive, and Java makes no archive on top of another.
    CLASSES.unlink(missing_ok=True)
    with replacing(CLASSES) as archive:
        options = [LOGGING, "-XX:+IgnoreUnrecognizedVMOptions", f"-XX:ArchiveClassesAtExit={archive}"]
        use(Spark(config={"spark.driver.extraJavaOptions": shlex.join([*options, "-Xlog:disable"])}))
        archive.touch()  # if Java has written none: it ignores an empty archive, and parses the jars


def use(settings: Spark) -> None:
    """Do the kinds of work that stages ask of Spark, on a few rows, and end the session with its JVM."""
    from pyspark.sql import functions as sql

    session, numbers = spark_session(settings), range(8)
    with TemporaryDirectory(prefix="substrate-") as folder:
        file = Path(folder) / "rows.parquet"
        pq.write_table(pa.table({NUMBER: numbers, "text": ["a"] * len(numbers)}), file)
        rows = session.read.schema(f"{NUMBER} long, text string").parquet(str(file))
        lists = rows.groupBy(NUMBER).agg(sql.sort_array(sql.collect_list("text")).alias("lines"))
        lists.join(sql.broadcast(rows), NUMBER).toArrow()
    gathered(session, one_row, ROWS, [str(number) for number in numbers], stage="")
    session.stop()
    for process in psutil.Process().children():
        if process.name() == "java":
            process.terminate()  # it writes the classes as it ends
            process.wait()


if __name__ == "__main__":
    main()
