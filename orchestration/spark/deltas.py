"""A Spark table of the deltas of all logs of a benchmark, for SQL."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pyarrow as pa

from orchestration.benchmarks.benchmark import Interpreted
from orchestration.spark.all_logs import Answered, at_most, logs_of
from orchestration.spark.session import spark_session, within
from orchestration.spark.workers import NUMBER, places_frame, plain_errors
from orchestration.workspace.folders import Workspace
from orchestration.workspace.tables import shard_name
from substrate.adapters.bridges import to_arrow
from substrate.base.errors import ParameterError
from substrate.log.event_log import EventLog

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
"""A row per delta; terms as in N-Triples, ``op`` as in RDF Patch."""
_LETTERS = {"insert": "A", "retract": "D"}


def ask_deltas(
    workspace: Workspace, benchmark: Interpreted, query: str, timeout: float, limit: int
) -> Answered:
    """Run a query in Spark's SQL over the table ``deltas``, which has all logs of a benchmark.

    Args:
        query: a SELECT.
        timeout: the seconds that the query may take.
        limit: the most rows allowed.

    Raises:
        ParameterError: the query is not SQL, or asks for another table.
        SubstrateError: the query takes too long or gives too many rows.
    """
    from pyspark.errors import AnalysisException, ArithmeticException

    session, storage = spark_session(workspace.settings.spark), workspace.storage
    logs, scenes = logs_of(workspace, benchmark)

    def rows(place: int) -> Iterator[pa.RecordBatch]:
        for row in storage.rows(logs.folder, shard_name(place), columns=[NUMBER, "name", "patch"]):
            log = EventLog.from_patch(row["patch"], row["name"])
            yield from exploded(log, row["name"], str(scenes[row[NUMBER]])).to_batches()

    # A query must not name a file; inside a subquery it can only read.
    session.conf.set("spark.sql.runSQLOnFiles", "false")
    # Spark would log a refused query with its parser's stack; the error says it in one line.
    logging.getLogger("SQLQueryContextLogger").setLevel(logging.CRITICAL + 1)
    try:
        with within(session.interruptAll, timeout), plain_errors(session, "--sql"):
            try:
                frame = places_frame(session, range(len(logs.shards)), rows, DELTAS)
                frame.createOrReplaceTempView(NAME)
                table = session.sql(f"SELECT * FROM (\n{query}\n) LIMIT {limit + 1}").toArrow()
            except (AnalysisException, ArithmeticException) as error:
                hint = f"Ask the table {NAME}, in Spark's SQL"
                what = str(error).strip().splitlines()[0].rstrip(".")
                raise ParameterError(what, where=("--sql",), hint=hint) from error
    finally:
        session.catalog.dropTempView(NAME)
    at_most(limit, table.num_rows)
    return Answered(table.column_names, [list(row.values()) for row in table.to_pylist()])


def exploded(log: EventLog, name: str, scene: str) -> pa.Table:
    """A log as a table of its deltas."""
    deltas = to_arrow(log)
    letters = pa.array([_LETTERS[op] for op in deltas["op"].to_pylist()], pa.string())
    own = {"op": letters, "scene": pa.array([scene] * len(letters)), "log": pa.array([name] * len(letters))}
    columns = [own[column] if column in own else deltas[column] for column in DELTAS.names]
    return pa.table(columns, schema=DELTAS)
