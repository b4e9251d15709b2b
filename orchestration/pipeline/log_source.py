"""Event logs as a source of Spark's: ``spark.read.format("substrate")`` gives their deltas, a row each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import fsspec
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
from pyspark.sql.types import StructType

from orchestration.pipeline.deltas import DELTAS, exploded
from orchestration.pipeline.spark import columns_of
from substrate.base.errors import ParameterError
from substrate.log.event_log import EventLog

ROWS = DELTAS.remove(DELTAS.get_field_index("scene"))
"""A row a delta: log, position, tick, op, subject, predicate, object."""
FILES = 64
"""The number of files of logs that a task reads."""
_LOGS, _TABLES = (".rdfp", ".rdfp.gz"), ".parquet"


class LogSource(DataSource):
    """The deltas of the logs at a path: a file, or a folder with logs or with tables of a benchmark's logs.

    A log is proven by its chain before a row of it is given. A URI of a storage is a path for tables, and
    for logs where each worker has it mounted. A task reads :data:`FILES` logs, or a row group of a table.

    Raises:
        ParameterError: there is neither a log nor a table at the path.
        LogError: a log is not what was written; names it.
    """

    @classmethod
    def name(cls) -> str:
        """The name that a format is asked for by."""
        return "substrate"

    def schema(self) -> StructType:
        """The columns, :data:`ROWS`."""
        return columns_of(ROWS)

    def reader(self, schema: Any) -> LogReader:
        """The reader of the path that is given to ``load``."""
        return LogReader(self.options.get("path", ""))


@dataclass
class _Part(InputPartition):
    """The files of a task; ``group`` is the row group of the one that is a table."""

    files: list[str]
    group: int | None = None


class LogReader(DataSourceReader):
    """The tasks of a path, and the rows of a task."""

    def __init__(self, path: str) -> None:
        self.path = path

    def partitions(self) -> list[_Part]:
        """The tasks, in the order of the files' names."""
        system, root = fsspec.core.url_to_fs(self.path)
        found = sorted(system.find(root)) or [root]
        logs = [file for file in found if file.endswith(_LOGS)]
        parts = [_Part(logs[start : start + FILES]) for start in range(0, len(logs), FILES)]
        for table in (file for file in found if file.endswith(_TABLES)):
            with system.open(table, "rb") as file:
                parts += [_Part([table], group) for group in range(pq.ParquetFile(file).num_row_groups)]
        if not parts:
            raise ParameterError(
                "neither a log nor a table of logs is there",
                where=(self.path,),
                hint=f"Give a file or folder of {', '.join(_LOGS)} or {_TABLES}",
            )
        return parts

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """The deltas of a task's logs, a log at a time in memory."""
        assert isinstance(partition, _Part)
        for name, log in self._logs(partition):
            yield from exploded(log, name).select(ROWS.names).to_batches()

    def _logs(self, part: _Part) -> Iterator[tuple[str, EventLog]]:
        if part.group is None:
            for file in part.files:
                yield file.rpartition("/")[2].partition(".rdfp")[0], EventLog.read(file)
            return
        system, _ = fsspec.core.url_to_fs(self.path)
        with system.open(part.files[0], "rb") as file:
            for row in pq.ParquetFile(file).read_row_group(part.group, ["name", "patch"]).to_pylist():
                yield row["name"], EventLog.from_patch(row["patch"], row["name"])
