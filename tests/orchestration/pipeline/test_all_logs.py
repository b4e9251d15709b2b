"""Questions over all logs of a benchmark at once."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet
from pyspark.errors import PySparkException

from orchestration.pipeline import deltas as tables
from orchestration.pipeline.all_logs import ask_each
from orchestration.pipeline.deltas import ask_deltas
from orchestration.pipeline.log_source import LogSource
from orchestration.pipeline.spark import spark_session
from orchestration.project import open_workspace
from orchestration.registry import INTERPRETED
from orchestration.settings import Spark
from orchestration.workspace.tables import read_index
from research.pipeline.effects import ask_effects
from substrate import EventLog, TBox, ancestors
from substrate.ask import occurrences
from substrate.base.errors import ParameterError, SubstrateError
from substrate.branch import Constructed
from substrate.cause.ancestry import Event
from substrate.domains.clevrer.emitter import without
from substrate.domains.clevrer.scene import Scene
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
    with pytest.raises(ParameterError, match="does not exist"):
        ask_deltas(workspace, benchmark, "SELECT * FROM csv.`/etc/hosts`", LONG, 1)
    with pytest.raises(ParameterError, match="not SQL"):
        ask_deltas(workspace, benchmark, "DROP TABLE deltas", LONG, 1)
    with pytest.raises(QueryError, match="not SPARQL"):
        ask_each(workspace, benchmark, "SELECT", None, LONG, 1)
    with pytest.raises(ParameterError, match="a query for a graph has no rows"):
        ask_each(workspace, benchmark, "CONSTRUCT WHERE { ?s ?p ?o }", None, LONG, 1)


def test_the_effect_of_an_object_is_that_of_the_fork_without_it(reproduced: Path) -> None:
    """The average over all scenes is that of a plain loop over the fork that answers counterfactuals."""
    benchmark, workspace = INTERPRETED["clevrer"], open_workspace()
    its = "PREFIX : <urn:substrate:clevrer:> "
    collisions = f"{its} SELECT (COUNT(?event) AS ?n) {{ ?event a :Collision }}"
    first = (
        f"{its} SELECT (MIN(?at) AS ?first) {{ ?event a :Collision ; :frame ?at ; :participant ?thing . "
        "?thing :number 1 }"
    )
    gone = Constructed(f"{its} CONSTRUCT {{ ?thing a :Object }} {{ ?thing a :Object ; :number 1 }}")
    found = ask_effects(workspace, benchmark, first, gone, collisions, LONG)

    def count(scene: Scene) -> int:
        return sum(event.kind == "Collision" for event in scene.events)

    logs = workspace.logs("clevrer")
    names = [entry.name for entry in read_index(logs.index)]
    scenes = {name: Scene(logs.read(name)) for name in names}
    hit = {n: s for n, s in scenes.items() if any(1 in e.objects for e in s.events if e.kind == "Collision")}
    assert {one.log: (one.observed, one.changed) for one in found.each} == {
        name: (count(scene), count(without(scene, 1))) for name, scene in hit.items()
    }
    assert (found.logs, found.asked) == (len(names), len(hit))
    assert found.other == found.asked >= 2  # all in which it takes part lose a collision
    assert found.effect is not None
    assert found.low is not None
    assert found.low <= found.effect < 0

    with pytest.raises(ParameterError, match="there is no intervention"):
        ask_effects(workspace, benchmark, 5, Constructed(), collisions, LONG)
    with pytest.raises(QueryError, match=r"^--retract: not SPARQL \("):
        ask_effects(workspace, benchmark, 5, Constructed("CONSTRUCT { ?s ?p"), collisions, LONG)
    with pytest.raises(ParameterError, match=r"^--insert: an intervention is a set of triples"):
        ask_effects(workspace, benchmark, 5, Constructed(insert="ASK {}"), collisions, LONG)
    with pytest.raises(QueryError, match=r"^--outcome: SERVICE would reach the network"):
        ask_effects(workspace, benchmark, 5, gone, "ASK { SERVICE <urn:x> { ?s ?p ?o } }", LONG)
    with pytest.raises(ParameterError, match=r"^1000\d: the outcome is not one number"):
        ask_effects(workspace, benchmark, 5, gone, "SELECT ?s { ?s ?p ?o }", LONG)
    nothing = ask_effects(
        workspace, benchmark, 5, Constructed("CONSTRUCT { <urn:x> a ?k } { ?s a ?k }"), "ASK {}", LONG
    )
    assert (nothing.logs, nothing.asked, nothing.effect) == (len(names), 0, None)
    later = ask_effects(workspace, benchmark, 10_000, gone, "ASK {}", LONG)
    assert (later.logs, later.asked) == (len(names), 0)  # all of them end before


def test_a_query_of_all_logs_may_ask_for_ancestors(reproduced: Path) -> None:
    benchmark, workspace = INTERPRETED["clevrer"], open_workspace()
    asked = (
        "PREFIX : <urn:substrate:clevrer:> SELECT ?a ?b { ?a a :Collision . ?b a :Collision "
        "FILTER(core:ancestor(?a, ?b)) }"
    )
    expected: list[list[str]] = []
    logs = workspace.logs("clevrer")
    for entry in read_index(logs.index):
        events = occurrences(logs.read(entry.name), TBox.load("clevrer"))
        ancestry = ancestors(Event(one.node, one.tick, one.participants) for one in events)
        hits = {one.node for one in events if one.kind.value.endswith("Collision")}
        expected += [[entry.name, str(a), str(b)] for b in hits for a in ancestry[b].events & hits]
    found = ask_each(workspace, benchmark, asked, None, LONG, 1000)
    assert sorted(row[1:] for row in found.rows) == sorted(expected)
    assert found.rows
    with pytest.raises(QueryError, match="cannot be answered"):
        ask_each(workspace, benchmark, "ASK { ?s ?p ?o FILTER(core:no(?s)) }", None, LONG, 1)


QUERIES = (
    "SELECT op, count(*) AS n, min(tick) AS least, max(position) AS most FROM deltas GROUP BY op ORDER BY op",
    "SELECT log, array_join(sort_array(collect_list(object)), ' ') AS them FROM deltas "
    "WHERE predicate LIKE '%name%' GROUP BY log ORDER BY log",
    "SELECT log, subject, lead(tick) OVER (PARTITION BY log, subject ORDER BY position) AS next "
    "FROM deltas ORDER BY next, log, subject LIMIT 50",
    "SELECT scene, replace(split_part(predicate, ':', 4), '>', '') AS name, 7 / 2 AS half, "
    "sum(tick) AS ticks FROM deltas GROUP BY scene, name ORDER BY scene, name",
)


def test_duckdb_and_spark_give_the_same_rows(reproduced: Path) -> None:
    benchmark, workspace = INTERPRETED["gqa"], open_workspace()
    for query in QUERIES:
        here = tables._by_duckdb(workspace, benchmark, query, LONG)
        there = tables._by_spark(workspace, benchmark, query, LONG)
        assert here.column_names == there.column_names
        assert [list(row.values()) for row in here.to_pylist()] == [
            list(row.values()) for row in there.to_pylist()
        ]
        assert here.num_rows


def test_a_damaged_table_of_deltas_is_written_anew(reproduced: Path) -> None:
    benchmark, workspace = INTERPRETED["gqa"], open_workspace()
    count = "SELECT count(*) AS n, sum(tick) AS ticks FROM deltas"
    before = ask_deltas(workspace, benchmark, count, LONG, 1)
    manifest = tables.delta_table(workspace, benchmark)
    local = workspace.storage.local
    assert local
    shard, *_ = sorted((local / manifest.folder).glob("*.parquet"))
    whole = shard.read_bytes()
    for damaged in (whole[:100] + bytes([whole[100] ^ 1]) + whole[101:], whole[: len(whole) // 2]):
        shard.unlink()
        shard.write_bytes(damaged)
        assert ask_deltas(workspace, benchmark, count, LONG, 1) == before
        assert shard.read_bytes() == whole


def test_logs_are_a_source_of_sparks(tmp_path: Path) -> None:
    session = spark_session(Spark())
    session.dataSource.register(LogSource)
    with pytest.raises(PySparkException, match="neither a log nor a table of logs is there"):
        session.read.format("substrate").load(str(tmp_path)).count()
    kept: list[tuple[object, ...]] = []
    for name in ("a.rdfp", "b.rdfp.gz", "c.rdfp"):
        log = EventLog()
        log.extend_lines((tick, f'A <urn:{name}> <urn:p> "{tick}" .') for tick in range(2 * len(kept) + 3))
        log.save(tmp_path / name)
        kept += [
            (name[0], place, delta.tick, "A", *map(str, delta.triple)) for place, delta in enumerate(log)
        ]
    read = session.read.format("substrate").load(str(tmp_path))
    assert sorted(tuple(row) for row in read.collect()) == kept

    table = tmp_path / "table" / "part.parquet"
    table.parent.mkdir()
    patches = [EventLog.read(tmp_path / name).to_patch() for name in ("a.rdfp", "b.rdfp.gz")]
    parquet.write_table(pa.table({"name": ["a", "b"], "patch": patches}), table, row_group_size=1)
    read = session.read.format("substrate").load(table.parent.as_uri())
    assert sorted(tuple(row) for row in read.collect()) == [row for row in kept if row[0] != "c"]

    (tmp_path / "c.rdfp").write_bytes((tmp_path / "c.rdfp").read_bytes().replace(b"A <urn:c", b"D <urn:c", 1))
    with pytest.raises(PySparkException, match=r"c\.rdfp"):
        session.read.format("substrate").load(str(tmp_path)).count()
