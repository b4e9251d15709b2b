"""Logs and states in the formats of others."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from pyoxigraph import NamedNode, RdfFormat, Store

from substrate import Assert, EventLog, LogError, TBox, fork, unfold
from substrate.log import from_members, from_state, members, to_turtle


@pytest.fixture(scope="module")
def log() -> EventLog:
    box = TBox.load("village")
    found = unfold(box, box.opening(), until=8)
    found.extend_lines(
        [
            (9, 'A _:b <urn:p> <<( _:b <urn:q> "שלום"@he--rtl )>> .'),
            (9, "D <urn:village:sam> <urn:substrate:village:at> <urn:village:park> ."),
        ]
    )
    return found


@pytest.mark.parametrize("form", ["turtle", "nquads"])
def test_a_state_is_written_and_read_back(log: EventLog, form: str) -> None:
    state = log.state(9)
    text = state.nquads() if form == "nquads" else to_turtle(state, {"v": "urn:substrate:village:"})
    back = from_state(text, form, tick=9)
    assert back.state(9).nquads() == state.nquads()
    assert back.state(8).nquads() == ""


def test_an_event_stream_is_a_stream_of_immutable_members_with_a_timestamp_path(log: EventLog) -> None:
    store = Store()
    store.load(
        "\n".join(members(log, epoch=datetime(2024, 2, 13, tzinfo=UTC), tick_length=timedelta(minutes=10))),
        RdfFormat.N_TRIPLES,
    )
    rows: list[Any] = list(
        store.query("""PREFIX ldes: <https://w3id.org/ldes#> PREFIX tree: <https://w3id.org/tree#>
        SELECT ?member ?time ?place
        WHERE {
            ?stream a ldes:EventStream ; ldes:timestampPath ?path ; ldes:sequencePath ?order ;
                tree:member ?member .
            ?member ?path ?time ; ?order ?place
        } ORDER BY ?place""")  # pyright: ignore[reportArgumentType]  # a SELECT query
    )
    assert len(rows) == len(log)
    assert [row["time"].value for row in rows] == [
        (datetime(2024, 2, 13, tzinfo=UTC) + delta.tick * timedelta(minutes=10))
        .isoformat()
        .replace("+00:00", "Z")
        for delta in log
    ]


def test_an_event_stream_is_read_back_in_any_order(log: EventLog) -> None:
    branch = fork(log, 5, Assert((NamedNode("urn:x"), NamedNode("urn:y"), NamedNode("urn:z"))))
    for one in (log, branch, EventLog()):
        back = from_members("\n".join(sorted(members(one), reverse=True)))
        assert (back.digest, back.descent) == (one.digest, one.descent)


def test_an_incomplete_event_stream_is_refused(log: EventLog) -> None:
    lines = list(members(log))
    last = f"#{len(log) - 1}>"
    for broken in (
        [line for line in lines if last not in line],
        [line for line in lines if "reifies" not in line],
        [*lines, "nonsense"],
    ):
        with pytest.raises(LogError):
            from_members("\n".join(broken))


def test_a_state_that_is_none_is_refused() -> None:
    for text, form in [
        ("<urn:s> <urn:p>", "turtle"),
        ("<urn:s> <urn:p> <urn:o> <urn:g> .", "nquads"),
        ("", "rdfxml"),
    ]:
        with pytest.raises(LogError):
            from_state(text, form)
