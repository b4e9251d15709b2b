"""The look of a log and its parts in a terminal and in a notebook."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import pytest

from substrate import Delta, EventLog, Namespace, fork
from substrate.base.display import ROWS
from substrate.log import insert, retract

V = Namespace("urn:v:")


@pytest.fixture
def log() -> EventLog:
    log = EventLog()
    insert(log, V.ann, V.at, V.home, tick=1)
    retract(log, V.ann, V.at, V.home, tick=3)
    insert(log, V.ann, V.at, V.cafe, tick=3)
    return log


def test_each_part_says_in_a_line_what_it_is(log: EventLog) -> None:
    assert repr(EventLog()) == "<EventLog: empty>"
    assert repr(log) == "<EventLog: 3 deltas, ticks 1 to 3>"
    assert repr(fork(log, 2)) == "<EventLog: 3 deltas, ticks 1 to 3, forked at tick 2>"
    assert repr(log[0]) == "<Delta: tick 1, insert <urn:v:ann> <urn:v:at> <urn:v:home>>"
    assert repr(log.state(1)) == "<State: tick 1, 1 triple>"
    assert repr(log.diff(1, 3)) == "<Difference: 1 inserted, 1 retracted>"
    assert repr(log.history(log[0].triple)) == "<History: <urn:v:ann> <urn:v:at> <urn:v:home>: ticks 1 to 2>"
    assert repr(log.history(log[2].triple)).endswith("tick 3 on>")


def test_parts_that_are_no_delta_can_still_be_shown() -> None:
    wrong: Any = ("urn:ann", None)
    assert repr(Delta._make((1, "A", wrong))) == "(1, 'A', ('urn:ann', None))"  # pyright: ignore


def test_a_notebook_shows_a_table_that_is_escaped_and_does_not_grow(log: EventLog) -> None:
    insert(log, V.ann, V.says, "<script>alert(1)</script>")
    for number in range(3 * ROWS):
        insert(log, V.ann, V.counts, number, tick=4)
    for shown in (log, log.state(), log.diff(0, 4), log[0], log.history(log[0].triple)):
        page: str = shown._repr_html_()  # pyright: ignore
        assert page.count("<tr>") <= ROWS + 1
        assert "<script>" not in page
    assert f"… and {len(log) - ROWS} more" in log._repr_html_()  # pyright: ignore
    assert "&lt;urn:v:home&gt;" in log._repr_html_()  # pyright: ignore


@pytest.mark.skipif(not find_spec("rich"), reason="needs the extra cli")
def test_rich_shows_the_same_table(log: EventLog) -> None:
    console_type = pytest.importorskip("rich.console").Console
    insert(log, V.ann, V.says, "[red]not a colour[/]")
    console = console_type(width=200, record=True, file=open("/dev/null", "w"))  # noqa: SIM115
    console.print(log)
    text = console.export_text()
    assert "EventLog: 4 deltas, ticks 1 to 3" in text
    assert "[red]not a colour[/]" in text
