"""SPARQL of the state of every log of a benchmark at once, on Spark."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, NamedTuple

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

FOUND = pa.schema([(NUMBER, pa.int64()), (PLACE, pa.int64()), ("lines", pa.list_(pa.string()))])
"""A row a log: its solutions as JSON."""


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
    session, storage = spark_session(workspace.settings.spark), workspace.storage
    manifest, cases = tables_of(workspace, benchmark)
    columns, rows = ["scene", "log"], list[list[Any]]()
    with within(session.interruptAll, timeout):
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
            at_most(limit, len(rows))
    return Answered(columns, rows)


def tables_of(workspace: Workspace, benchmark: Interpreted) -> tuple[Manifest, Manifest]:
    """The tables of a benchmark's logs and of their cases."""
    logs = ensure_logs(workspace, benchmark.logger, "logs")
    keep_tables(workspace)
    return logs, cases_of(workspace, benchmark.source, "logs")


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


def at_most(limit: int, count: int) -> None:
    """Hold that an answer has no more rows than were asked for."""
    if count > limit:
        raise SubstrateError(f"more than {limit:,} rows", hint="Ask for fewer, or raise --limit")


@contextmanager
def within(interrupt: Callable[[], Any], timeout: float) -> Iterator[None]:
    """Interrupt what the block asks after some seconds."""
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
        raise SubstrateError(
            f"took longer than {timeout:g} s", hint="Ask for less, or raise --timeout"
        ) from error
    finally:
        timer.cancel()
