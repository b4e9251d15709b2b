"""Intervals of valid time: half open, in any zone, with leap seconds and equal stamps, and how two stand."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from substrate import EventLog, Memory, Namespace, ParameterError
from substrate.memory.intervals import RELATIONS, allen

V = Namespace("urn:v:")
NOON = datetime(2026, 2, 14, 12, tzinfo=UTC)
Span = tuple[int, int | None]
_spans = st.tuples(st.integers(0, 6), st.none() | st.integers(1, 6)).map(
    lambda drawn: (drawn[0], None if drawn[1] is None else drawn[0] + drawn[1])
)


def truths(a: Span, b: Span) -> list[str]:
    """The relations that hold, each as Allen draws it."""
    (s, e), (t, f) = ((first, 99 if last is None else last) for first, last in (a, b))
    drawn = {
        "before": e < t,
        "meets": e == t,
        "overlaps": s < t < e < f,
        "starts": s == t and e < f,
        "during": s > t and e < f,
        "finishes": s > t and e == f,
        "equals": s == t and e == f,
        "finished_by": s < t and e == f,
        "contains": s < t and e > f,
        "started_by": s == t and e > f,
        "overlapped_by": t < s < f < e,
        "met_by": f == s,
        "after": f < s,
    }
    return [name for name, holds in drawn.items() if holds]


@given(a=_spans, b=_spans)
def test_of_two_intervals_exactly_one_relation_holds_and_its_inverse(a: Span, b: Span) -> None:
    assert truths(a, b) == [allen(a, b)]
    assert RELATIONS.index(allen(a, b)) + RELATIONS.index(allen(b, a)) == len(RELATIONS) - 1
    hours: list[tuple[datetime, datetime | None]] = [
        (NOON + timedelta(hours=s), None if e is None else NOON + timedelta(hours=e)) for s, e in (a, b)
    ]
    assert allen(hours[0], hours[1]) == allen(a, b)


@settings(max_examples=30, deadline=None)
@given(spans=st.lists(_spans, max_size=4), asked=_spans)
def test_an_interval_has_the_moments_at_which_a_memory_holds_it(spans: list[Span], asked: Span) -> None:
    memory = Memory()
    for number, (first, last) in enumerate(spans):
        memory.observe(V.ann, V.at, V[f"p{number}"], valid_from=first, valid_until=last)
    held = {one.said[2]: (one.first, one.last) for one in memory.intervals(V.ann, V.at)}
    assert held == {V[f"p{number}"]: span for number, span in enumerate(spans)}
    for at in range(14):
        there = {o for *_, o in memory.as_of(about=at).match(V.ann)}
        assert there == {o for o, (s, e) in held.items() if allen((at, at + 1), (s, e)) in _WITHIN}
    found = [one.said[2] for name in RELATIONS for one in memory.intervals(V.ann, to=asked, relations=[name])]
    assert sorted(map(str, found)) == sorted(map(str, held)), "each stands in one relation"


_WITHIN = {"starts", "during", "finishes", "equals"}


def test_a_time_has_its_zone_and_an_hour_that_comes_twice_is_two() -> None:
    berlin, memory = ZoneInfo("Europe/Berlin"), Memory()
    first, second = (datetime(2026, 10, 25, 2, 30, tzinfo=berlin, fold=fold) for fold in (0, 1))
    memory.observe(V.ann, V.at, V.cafe, valid_from=first, valid_until=second)
    (held,) = memory.intervals(V.ann)
    assert held.last is not None
    assert held.last - held.first == timedelta(hours=1)  # type: ignore[operator]
    assert held.first == datetime(2026, 10, 25, 0, 30, tzinfo=UTC)
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
    (held,) = read.intervals(V.ann)
    assert (held.first, held.last) == (datetime(2017, 1, 1, tzinfo=UTC), None)
    assert len(read.as_of(about=datetime(2016, 12, 31, 23, 59, 59, tzinfo=UTC))) == 0
    zoneless = Memory(EventLog.from_patch(text.replace("23:59:60Z", "23:59:59")))
    assert zoneless.intervals(V.ann) == []
    assert len(zoneless.as_of(about=NOON)) == 0, "no moment, and no crash"


def test_records_of_one_time_are_merged_at_one_tick() -> None:
    base = Memory()
    base.observe(V.town, V.at, V.valley, time=NOON)
    one, two = base.imagine(1), base.imagine(1)
    one.observe(V.ann, V.at, V.cafe, time=NOON + timedelta(hours=1))
    two.observe(V.bo, V.at, V.cafe, time=NOON + timedelta(hours=1))
    both = one.merge(two)
    assert both.log.ticks == [0, 1]
    assert both.log.digest == two.merge(one).log.digest
    assert {s for s, _, _ in both.as_of(about=NOON + timedelta(hours=1))} == {V.ann, V.bo, V.town}


def test_what_is_no_interval_is_refused() -> None:
    for a, b in (((4, 4), (1, 2)), ((1, 2), (3, 2)), ((1, 2), (NOON, None)), ((1, NOON), (1, 2))):
        with pytest.raises(ParameterError, match=r"a|b"):
            allen(a, b)
    with pytest.raises(ParameterError, match="no relation"):
        Memory().intervals(V.ann, relations=["beside"])  # type: ignore[list-item]
