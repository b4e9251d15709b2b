"""Intervals of valid time: half open, in any zone, with leap seconds and equal stamps."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from hypothesis import given
from hypothesis import strategies as st

from substrate import EventLog, Memory, Namespace

V = Namespace("urn:v:")
NOON = datetime(2026, 2, 14, 12, tzinfo=UTC)
Span = tuple[int, int | None]


@given(spans=st.lists(st.tuples(st.integers(0, 6), st.none() | st.integers(7, 12)), max_size=4))
def test_a_fact_is_held_from_its_first_moment_to_before_its_last(spans: list[Span]) -> None:
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


def test_a_leap_second_of_another_program_is_the_moment_after_it() -> None:
    memory = Memory()
    memory.observe(V.ann, V.at, V.cafe, valid_from=NOON, tick=0)
    text = (
        memory.log.to_patch()
        .replace("H prev", "H was")
        .replace("2026-02-14T12:00:00Z", "2016-12-31T23:59:60Z")
    )
    text = "\n".join(line for line in text.split("\n") if not line.startswith("H "))
    read = Memory(EventLog.from_patch(text))
    assert len(read.as_of(about=datetime(2017, 1, 1, tzinfo=UTC))) == 1
    assert len(read.as_of(about=datetime(2016, 12, 31, 23, 59, 59, tzinfo=UTC))) == 0
    zoneless = Memory(EventLog.from_patch(text.replace("23:59:60Z", "23:59:59")))
    assert len(zoneless.as_of(about=NOON)) == 0, "no moment, and no crash"


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
