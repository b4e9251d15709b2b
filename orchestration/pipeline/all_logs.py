"""Questions over all logs of a benchmark at once, on Spark: SPARQL of each log's state, SQL of all deltas."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
import pyarrow as pa
import pyoxigraph as ox

from orchestration.benchmarks.benchmark import Interpreted
from orchestration.ledger.records import keep_tables
from orchestration.pipeline.cases import cases_of, ensure_logs
from orchestration.pipeline.spark import NUMBER, PLACE, columns_of, map_rows, spark_session
from orchestration.workspace.folders import Workspace
from orchestration.workspace.tables import LOGS, Manifest, shard_name
from substrate.base.errors import ParameterError, SubstrateError
from substrate.log.event_log import EventLog
from substrate.sparql.guard import query

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FOUND = pa.schema([(NUMBER, pa.int64()), (PLACE, pa.int64()), ("lines", pa.list_(pa.string()))])
"""A row a log: its solutions as JSON."""
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
"""A row a delta; terms as in N-Triples."""


class Answered(NamedTuple):
    """Rows of strings and numbers under their columns."""

    columns: list[str]
    rows: list[list[Any]]


def ask_each(
    workspace: Workspace, benchmark: Interpreted, sparql: str, tick: int | None, timeout: float, limit: int
) -> Answered:
    """A SELECT or ASK query of each log's state, its answers united, each with its scene and log.

    Args:
        tick: of the state; the last of each log where ``None``.
        timeout: seconds that all of it may take.
        limit: how many rows there may be.

    Raises:
        QueryError: the query is refused, or is not SPARQL.
        ParameterError: it asks for a graph.
        SubstrateError: it takes longer, or gives more.
    """
    # What a parser refuses, and what a query gives, shows on an empty state.
    if isinstance(query(EventLog().state(), sparql), list):
        raise ParameterError("a graph cannot be united with its scene", hint="Ask a SELECT or an ASK query")
    session, manifest, cases = _tables(workspace, benchmark)
    storage = workspace.storage
    columns, rows = ["scene", "log"], list[list[Any]]()
    with _within(session, timeout):
        for shard in range(len(manifest.shards)):
            scenes = storage.read(cases.folder, shard_name(shard), columns=[NUMBER, "scene"]).to_pydict()
            scene_of = dict(zip(scenes[NUMBER], map(msgspec.json.decode, scenes["scene"]), strict=True))
            asked = storage.read(manifest.folder, shard_name(shard), columns=[NUMBER, PLACE, "name"])
            names = {(row[NUMBER], row[PLACE]): row["name"] for row in asked.to_pylist()}
            of_case = {number: name for (number, _), name in names.items()}
            uri = storage.uri(manifest.folder, shard_name(shard))
            frame = session.read.schema(columns_of(LOGS)).parquet(uri)
            work = partial(_solutions, sparql, tick, limit)
            found = map_rows(
                frame, work, FOUND, list(of_case), stage="substrate logs", names=list(of_case.values())
            )
            for row in found.to_pylist():
                for line in row["lines"]:
                    solution: dict[str, str | None] = msgspec.json.decode(line)
                    columns = ["scene", "log", *solution]
                    name = names[row[NUMBER], row[PLACE]]
                    rows.append([scene_of[row[NUMBER]], name, *solution.values()])
            _at_most(limit, len(rows))
    return Answered(columns, rows)


def _tables(workspace: Workspace, benchmark: Interpreted) -> tuple[SparkSession, Manifest, Manifest]:
    """A session, and the tables of a benchmark's logs and of their cases."""
    session, logs = spark_session(workspace.settings.spark), ensure_logs(workspace, benchmark.logger, "logs")
    keep_tables(workspace)
    return session, logs, cases_of(workspace, benchmark.source, "logs")


def _solutions(sparql: str, tick: int | None, limit: int, row: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The solutions in one log, sorted, so that no byte depends on how a store is laid out."""
    found = EventLog.from_patch(row["patch"], row["name"]).state(tick).query(sparql)
    lines: list[str] = []
    if isinstance(found, ox.QueryBoolean):
        lines.append(msgspec.json.encode({"answer": str(bool(found)).lower()}).decode())
    else:
        assert isinstance(found, ox.QuerySolutions)
        names = [variable.value for variable in found.variables]
        for solution in found:
            terms = (solution[name] for name in names)
            values = {name: term and str(term) for name, term in zip(names, terms, strict=True)}
            lines.append(msgspec.json.encode(values).decode())
            if len(lines) > limit:
                break
    yield {NUMBER: row[NUMBER], PLACE: row[PLACE], "lines": sorted(lines)}


def ask_deltas(
    workspace: Workspace, benchmark: Interpreted, query: str, timeout: float, limit: int
) -> Answered:
    """A SQL query over the table ``deltas`` of all logs; arguments and errors as :func:`ask_each`."""
    from pyspark.errors import PySparkException

    session, manifest, cases = _tables(workspace, benchmark)
    storage = workspace.storage
    folder = storage.uri(manifest.folder)
    scenes = session.read.parquet(storage.uri(cases.folder) + "/*.parquet").select(NUMBER, "scene")
    logs = session.read.schema(columns_of(LOGS)).parquet(f"{folder}/*.parquet")
    table = (
        logs.select(NUMBER, "name", "patch").join(scenes, NUMBER).mapInArrow(_exploded, columns_of(DELTAS))
    )
    # A query that names the table several times reads the logs once; what memory cannot hold goes to disk.
    table.persist().createOrReplaceTempView("deltas")
    # A query may name no file; and what stands in a subquery can only read.
    session.conf.set("spark.sql.runSQLOnFiles", "false")
    # Spark would log a refused query with the stack of its parser; the error says it in a line.
    logging.getLogger("SQLQueryContextLogger").setLevel(logging.CRITICAL + 1)
    try:
        with _within(session, timeout):
            found = session.sql(f"SELECT * FROM (\n{query}\n) LIMIT {limit + 1}").toArrow()
    except PySparkException as error:
        said = str(error).strip().splitlines()[0]
        raise ParameterError(said, where=("--sql",), hint="Ask the table deltas") from error
    finally:
        session.catalog.dropTempView("deltas")
        table.unpersist()
    _at_most(limit, found.num_rows)
    return Answered(found.column_names, [list(row.values()) for row in found.to_pylist()])


def _exploded(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Logs as their deltas, a log at a time."""
    for batch in batches:
        for row in batch.to_pylist():
            scene = str(msgspec.json.decode(row["scene"]))
            log = EventLog.from_patch(row["patch"], row["name"])
            deltas = [
                (scene, row["name"], position, delta.tick, delta.op.value, *map(str, delta.triple))
                for position, delta in enumerate(log)
            ]
            values = zip(*deltas, strict=True) if deltas else [[] for _ in DELTAS]
            columns = [pa.array(column, type_) for column, type_ in zip(values, DELTAS.types, strict=True)]
            yield pa.RecordBatch.from_arrays(columns, schema=DELTAS)


def _at_most(limit: int, count: int) -> None:
    if count > limit:
        raise SubstrateError(f"more than {limit:,} rows", hint="Ask for fewer, or raise --limit")


@contextmanager
def _within(session: SparkSession, timeout: float) -> Iterator[None]:
    """Stop the session's jobs after some seconds."""
    late = threading.Event()
    interrupt: Callable[[], Any] = session.interruptAll

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
        raise SubstrateError(
            f"took longer than {timeout:g} s", hint="Ask for less, or raise --timeout"
        ) from error
    finally:
        timer.cancel()
