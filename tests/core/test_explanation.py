"""The explanation of an answer: as text for a reader, as a record for a machine."""

from __future__ import annotations

import json

from pyoxigraph import Literal, NamedNode

from substrate import Delta, EventLog, Op, fork
from substrate.cause import Evidence, ExplainedPart, ExplainedStep, Explanation

IN, TYPE = NamedNode("urn:v:in"), NamedNode("http://www.w3.org/1999/02/22-rdf-syntax-ns#type")


def moves(count: int) -> EventLog:
    """Ann goes from room to room, one a tick."""
    ann = NamedNode("urn:v:ann")
    deltas = [Delta(0, Op.INSERT, (ann, TYPE, NamedNode("urn:v:Person")))]
    deltas += [Delta(0, Op.INSERT, (ann, NamedNode("urn:v:age"), Literal(40)))]
    deltas += [Delta(tick, Op.INSERT, (ann, IN, Literal(f"room <{tick}>"))) for tick in range(1, count)]
    return EventLog(deltas)


def explained(log: EventLog, *parts: ExplainedPart, **logs: EventLog) -> Explanation:
    return Explanation("Where is Ann?", "in & out", parts, {"": log, **logs}, {"urn:v:": ":"})


def step(*positions: int, query: str = "", log: str = "") -> ExplainedStep:
    return ExplainedStep("look", "found", (), query, tuple(Evidence(p, log) for p in positions))


def test_the_answer_is_read_first_and_a_query_once() -> None:
    query = "at tick 1:\nASK { ?who :in ?where }"
    part = ExplainedPart("", (step(0, query=query), step(2, query=query)), "in & out")
    text = explained(moves(3), part).text()
    assert text.splitlines()[:2] == ["Where is Ann?", "answer: in & out"]
    assert text.count("ASK {") == 1


def test_deltas_of_one_tick_and_thing_are_one_line_and_in_full_a_line_each() -> None:
    why = explained(moves(3), ExplainedPart("", (step(0, 1, 2),), ""))
    assert "tick   0  insert   :ann a :Person; :age 40\n" in why.text()
    full = why.text(full=True)
    assert "tick   0  insert   <urn:v:ann> <urn:v:age> " in full
    assert full.count("<urn:v:ann>") == 3
    assert why.logs[""].digest in full


def test_more_than_a_few_deltas_are_counted_and_in_full_all_there() -> None:
    why = explained(moves(40), ExplainedPart("", (step(*range(2, 40)),), ""))
    assert why.text().count(":ann :in") == 6
    assert "and 32 more" in why.text()
    assert why.text(full=True).count("<urn:v:in>") == 38
    assert len(why.record()["parts"][0]["steps"][0]["evidence"]) == 38


def test_the_same_deltas_are_named_by_the_step_that_showed_them() -> None:
    parts = (
        ExplainedPart("choice 0", (step(0), step(2), step(0)), "yes"),
        ExplainedPart("choice 1", (step(2),), "no"),
    )
    text = explained(moves(3), *parts).text()
    assert "  2 look => found\n      the deltas of step 0\n" in text
    assert "choice 1: no\n  0 look => found\n      the deltas of step 1 of choice 0\n" in text


def test_a_forks_deltas_are_marked_beside_the_answers_own() -> None:
    log = moves(5)
    branch = fork(log, at=2, emitter=None)
    why = explained(log, ExplainedPart("", (step(2), step(3, log="fork")), ""), fork=branch)
    assert (why.evidence(), why.evidence("fork")) == ([2], [3])
    assert why.delta(Evidence(3, "fork")) == branch[3]
    assert "tick   2 of fork  insert" in why.text()
    assert f"log of fork: {branch.digest[:19]}, forked at tick 2 of {log.digest[:19]}" in why.text()


def test_a_machine_gets_each_delta_as_the_log_has_it() -> None:
    log = moves(3)
    why = explained(log, ExplainedPart("", (step(2),), "", "sure"))
    record = json.loads(json.dumps(why.record()))
    (part,) = record["parts"]
    assert (record["answer"], part["ground"], record["logs"]) == ("in & out", "sure", {"": log.digest})
    assert part["steps"][0]["evidence"] == [
        {"position": 2, "log": "", "tick": 1, "op": "insert", "triple": '<urn:v:ann> <urn:v:in> "room <1>"'}
    ]
