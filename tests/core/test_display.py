"""The look of a log and its parts in a terminal."""

from __future__ import annotations

from typing import Any

import pytest

from substrate import Delta, EventLog, Namespace, fork
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
