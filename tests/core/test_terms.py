"""Python values as terms of a log, and namespaces."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Iterable
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from math import inf
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyoxigraph import BlankNode, Literal, NamedNode, Triple

from substrate import EventLog, LogError, Namespace, Op, ParameterError, State, fork
from substrate.base.terms import term, triple, value
from substrate.log import insert, record
from substrate.log.event_log import Triple as LogTriple
from substrate.log.export import to_turtle
from substrate.sparql.guard import query as guarded

V = Namespace("https://example.org/v#")
XSD = Namespace("http://www.w3.org/2001/XMLSchema#")


@given(
    st.text(st.characters(exclude_categories=["Cs"]))
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.decimals(allow_nan=False, allow_infinity=False)
    | st.datetimes(timezones=st.none() | st.just(UTC) | st.just(timezone(timedelta(hours=5, minutes=30))))
    | st.dates()
)
def test_a_value_comes_back_from_a_saved_log_as_it_was(given: Any) -> None:
    log = EventLog()
    insert(log, V.thing, V.holds, given, tick=0)
    (triple,) = EventLog.from_patch(log.to_patch()).state()
    back = value(triple[2])
    assert back == given
    assert type(back) is type(given)


def test_each_python_type_has_its_datatype() -> None:
    for python, datatype in (
        ("seven", XSD.string),
        (True, XSD.boolean),
        (7, XSD.integer),
        (inf, XSD.double),
        (Decimal("7.50"), XSD.decimal),
        (datetime(2026, 2, 14, 17, tzinfo=UTC), XSD.dateTime),
        (date(2026, 2, 14), XSD.date),
    ):
        literal = term(python)
        assert isinstance(literal, Literal)
        assert literal.datatype == datatype
    assert term(datetime(2026, 2, 14, 17, tzinfo=UTC)) == Literal(
        "2026-02-14T17:00:00Z", datatype=XSD.dateTime
    )
    assert term((V.ann, V.age, 7)) == Triple(V.ann, V.age, Literal(7))


def test_a_literal_without_a_python_value_stays_as_it_is() -> None:
    for untouched in (
        Literal("ja", language="de"),
        Literal("seven", datatype=XSD.integer),
        Literal("1_000", datatype=XSD.integer),
        Literal("nan", datatype=XSD.double),
        Literal("13", datatype=XSD.byte),
        V.ann,
        BlankNode("b"),
    ):
        assert value(untouched) is untouched


@pytest.mark.parametrize(
    ("arguments", "place"),
    [
        (("ann", V.age, 7), "subject"),
        ((Literal("ann"), V.age, 7), "subject"),
        ((V.ann, "age", 7), "predicate"),
        ((V.ann, BlankNode(), 7), "predicate"),
        ((V.ann, V.age, None), "object"),
        ((V.ann, V.age, b"7"), "object"),
        ((V.ann, V.age, Decimal("nan")), "object"),
        ((V.ann, V.age, "\ud800"), "object"),
        ((V.ann, V.age, (V.bo, "age", 7)), "predicate"),
    ],
)
def test_a_wrong_argument_is_named_and_nothing_is_appended(arguments: Any, place: str) -> None:
    log = EventLog()
    with pytest.raises(ParameterError, match=place):
        insert(log, *arguments)
    assert len(log) == 0
    with pytest.raises(ParameterError, match=place):
        triple(*arguments)


def test_a_namespace_makes_iris_and_cannot_be_changed() -> None:
    assert V.ann == V["ann"] == NamedNode("https://example.org/v#ann")
    assert V.ann in V
    assert NamedNode("urn:else") not in V
    assert copy.deepcopy(V) == V == Namespace(str(V))  # as pickle does it
    assert {V: 1}[Namespace("https://example.org/v#")] == 1
    for wrong in ("no scheme", "", "urn:a b:"):
        with pytest.raises(ParameterError):
            Namespace(wrong)
    with pytest.raises(ParameterError, match="two words"):
        _ = V["two words"]
    with pytest.raises(ParameterError):
        V.ann = 1  # pyright: ignore


class Counter:
    """Counts up from the number in the state."""

    def start(self, state: State, tick: int) -> None:
        ((_, _, self.now),) = ((s, p, value(o)) for s, p, o in state.match(V.counter, V.says))

    def step(self, tick: int) -> Iterable[tuple[Op, LogTriple]]:
        old, self.now = self.now, self.now + 1
        return [
            (Op.RETRACT, triple(V.counter, V.says, old)),
            (Op.INSERT, triple(V.counter, V.says, self.now)),
        ]


def test_a_simulator_is_recorded_tick_by_tick() -> None:
    log = EventLog()
    insert(log, V.counter, V.says, 10, tick=0)
    record(log, Counter(), range(1, 4))
    assert [[value(o) for _, _, o in log.state(tick)] for tick in range(4)] == [[10], [11], [12], [13]]
    with pytest.raises(LogError, match="does not follow"):
        record(log, Counter(), (4, 6))


def test_the_prefixes_of_a_log_hold_in_queries_and_texts_of_it_and_of_its_forks_and_copies() -> None:
    log = EventLog()
    log.insert(V.ann, V.at, V.cafe)
    before = log.digest
    log.prefixes["v"] = V
    for same in (log, fork(log, 1), copy.copy(log), pickle.loads(pickle.dumps(log))):
        assert same.digest == before, "prefixes are no part of a digest"
        assert same.state().query("ASK { v:ann v:at v:cafe }")
        assert guarded(same.state(), "ASK { v:ann v:at v:cafe }") is True
        assert "v:ann v:at v:cafe ." in to_turtle(same.state())
        assert not same.state().query("ASK { v:ann v:at v:cafe }", prefixes={"v": "urn:else:"})
    branch = fork(log, 1)
    branch.prefixes["w"] = "urn:w:"
    assert set(log.prefixes) == {"v"}
    with pytest.raises(SyntaxError):
        EventLog().state().query("ASK { v:ann ?p ?o }")
