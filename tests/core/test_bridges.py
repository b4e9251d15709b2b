"""Logs and states in the hands of other libraries."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path

import pytest
from pyoxigraph import BlankNode, Literal

from substrate import EventLog, LogError, Namespace, TBox, unfold
from substrate.adapters.bridges import (
    from_arrow,
    to_arrow,
    to_pandas,
    to_rdflib,
)
from substrate.base.extras import MissingExtraError
from substrate.log import insert

V = Namespace("https://example.org/v#")
tables = pytest.mark.skipif(not find_spec("pyarrow"), reason="needs the extra bridges")
graphs = pytest.mark.skipif(not find_spec("rdflib"), reason="needs the extra bridges")


@pytest.fixture(scope="module")
def log() -> EventLog:
    box = TBox.load("village")
    village = unfold(box, box.opening(), until=8)
    for value in ('two\nlines, "quoted"', 7, 2.5, True, datetime(2026, 2, 14, tzinfo=UTC)):
        insert(village, BlankNode("b"), V.says, value, tick=9)
    insert(village, V.ann, V.says, Literal("שלום", language="he"))
    insert(village, V.ann, V.says, Literal("01", datatype=Literal(1).datatype))
    return village


@graphs
def test_a_state_goes_through_rdflib(log: EventLog) -> None:
    graph = to_rdflib(log.state())
    assert len(graph) == len(log.state())
    assert sorted(graph.serialize(format="nt").splitlines()) == sorted(log.state().nquads().splitlines())
    deep = EventLog()
    insert(deep, V.bo, V.believes, (V.ann, V.at, V.cafe))
    with pytest.raises(LogError, match="believes"):
        to_rdflib(deep.state())


@tables
def test_a_log_goes_through_parquet_and_an_edited_row_is_found(log: EventLog, tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(to_arrow(log), tmp_path / "log.parquet")
    table = parquet.read_table(tmp_path / "log.parquet")
    assert from_arrow(table).digest == log.digest
    assert from_arrow(table.take(list(range(len(log)))[::-1])).digest == log.digest, "rows in any order"
    with pytest.raises(LogError, match="edited"):
        from_arrow(table.slice(0, len(log) - 1))
    with pytest.raises(LogError, match="'tick'"):
        from_arrow(table.drop_columns(["tick"]))


@tables
def test_a_log_goes_through_a_data_frame(log: EventLog) -> None:
    arrow = pytest.importorskip("pyarrow")
    frame = to_pandas(log)
    assert from_arrow(arrow.Table.from_pandas(frame)).digest == log.digest
    assert int((frame["op"] == "retract").sum()) == sum(delta.op.name == "RETRACT" for delta in log)
    frame.loc[3, "op"] = "upsert"
    with pytest.raises(LogError, match="position 3: no operation 'upsert'"):
        from_arrow(arrow.Table.from_pandas(frame))


def test_a_missing_library_is_asked_for_by_its_extra(monkeypatch: pytest.MonkeyPatch, log: EventLog) -> None:
    for module, bridge in (("rdflib", lambda: to_rdflib(log.state())), ("pyarrow", lambda: to_arrow(log))):
        monkeypatch.setitem(sys.modules, module, None)
        with pytest.raises(MissingExtraError, match=r"event-graph-substrate\[bridges\]"):
            bridge()
