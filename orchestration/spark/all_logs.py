"""All logs of a benchmark on Spark: SPARQL over their states, and SQL over a table of their deltas."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec
import pyarrow as pa

from orchestration.benchmarks.benchmark import Interpreted
from orchestration.ledger.records import keep_records
from orchestration.spark.logs import logged
from orchestration.spark.session import spark_session, within
from orchestration.spark.workers import NUMBER, PLACE, Work, gathered, places_frame, plain_errors
from orchestration.workspace.folders import Workspace
from orchestration.workspace.storage import INT, TEXT, TableRow
from orchestration.workspace.tables import ShardedTable, shard_name
from substrate.adapters.bridges import to_arrow
from substrate.ask.functions import solutions
from substrate.base.errors import ParameterError, SubstrateError
from substrate.log.event_log import EventLog
from substrate.rules.tbox import TBox
from substrate.sparql.guard import QueryError, checked

SOLUTIONS = pa.schema({NUMBER: INT, PLACE: INT, "lines": pa.list_(TEXT)})
"""A row per log: its solutions as JSON."""
TABLE = "deltas"
"""The table's name in a query."""
DELTAS = pa.schema(
    {"scene": TEXT, "log": TEXT, "position": INT, "tick": INT}
    | {"op": TEXT, "subject": TEXT, "predicate": TEXT, "object": TEXT}
)
"""A row per delta; terms as in N-Triples, ``op`` as in RDF Patch."""
_LETTERS = {"insert": "A", "retract": "D"}


class Answered(NamedTuple):
    """Rows of strings and numbers, with their columns."""

    columns: list[str]
    rows: list[list[Any]]


def ask_each(
    workspace: Workspace, benchmark: Interpreted, sparql: str, tick: int | None, timeout: float, limit: int
) -> Answered:
    """Run a SELECT or ASK query on each log's state and unite the answers, each with its scene and log. The
    query may call :mod:`substrate.ask.functions`, whose events the logs' TBox declares.

    Args:
        tick: the tick of the states; by default each log's last tick.
        timeout: the seconds that the query may take, without Spark's start and the making of logs.
        limit: the most rows allowed.

    Raises:
        QueryError: the query is refused, or is not SPARQL.
        ParameterError: the query asks for a graph.
        SubstrateError: the query takes too long or gives too many rows.
    """
    parsed(sparql, "--sparql")
    columns, rows = ["scene", "log"], list[list[Any]]()
    shapes = benchmark.logger.shapes

    def work(row: TableRow) -> Iterator[TableRow]:
        log = EventLog.from_patch(row["patch"], row["name"])
        tbox = TBox.load(shapes) if shapes else None
        result = solutions(log, sparql, tick=tick, tbox=tbox, most=limit + 1)
        if isinstance(result, bool):
            values: list[dict[str, str | None]] = [{"answer": str(result).lower()}]
        else:
            named = (terms.items() for terms in result)
            values = [{name: None if term is None else str(term) for name, term in terms} for terms in named]
        # Sorted, so that no byte depends on the order inside a store.
        lines = sorted(msgspec.json.encode(value).decode() for value in values)
        yield {NUMBER: row[NUMBER], PLACE: row[PLACE], "lines": lines}

    for scene, name, lines in of_each(workspace, benchmark, work, timeout):
        for line in lines:
            solution: dict[str, str | None] = msgspec.json.decode(line)
            columns = ["scene", "log", *solution]
            rows.append([scene, name, *solution.values()])
        at_most(limit, len(rows))
    return Answered(columns, rows)


def parsed(sparql: str, option: str) -> None:
    """Check that a user's query is a SELECT or an ASK that reaches nothing outside a state.

    Args:
        option: the option that holds the query.

    Raises:
        QueryError: the query is refused, or is not SPARQL.
        ParameterError: the query asks for a graph.
    """
    try:  # on an empty state, which shows every fault that a parser finds
        solutions(EventLog(), checked(sparql))
    except (SyntaxError, RuntimeError) as error:
        what = "not SPARQL" if isinstance(error, SyntaxError) else "cannot be answered"
        raise QueryError(f"{what} ({error})", where=(option,), hint="Correct the query") from error
    except SubstrateError as error:
        raise error.within(option) from error


def of_each(
    workspace: Workspace, benchmark: Interpreted, work: Work, timeout: float
) -> Iterator[tuple[Any, str, list[str]]]:
    """Do some work on each log in a worker; yield scene, name and lines of each log, in order."""
    session, storage = spark_session(workspace.settings.spark), workspace.storage
    logs, scenes = logs_of(workspace, benchmark)
    shards = [shard_name(place) for place in range(len(logs.shard_rows))]
    columns = [NUMBER, PLACE, "name"]
    named = [row for shard in shards for row in storage.rows(logs.folder, shard, columns=columns)]
    names = {row[NUMBER]: row["name"] for row in named}

    def rows(place: int) -> Iterator[TableRow]:
        return storage.rows(logs.folder, shards[place])

    stage, places, given = "substrate logs", range(len(shards)), [*names.values()]
    with within(session.interruptAll, timeout):
        answers = gathered(session, places, rows, work, SOLUTIONS, [*names], stage=stage, names=given)
    for row, answer in zip(named, answers.to_pylist(), strict=True):
        yield scenes[row[NUMBER]], row["name"], answer["lines"]


def logs_of(workspace: Workspace, benchmark: Interpreted) -> tuple[ShardedTable, dict[int, Any]]:
    """The table of a benchmark's logs, and the scene of each case by its number."""
    (cases, logs), storage = logged(workspace, benchmark, "logs"), workspace.storage
    keep_records(workspace, {})
    shards = (shard_name(place) for place in range(len(cases.shard_rows)))
    rows = (row for name in shards for row in storage.rows(cases.folder, name, columns=[NUMBER, "scene"]))
    return logs, {row[NUMBER]: msgspec.json.decode(row["scene"]) for row in rows}


def at_most(limit: int, count: int) -> None:
    """Refuse an answer with more rows than the limit."""
    if count > limit:
        raise SubstrateError(f"more than {limit:,} rows", hint="Ask for fewer, or raise --limit")


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
                frame = places_frame(session, range(len(logs.shard_rows)), rows, DELTAS)
                frame.createOrReplaceTempView(TABLE)
                table = session.sql(f"SELECT * FROM (\n{query}\n) LIMIT {limit + 1}").toArrow()
            except (AnalysisException, ArithmeticException) as error:
                hint = f"Ask the table {TABLE}, in Spark's SQL"
                what = str(error).strip().splitlines()[0].rstrip(".")
                raise ParameterError(what, where=("--sql",), hint=hint) from error
    finally:
        session.catalog.dropTempView(TABLE)
    at_most(limit, table.num_rows)
    return Answered(table.column_names, [list(row.values()) for row in table.to_pylist()])


def exploded(log: EventLog, name: str, scene: str) -> pa.Table:
    """A log as a table of its deltas."""
    deltas = to_arrow(log)
    letters = pa.array([_LETTERS[op] for op in deltas["op"].to_pylist()], TEXT)
    own = {"op": letters, "scene": pa.array([scene] * len(letters)), "log": pa.array([name] * len(letters))}
    columns = [own[column] if column in own else deltas[column] for column in DELTAS.names]
    return pa.table(columns, schema=DELTAS)
