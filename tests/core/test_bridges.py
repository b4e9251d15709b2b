"""A log in the hands of other libraries."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest
from logs import unfolded
from pyoxigraph import BlankNode, Literal

from substrate import EventLog, Namespace
from substrate.adapters.bridges import to_arrow
from substrate.base.extras import MissingExtraError
from substrate.log import insert

V = Namespace("https://example.org/v#")


def test_a_log_goes_through_parquet_and_a_data_frame(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet", reason="needs the extra bridges")
    _, log = unfolded("village", until=8)
    for value in ('two\nlines, "quoted"', 7, 2.5, True, datetime(2026, 2, 14, tzinfo=UTC)):
        insert(log, BlankNode("b"), V.says, value, tick=9)
    insert(log, V.ann, V.says, Literal("שלום", language="he"))
    insert(log, V.bo, V.believes, (V.ann, V.at, V.cafe))
    parquet.write_table(to_arrow(log), tmp_path / "log.parquet")
    table = parquet.read_table(tmp_path / "log.parquet")
    assert table.schema.metadata[b"digest"] == log.digest.encode()
    frame, again = table.to_pandas(), EventLog()
    letters = frame["op"].map({"insert": "A", "retract": "D"})
    lines = letters + " " + frame["subject"] + " " + frame["predicate"] + " " + frame["object"] + " ."
    again.extend_lines(zip(frame["tick"].tolist(), lines, strict=True))
    assert again.digest == log.digest


def test_a_missing_library_is_asked_for_by_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtraError, match=r"event-graph-substrate\[bridges\]"):
        to_arrow(EventLog())
