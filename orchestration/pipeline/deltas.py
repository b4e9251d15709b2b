"""The deltas of all logs of a benchmark as one table, and SQL over it: by DuckDB here, by Spark on a cluster.

The table is made from the logs when it is first asked, and made again where they, or its files, are others.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import msgspec
import pyarrow as pa

from orchestration.benchmarks.benchmark import Interpreted
from orchestration.code import code_of
from orchestration.pipeline.all_logs import Answered, at_most, tables_of, within
from orchestration.pipeline.parts import Parts, write_parts
from orchestration.pipeline.spark import NUMBER, columns_of, is_local, shards_frame, spark_session
from orchestration.workspace.folders import Workspace
from orchestration.workspace.tables import Manifest, shard_name, short_key, table_once
from substrate.adapters.bridges import COLUMNS, to_arrow
from substrate.base.errors import ParameterError
from substrate.log.event_log import EventLog

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

NAME = "deltas"
"""The table's name in a query."""
DELTAS = pa.schema(
    [
        ("scene", pa.string()),
        ("log", pa.string()),
        ("position", pa.int64()),
        ("tick", pa.int64()),
        ("op", pa.string()),
        ("subject", pa.string()),
        ("predicate", pa.string()),
        ("object", pa.string()),
    ]
)
"""A row a delta; terms as in N-Triples, ``op`` as in RDF Patch."""
ROWS_AT_ONCE = 1 << 16
"""The number of rows of a row group: what a query reads or leaves out at a time."""
_LETTERS = {"insert": "A", "retract": "D"}


def ask_deltas(
    workspace: Workspace, benchmark: Interpreted, query: str, timeout: float, limit: int
) -> Answered:
    """The rows of a SQL query, in Spark's dialect, over the table ``deltas`` of all logs of a benchmark.

    Args:
        query: a SELECT.
        timeout: seconds that it may take, beside those that making the table does.
        limit: how many rows there may be.

    Raises:
        ParameterError: the query is not SQL, or asks for another table.
        SubstrateError: it takes longer, or gives more.
    """
    query = f"SELECT * FROM (\n{query}\n) LIMIT {limit + 1}"
    asked = _by_duckdb if is_local(workspace.settings.spark) else _by_spark
    found = asked(workspace, benchmark, query, timeout)
    at_most(limit, found.num_rows)
    return Answered(found.column_names, [list(row.values()) for row in found.to_pylist()])


def _refused(said: str) -> ParameterError:
    hint = f"Ask the table {NAME}, in Spark's SQL"
    return ParameterError(said, where=("--sql",), hint=hint)


def _by_duckdb(workspace: Workspace, benchmark: Interpreted, query: str, timeout: float) -> pa.Table:
    import duckdb
    import pyarrow.dataset as datasets
    import sqlglot

    try:
        (translated,) = sqlglot.transpile(query, read="spark", write="duckdb")
    except (sqlglot.ParseError, ValueError) as error:
        said = re.sub(r"<Token .*text: (.*?), line: .*>", r"\1", str(error).splitlines()[0])
        raise _refused(f"not SQL: {said}") from error
    system, paths = workspace.storage.shards(delta_table(workspace, benchmark))
    with duckdb.connect() as database:
        database.register(NAME, datasets.dataset(paths, DELTAS, format="parquet", filesystem=system))
        # A query names no file and loads nothing.
        database.execute("SET enable_external_access = false; SET lock_configuration = true")
        try:
            with within(database.interrupt, timeout):
                found = database.sql(translated).to_arrow_table()
        except duckdb.Error as error:
            raise _refused(str(error).splitlines()[0]) from error
    # DuckDB's sums of integers are wider than Spark's.
    wide = pa.decimal128(38, 0)
    fields = [field.with_type(pa.int64()) if field.type == wide else field for field in found.schema]
    return found.cast(pa.schema(fields))


def _by_spark(workspace: Workspace, benchmark: Interpreted, query: str, timeout: float) -> pa.Table:
    from pyspark.errors import PySparkException

    session = spark_session(workspace.settings.spark)
    _frame(workspace, benchmark).createOrReplaceTempView(NAME)
    # A query may name no file; and what stands in a subquery can only read.
    session.conf.set("spark.sql.runSQLOnFiles", "false")
    # Spark would log a refused query with the stack of its parser; the error says it in a line.
    logging.getLogger("SQLQueryContextLogger").setLevel(logging.CRITICAL + 1)
    try:
        with within(session.interruptAll, timeout):
            return session.sql(query).toArrow()
    except PySparkException as error:
        raise _refused(str(error).strip().splitlines()[0]) from error
    finally:
        session.catalog.dropTempView(NAME)


def delta_table(workspace: Workspace, benchmark: Interpreted) -> Manifest:
    """The table, written where it is not there, or not what was written: by this process, or by executors
    where there is a cluster.
    """
    storage, spark = workspace.storage, workspace.settings.spark
    logs, cases = tables_of(workspace, benchmark)
    count = len(logs.shards)

    def write(table: str) -> Manifest:
        def write_shard(_: int, name: str) -> None:
            scenes = storage.rows(cases.folder, name, columns=[NUMBER, "scene"])
            scene_of = {row[NUMBER]: row["scene"] for row in scenes}
            rows = storage.rows(logs.folder, name, columns=[NUMBER, "name", "patch"])
            each = (_exploded(row | {"scene": scene_of[row[NUMBER]]}) for row in rows)
            storage.write_tables(_joined(each), DELTAS, table, name, rows=ROWS_AT_ONCE)

        if is_local(spark):
            for number in range(count):
                write_shard(number, shard_name(number))
            return storage.manifest_of(table, count)
        storage.remove(table)
        return write_parts(spark, Parts(storage, table, count, write_shard), NAME)

    folder = f"{workspace.shelves[0]}/deltas/{benchmark.logger.name}"
    key = short_key(logs.sums, cases.sums, code_of(_exploded))
    return table_once(storage, [folder], key, write, checked=True)


def _frame(workspace: Workspace, benchmark: Interpreted) -> DataFrame:
    """The table for Spark: read by its own reader, or by tasks from an object storage."""
    session, storage = spark_session(workspace.settings.spark), workspace.storage
    found = delta_table(workspace, benchmark)
    names = [shard_name(number) for number in range(len(found.shards))]
    if storage.of_objects:
        return shards_frame(session, storage, found.folder, names, DELTAS)
    uris = [storage.uri(found.folder, name) for name in names]
    return session.read.schema(columns_of(DELTAS)).parquet(*uris)


def exploded(log: EventLog, name: str, scene: str | None = None) -> pa.Table:
    """A log as its deltas."""
    found = to_arrow(log)
    columns = {name: found[name] for name in COLUMNS}
    columns["op"] = pa.array([_LETTERS[op] for op in found["op"].to_pylist()], pa.string())
    columns["scene"] = pa.array([scene] * found.num_rows, pa.string())
    columns["log"] = pa.array([name] * found.num_rows, pa.string())
    return pa.table([columns[name] for name in DELTAS.names], schema=DELTAS)


def _exploded(row: dict[str, Any]) -> pa.Table:
    """The deltas of a log that is a row of a table."""
    log = EventLog.from_patch(row["patch"], row["name"])
    return exploded(log, row["name"], str(msgspec.json.decode(row["scene"])))


def _joined(tables: Iterator[pa.Table]) -> Iterator[pa.Table]:
    """The same rows in tables of a row group or more, so that groups are not as small as logs."""
    kept: list[pa.Table] = []
    for table in tables:
        kept.append(table)
        if sum(map(len, kept)) >= ROWS_AT_ONCE:
            yield pa.concat_tables(kept)
            kept = []
    if kept:
        yield pa.concat_tables(kept)
