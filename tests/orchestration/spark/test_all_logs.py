"""Questions over all logs of a benchmark at once."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from orchestration.project import open_workspace
from orchestration.registry import INTERPRETED
from orchestration.spark.all_logs import ask_deltas, ask_each
from orchestration.workspace.log_table import read_index
from substrate import TBox, ancestors
from substrate.ask import occurrences
from substrate.base.errors import ParameterError, SubstrateError
from substrate.cause.ancestry import Event
from substrate.sparql.guard import QueryError

LONG = 300


def test_all_logs_are_asked_at_once(reproduced: Path) -> None:
    benchmark, workspace = INTERPRETED["gqa"], open_workspace()
    logs = workspace.logs("gqa")
    entries = {entry.name: entry for entry in read_index(logs.index)}

    counted = "SELECT (COUNT(*) AS ?n) WHERE { ?s ?p ?o }"
    result = ask_each(workspace, benchmark, counted, None, LONG, 100)
    assert result.columns == ["scene", "log", "n"]
    assert {row[1]: int(row[2].split('"')[1]) for row in result.rows} == {
        name: len(list(logs.read(name).state())) for name in entries
    }

    deltas = ask_deltas(workspace, benchmark, "SELECT log, op, tick, subject FROM deltas", LONG, 100_000)
    assert Counter(row[0] for row in deltas.rows) == {name: e.deltas for name, e in entries.items()}

    with pytest.raises(SubstrateError, match="more than 1 rows"):
        ask_deltas(workspace, benchmark, "SELECT * FROM deltas", LONG, 1)
    with pytest.raises(ParameterError, match="TABLE_OR_VIEW_NOT_FOUND"):
        ask_deltas(workspace, benchmark, "SELECT * FROM csv.`/etc/hosts`", LONG, 1)
    with pytest.raises(ParameterError, match="SYNTAX_ERROR"):
        ask_deltas(workspace, benchmark, "DROP TABLE deltas", LONG, 1)
    with pytest.raises(QueryError, match="not SPARQL"):
        ask_each(workspace, benchmark, "SELECT", None, LONG, 1)
    with pytest.raises(ParameterError, match="a query for a graph has no rows"):
        ask_each(workspace, benchmark, "CONSTRUCT WHERE { ?s ?p ?o }", None, LONG, 1)


def test_a_query_of_all_logs_may_ask_for_ancestors(reproduced: Path) -> None:
    benchmark, workspace = INTERPRETED["clevrer"], open_workspace()
    query = (
        "PREFIX : <urn:substrate:clevrer:> SELECT ?a ?b { ?a a :Collision . ?b a :Collision "
        "FILTER(core:ancestor(?a, ?b)) }"
    )
    expected: list[list[str]] = []
    logs = workspace.logs("clevrer")
    for entry in read_index(logs.index):
        events = occurrences(logs.read(entry.name), TBox.load("clevrer"))
        ancestry = ancestors(Event(event.node, event.tick, event.participants) for event in events)
        hits = {event.node for event in events if event.kind.value.endswith("Collision")}
        expected += [[entry.name, str(a), str(b)] for b in hits for a in ancestry[b].events & hits]
    result = ask_each(workspace, benchmark, query, None, LONG, 1000)
    assert sorted(row[1:] for row in result.rows) == sorted(expected)
    assert result.rows
    with pytest.raises(QueryError, match="cannot be answered"):
        ask_each(workspace, benchmark, "ASK { ?s ?p ?o FILTER(core:no(?s)) }", None, LONG, 1)
