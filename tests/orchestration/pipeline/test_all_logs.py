"""Questions over all logs of a benchmark at once."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from orchestration.pipeline.all_logs import ask_deltas, ask_each
from orchestration.project import open_workspace
from orchestration.registry import INTERPRETED
from orchestration.workspace.tables import read_index
from substrate.base.errors import ParameterError, SubstrateError
from substrate.sparql.guard import QueryError

LONG = 300


def test_all_logs_are_asked_at_once(reproduced: Path) -> None:
    benchmark, workspace = INTERPRETED["gqa"], open_workspace()
    logs = workspace.logs("gqa")
    entries = {entry.name: entry for entry in read_index(logs.index)}

    counted = "SELECT (COUNT(*) AS ?n) WHERE { ?s ?p ?o }"
    found = ask_each(workspace, benchmark, counted, None, LONG, 100)
    assert found.columns == ["scene", "log", "n"]
    assert {row[1]: int(row[2].split('"')[1]) for row in found.rows} == {
        name: len(list(logs.read(name).state())) for name in entries
    }

    deltas = ask_deltas(workspace, benchmark, "SELECT log, op, tick, subject FROM deltas", LONG, 100_000)
    assert Counter(row[0] for row in deltas.rows) == {name: e.deltas for name, e in entries.items()}

    with pytest.raises(SubstrateError, match="more than 1 rows"):
        ask_deltas(workspace, benchmark, "SELECT * FROM deltas", LONG, 1)
    with pytest.raises(ParameterError, match="TABLE_OR_VIEW_NOT_FOUND"):
        ask_deltas(workspace, benchmark, "SELECT * FROM csv.`/etc/hosts`", LONG, 1)
    with pytest.raises(ParameterError, match="PARSE_SYNTAX_ERROR"):
        ask_deltas(workspace, benchmark, "DROP TABLE deltas", LONG, 1)
    with pytest.raises(QueryError, match="not SPARQL"):
        ask_each(workspace, benchmark, "SELECT", None, LONG, 1)
    with pytest.raises(ParameterError, match="a graph cannot be united"):
        ask_each(workspace, benchmark, "CONSTRUCT WHERE { ?s ?p ?o }", None, LONG, 1)
