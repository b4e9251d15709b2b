"""States in Turtle and N-Quads, written and read."""

from __future__ import annotations

import pytest
from logs import unfolded
from pyoxigraph import Dataset, RdfFormat, parse

from substrate import EventLog, LogError, TBox
from substrate.log import from_state, to_turtle


@pytest.fixture(scope="module")
def log() -> EventLog:
    _, village = unfolded("village", until=8)
    line = 'A _:b <urn:p> <<( _:b <urn:q> "שלום"@he--rtl )>> .'
    village.extend_lines(
        [(9, line), (9, "D <urn:village:sam> <urn:substrate:village:at> <urn:village:park> .")]
    )
    return village


@pytest.mark.parametrize("form", ["turtle", "nquads"])
def test_a_state_is_written_and_read_back(log: EventLog, form: str) -> None:
    state = log.state(9)
    text = state.nquads() if form == "nquads" else to_turtle(state, {"v": "urn:substrate:village:"})
    back = from_state(text, form, tick=9)
    assert back.state(9).nquads() == state.nquads()
    assert back.state(8).nquads() == ""


@pytest.mark.parametrize(
    "text",
    [
        "<urn:a> <urn:p> [ <urn:q> 1 ] , [ <urn:q> 1 , 1 ] , ( 1 ( 2 ) [] ) .",
        "@prefix : <urn:> . :s :p [] {| :q 1 |} , [] {| :q 1 |} . << :a :b [] >> :c _:who , '_:w' .",
        f"<urn:a> <urn:p> {', '.join(['[ <urn:q> ' + ', '.join(['[]'] * 12) + ' ]'] * 2)} .",
    ],
)
def test_nodes_without_a_label_are_the_same_each_time(text: str) -> None:
    first, second = from_state(text), from_state(text)
    assert first.to_patch() == second.to_patch()
    assert Dataset(parse(text, RdfFormat.TURTLE)) != Dataset(parse(text, RdfFormat.TURTLE))
    assert ("_:who" in first.to_patch()) is ("_:who" in text)
    assert len(first) == len(set(parse(text, RdfFormat.TURTLE)))
    turtle = "@prefix : <urn:> . :C a <http://www.w3.org/2002/07/owl#Class> . :x a :C ; :p [ a :C ] ."
    assert TBox("t", turtle).opening().digest == TBox("t", turtle).opening().digest


def test_a_text_that_is_no_state_is_refused() -> None:
    for text, form in [("<urn:s> <urn:p>", "turtle"), ("<urn:s> <urn:p> <urn:o> <urn:g> .", "nquads")]:
        with pytest.raises(LogError):
            from_state(text, form)
