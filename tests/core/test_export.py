"""Logs and states in the formats of others."""

from __future__ import annotations

import pytest

from substrate import EventLog, LogError, TBox, unfold
from substrate.log import from_state, to_turtle


@pytest.fixture(scope="module")
def log() -> EventLog:
    box = TBox.load("village")
    village = unfold(box, box.opening(), until=8)
    village.extend_lines(
        [
            (9, 'A _:b <urn:p> <<( _:b <urn:q> "שלום"@he--rtl )>> .'),
            (9, "D <urn:village:sam> <urn:substrate:village:at> <urn:village:park> ."),
        ]
    )
    return village


@pytest.mark.parametrize("form", ["turtle", "nquads"])
def test_a_state_is_written_and_read_back(log: EventLog, form: str) -> None:
    state = log.state(9)
    text = state.nquads() if form == "nquads" else to_turtle(state, {"v": "urn:substrate:village:"})
    back = from_state(text, form, tick=9)
    assert back.state(9).nquads() == state.nquads()
    assert back.state(8).nquads() == ""


def test_a_state_that_is_none_is_refused() -> None:
    for text, form in [
        ("<urn:s> <urn:p>", "turtle"),
        ("<urn:s> <urn:p> <urn:o> <urn:g> .", "nquads"),
    ]:
        with pytest.raises(LogError):
            from_state(text, form)
