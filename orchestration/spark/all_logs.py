"""All logs of a benchmark on Spark: SPARQL over their states, and SQL over a table of their deltas."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
import pyarrow as pa

from orchestration.benchmarks.benchmark import Interpreted
from orchestration.ledger.stage_records import keep_records
from orchestration.spark.errors import guarded, plain_errors
from orchestration.spark.logs import logged
from orchestration.spark.session import spark_session, within
from orchestration.spark.workers import NUMBER, frame_of_shards, source_of, watched
from orchestration.workspace.folders import Workspace
from orchestration.workspace.storage import INT, TEXT, TableRow
from orchestration.workspace.tables import shard_name
from substrate.adapters.bridges import to_arrow
from substrate.ask.functions import solutions
from substrate.base.errors import ParameterError, SubstrateError
from substrate.log.event_log import EventLog
from substrate.rules.tbox import TBox
from substrate.sparql.guard import QueryError, checked

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

# A row per solution, as JSON.
SOLUTIONS = pa.schema({"scene": TEXT, "log": TEXT, "solution": TEXT})
# The table's name in a query.
TABLE = "deltas"
# A row per delta; terms as in N-Triples, ``op`` as in RDF Patch.
DELTAS = pa.schema(
    {"scene": TEXT, "log": TEXT, "position": INT, "tick": INT}
    | {"op": TEXT, "subject": TEXT, "predicate": TEXT, "object": TEXT}
)
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
    try:  # on an empty state, which shows every fault that a parser finds
        solutions(EventLog(), checked(sparql))
    except (SyntaxError, RuntimeError) as error:
        what = "not SPARQL" if isinstance(error, SyntaxError) else "cannot be answered"
        raise QueryError(f"{what} ({error})", where=("--sparql",), hint="Correct the query") from error
    except SubstrateError as error:
        raise error.within("--sparql") from error
    columns, rows = ["scene", "log"], list[list[Any]]()
    shapes = benchmark.logger.shapes

    def solve(log: EventLog, name: str, scene: str) -> pa.Table:
        tbox = TBox.load(shapes) if shapes else None
        result = solutions(log, sparql, tick=tick, tbox=tbox, most=limit + 1)
        solved = [{"answer": str(result).lower()}] if isinstance(result, bool) else result
        # Sorted, so that no byte depends on the order inside a store.
        lines = sorted(msgspec.json.encode(terms, enc_hook=str).decode() for terms in solved)
        return pa.table([[scene] * len(lines), [name] * len(lines), lines], schema=SOLUTIONS)

    with frame_of_logs(workspace, benchmark, solve, SOLUTIONS, timeout, "--sparql") as frame:
        solved = frame.toArrow().to_pylist()
    at_most(limit, len(solved))
    for row in solved:
        solution: dict[str, str | None] = msgspec.json.decode(row["solution"])
        columns = ["scene", "log", *solution]
        rows.append([msgspec.json.decode(row["scene"]), row["log"], *solution.values()])
    return Answered(columns, rows)


@contextmanager
def frame_of_logs(
    workspace: Workspace,
    benchmark: Interpreted,
    rows_of: Callable[[EventLog, str, str], pa.Table],
    schema: pa.Schema,
    timeout: float,
    option: str,
) -> Iterator[DataFrame]:
    """Give a frame of the rows that workers make of each log to a block, which may take ``timeout`` seconds.

    Args:
        rows_of: from a log, its name and its scene as JSON to its rows; runs in a worker.
        option: the command's option that has the query, which errors name.
    """
    session, storage = spark_session(workspace.settings.spark), workspace.storage
    cases, logs = logged(workspace, benchmark, "logs")
    keep_records(workspace, {})
    scenes = dict[int, str]()
    for shard in range(len(cases.shard_rows)):
        numbered = storage.rows(cases.folder, shard_name(shard), columns=[NUMBER, "scene"])
        scenes |= {row[NUMBER]: row["scene"] for row in numbered}

    def of_log(row: TableRow) -> Iterator[pa.RecordBatch]:
        log = EventLog.from_patch(row["patch"], row["name"])
        yield from rows_of(log, row["name"], scenes[row[NUMBER]]).to_batches()

    def rows(shard: int) -> Iterator[pa.RecordBatch]:
        for row in storage.rows(logs.folder, shard_name(shard), columns=[NUMBER, "name", "source", "patch"]):
            yield from guarded(of_log, row, source_of(row))

    quiet = plain_errors(session, option)
    with within(session.interruptAll, timeout), watched(session, "substrate logs"), quiet:
        yield frame_of_shards(session, len(logs.shard_rows), rows, schema)


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

    session = spark_session(workspace.settings.spark)
    # A query must not name a file; inside a subquery it can only read.
    session.conf.set("spark.sql.runSQLOnFiles", "false")
    # Spark would log a refused query with its parser's stack; the error says it in one line.
    logging.getLogger("SQLQueryContextLogger").setLevel(logging.CRITICAL + 1)
    with frame_of_logs(workspace, benchmark, exploded, DELTAS, timeout, "--sql") as frame:
        try:
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
    """A log as a table of its deltas, given its scene as JSON."""
    deltas = to_arrow(log)
    letters = pa.array([_LETTERS[op] for op in deltas["op"].to_pylist()], TEXT)
    scenes = pa.array([str(msgspec.json.decode(scene))] * len(letters))
    own = {"op": letters, "scene": scenes, "log": pa.array([name] * len(letters))}
    columns = [own[column] if column in own else deltas[column] for column in DELTAS.names]
    return pa.table(columns, schema=DELTAS)
