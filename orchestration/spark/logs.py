"""The table of a logger's event logs, with its index."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec

from orchestration.benchmarks.benchmark import Interpreted, Logger
from orchestration.code import code_of
from orchestration.spark.cases import MAKING, cases_of
from orchestration.spark.parts import Parts, write_parts
from orchestration.spark.workers import NUMBER, PLACE
from orchestration.workspace.folders import Workspace
from orchestration.workspace.log_table import LOGS, LogEntry, index_key
from orchestration.workspace.storage import TableRow
from orchestration.workspace.tables import ShardedTable, case_of, sealed, shard_name, short_key
from substrate.base.errors import SubstrateError
from substrate.base.files import sha256


def logged(workspace: Workspace, benchmark: Interpreted, stage: str) -> tuple[ShardedTable, ShardedTable]:
    """Return the tables of a benchmark's cases and logs.

    A table that is missing although its index exists is built again; raises errors as :func:`ensure_logs`.
    """
    cases = cases_of(workspace, benchmark.source, stage)
    return cases, ensure_logs(workspace, benchmark.logger, stage)


def build_logs(workspace: Workspace, logger: Logger, stage: str, index: Path) -> int:
    """Build the logs of every case, one file per shard, and write their index.

    Returns:
        The number of logs.
    """
    cases, storage = cases_of(workspace, logger.source, stage), workspace.storage
    parameters, logs = logger.parameters.of(workspace.settings), logger.logs
    key = short_key(cases.folder, parameters, code_of(logs))
    folder = f"{workspace.shelves[0]}/logs/{logger.name}"

    def rows(shard: int) -> Iterator[TableRow]:
        return storage.rows(cases.folder, shard_name(shard))

    def work(row: TableRow) -> Iterator[TableRow]:
        for place, named in enumerate(logs(case_of(row), parameters)):
            yield {
                NUMBER: row[NUMBER],
                PLACE: place,
                "name": named.name,
                "digest": named.log.digest,
                "deltas": len(named.log),
                "source": named.source or row["source"],
                "patch": named.log.to_patch(),
            }

    parts = Parts(storage, f"{folder}/{key}", len(cases.shard_rows), rows, work, LOGS, stage)
    made = write_parts(workspace.settings.spark, parts)
    columns = ("name", "digest", "deltas", "source")
    with index.open("wb") as file:
        for name in parts.names:
            for row in storage.rows(parts.folder, name, columns=columns):
                file.write(msgspec.json.encode(LogEntry(*row.values())) + b"\n")
    pointer = index_key(index)
    storage.write_record(sealed(made.folder, made.shard_rows, made.sums, cases.shard_rows), folder, pointer)
    storage.keep_only(folder, [key, pointer])
    return made.rows


def ensure_logs(workspace: Workspace, logger: Logger, stage: str) -> ShardedTable:
    """Return the table of a logger's logs.

    The table is built again if only its index exists.

    Raises:
        SubstrateError: the built logs differ from the index.
    """
    logs = workspace.logs(logger.name)
    with MAKING:
        if logs.table is None:
            with TemporaryDirectory(prefix="substrate-") as folder:
                again = Path(folder) / logs.index.name
                build_logs(workspace, logger, stage, again)
                if sha256(again) != sha256(logs.index):
                    hint = f"`substrate materialize {logger.name}/logs` builds them anew"
                    what = "the logs that the data give differ from the index"
                    raise SubstrateError(what, where=(logs.index,), hint=hint)
        table = logs.table
    assert table
    return table
