"""Intervals of valid time: half open, in any zone, by the grammar of XML Schema, with equal stamps."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st
from pyoxigraph import Literal, NamedNode

from substrate import EventLog, Memory, Namespace
from substrate.base.terms import term, value
from substrate.base.times import Rounded
from substrate.memory.records import when

V = Namespace("urn:v:")
NOON = datetime(2026, 2, 14, 12, tzinfo=UTC)
Span = tuple[int, int | None]


@given(spans=st.lists(st.tuples(st.integers(0, 6), st.none() | st.integers(7, 12)), max_size=4))
def test_a_fact_holds_from_its_first_moment_until_before_its_last(spans: list[Span]) -> None:
    memory = Memory()
    for number, (first, last) in enumerate(spans):
        memory.observe(V.ann, V.at, V[f"p{number}"], valid_from=first, valid_until=last)
    for at in range(14):
        there = {o for *_, o in memory.as_of(about=at).match(V.ann)}
        assert there == {V[f"p{n}"] for n, (s, e) in enumerate(spans) if s <= at and (e is None or at < e)}


def test_a_time_has_its_zone_and_an_hour_that_comes_twice_is_two() -> None:
    berlin, memory = ZoneInfo("Europe/Berlin"), Memory()
    first, second = (datetime(2026, 10, 25, 2, 30, tzinfo=berlin, fold=fold) for fold in (0, 1))
    memory.observe(V.ann, V.at, V.cafe, valid_from=first, valid_until=second)
    (record,) = memory.why(V.ann, V.at, V.cafe)
    assert (record.valid_from, record.valid_until) == (
        datetime(2026, 10, 25, 0, 30, tzinfo=UTC),
        datetime(2026, 10, 25, 1, 30, tzinfo=UTC),
    )
    assert len(memory.as_of(about=second)) == 0
    assert len(memory.as_of(about=first)) == 1


@pytest.mark.parametrize(
    ("given", "first"),
    [
        ("2016-12-31T23:59:60Z", datetime(2017, 1, 1, tzinfo=UTC)),
        ("1999-12-31T24:00:00Z", datetime(2000, 1, 1, tzinfo=UTC)),
        ("2000-01-01T14:00:00+14:00", datetime(2000, 1, 1, tzinfo=UTC)),
        ("1999-12-31T23:59:59.9999991Z", datetime(2000, 1, 1, tzinfo=UTC)),
        *((text, None) for text in ("2016-12-31T23:59:59", "1999-12-31T23:60:00Z", "2000-01-01")),
        *((text, None) for text in ("2000-W01-1T00:00:00Z", "20000101T000000Z", "2000-01-01X00:00:00Z")),
        *(
            (text, None)
            for text in ("2000-01-01T24:00:01Z", "1999-02-29T00:00:00Z", "2000-01-01T00:00:00+14:01")
        ),
    ],
)
def test_a_time_of_another_program_is_read_by_the_grammar_of_xsd(given: str, first: datetime | None) -> None:
    memory = Memory()
    memory.observe(V.ann, V.at, V.cafe, valid_from=NOON, valid_until=NOON + timedelta(days=1), tick=0)
    lines = memory.log.to_patch().replace("2026-02-14T12:00:00Z", given).split("\n")
    read = Memory(EventLog.from_patch("\n".join(line for line in lines if not line.startswith("H "))))
    assert len(read.as_of(about=NOON)) == (first is not None)
    if first:
        assert len(read.as_of(about=first)) == 1
        assert len(read.as_of(about=first - timedelta(microseconds=1))) == 0


def test_records_of_one_time_are_merged_at_one_tick() -> None:
    base = Memory()
    base.observe(V.town, V.at, V.valley, time=NOON)
    ours, theirs = base.imagine(1), base.imagine(1)
    ours.observe(V.ann, V.at, V.cafe, time=NOON + timedelta(hours=1))
    theirs.observe(V.bo, V.at, V.cafe, time=NOON + timedelta(hours=1))
    both = ours.merge(theirs)
    assert both.log.ticks == [0, 1]
    assert both.log.digest == theirs.merge(ours).log.digest
    assert {s for s, _, _ in both.as_of(about=NOON + timedelta(hours=1))} == {V.ann, V.bo, V.town}


texts = st.builds(
    "{}-{:02}-{:02}T{}:{}:{}{}{}".format,
    st.sampled_from(["-0044", "0000", "0001", "1999", "2000", "9999", "10000", "00200", "-1"]),
    st.integers(0, 13),
    st.sampled_from([1, 28, 29, 31]),
    st.sampled_from(["00", "23", "24", "25"]),
    st.sampled_from(["00", "59", "60"]),
    st.sampled_from(["00", "59"]),
    st.sampled_from(["", "", ".0", ".5", ".999999", ".9999991", ".0000000001"]),
    st.sampled_from(["Z", "Z", "+14:00", "-05:30", "+14:01", "+1:00", "z"]),
)


@settings(max_examples=400)
@given(text=texts, second=texts | st.datetimes(timezones=st.just(UTC)).map(datetime.isoformat))
def test_times_are_read_and_ordered_as_sparql_does(text: str, second: str) -> None:
    kind = NamedNode("http://www.w3.org/2001/XMLSchema#dateTime")
    given, against = Literal(text, datatype=kind), Literal(second, datatype=kind)
    if (other := when(against)) is None:
        reject()
    ask = f"ASK {{ FILTER({given} SIGN {against}) }}"
    later, sooner = (bool(EventLog().state().query(ask.replace("SIGN", sign))) for sign in (">", "<="))
    read = when(given)
    assert (read is not None) is (later or sooner)
    assert read is None or ((read <= other) is sooner and (other < read) is later)  # pyright: ignore[reportOperatorIssue]
    # A time that a datetime of Python cannot hold stays a literal or is rounded; any other comes back.
    plain = value(given)
    assert plain == given or isinstance(read, Rounded) or read == plain == when(term(plain))
    assert read is None or when(term(read)) == read
