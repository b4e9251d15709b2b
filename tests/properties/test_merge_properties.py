"""Properties of every merge of two branches: no order, no loss, no silent choice."""

from __future__ import annotations

from itertools import accumulate
from typing import Any

import pyoxigraph as ox
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from substrate import Assert, Delta, EventLog, MergeError, Op, Retract, conflicts, fork, merge
from substrate.branch import merge_base

thorough = settings(max_examples=100)

nodes = st.sampled_from([ox.NamedNode(f"urn:{name}") for name in "ab"])
IN, KNOWS = ox.NamedNode("urn:in"), ox.NamedNode("urn:knows")
few = st.tuples(nodes, st.sampled_from([IN, KNOWS]), nodes)
functionals = st.sampled_from([(), (IN,), (IN, KNOWS)])


@st.composite
def grown(draw: Any, log: EventLog, most: int) -> EventLog:
    """A log with up to ``most`` further deltas, at its last tick or later."""
    steps = draw(st.lists(st.tuples(st.integers(0, 2), st.sampled_from(Op), few), max_size=most))
    ticks = accumulate((step for step, _, _ in steps), initial=log.last_tick)
    next(ticks)  # the log's own last tick, which `accumulate` gives first
    log.extend([Delta(tick, op, triple) for tick, (_, op, triple) in zip(ticks, steps, strict=True)])
    return log


@st.composite
def branches(draw: Any) -> tuple[EventLog, EventLog]:
    """Two forks of one log, with an intervention or not, at the same tick or not, both grown on."""
    log = draw(grown(EventLog(), 6))
    forks: list[EventLog] = []
    for _ in "ab":
        at = draw(st.integers(0, log.last_tick + 1))
        triple = draw(few)
        change = Retract(triple) if triple in log.state(at - 1) else Assert(triple)
        branch = fork(log, at, draw(st.sampled_from([None, change])))
        forks.append(draw(grown(branch, 5)))
    return forks[0], forks[1]


def key(delta: Delta, functional: tuple[ox.NamedNode, ...]) -> tuple[Any, ...]:
    """The thing that a delta changes: a triple, or a subject's one object if its property is functional."""
    return delta.triple[:2] if delta.triple[1] in functional else delta.triple


def plain_base(a: EventLog, b: EventLog) -> int:
    """The number of deltas with which both logs begin, counted one by one."""
    base = 0
    while base < min(len(a), len(b)) and a[base] == b[base]:
        base += 1
    return base


def plain_conflicts(a: EventLog, b: EventLog, functional: tuple[ox.NamedNode, ...]) -> dict[Any, set[int]]:
    """The ticks at which both have changed a thing and differ in it, by looking at every tick."""
    base, differing = plain_base(a, b), dict[Any, set[int]]()
    for what in {key(delta, functional) for delta in (*a, *b)}:
        for tick in range(max(a.last_tick, b.last_tick) + 1):
            spoken = [
                any(key(delta, functional) == what and delta.tick <= tick for delta in list(log)[base:])
                for log in (a, b)
            ]
            here, there = (
                {t for t in log.state(tick) if t == what or (t[1] in functional and t[:2] == what)}
                for log in (a, b)
            )
            if all(spoken) and here != there:
                differing.setdefault(what, set()).add(tick)
    return differing


def is_within(deltas: list[Delta], log: EventLog) -> bool:
    """Tell whether a log has some deltas in their order."""
    rest = iter(log)
    return all(any(delta == other for other in rest) for delta in deltas)


@thorough
@given(branches())
def test_the_base_is_the_common_beginning(pair: tuple[EventLog, EventLog]) -> None:
    assert merge_base(*pair) == merge_base(*reversed(pair)) == plain_base(*pair)


@thorough
@given(branches(), functionals)
def test_a_conflict_is_where_both_have_changed_a_thing_and_differ(
    pair: tuple[EventLog, EventLog], functional: tuple[ox.NamedNode, ...]
) -> None:
    a, b = pair
    last = max(a.last_tick, b.last_tick)
    clashes = {
        (c[:2] if c.object is None else c[:3]): {
            tick for when in c.when for tick in range(last + 1) if tick in when
        }
        for c in conflicts(a, b, functional=functional)
    }
    assert clashes == plain_conflicts(a, b, functional)
    for conflict in conflicts(a, b, functional=functional):
        for log, changes in ((a, conflict.a), (b, conflict.b)):
            assert changes
            assert all(log[position] == delta for position, delta in changes)
            assert {key(delta, functional) for _, delta in changes} == {key(changes[0].delta, functional)}


@thorough
@given(branches(), functionals)
def test_a_merge_without_conflict_has_every_delta_and_no_order(
    pair: tuple[EventLog, EventLog], functional: tuple[ox.NamedNode, ...]
) -> None:
    a, b = pair
    if conflicts(a, b, functional=functional):
        with pytest.raises(MergeError) as caught:
            merge(a, b, functional=functional)
        assert caught.value.conflicts == conflicts(a, b, functional=functional)
        return
    before = a.to_patch(), b.to_patch()
    both = merge(a, b, functional=functional)
    assert both.to_patch() == merge(b, a, functional=functional).to_patch(), "it commutes, to the byte"
    assert is_within(list(a), both)
    assert is_within(list(b), both)
    assert set(both) == set(a) | set(b)
    base = merge_base(a, b)
    for tick in range(both.last_tick + 1):
        at_base = set(a.branch(base, None).state(tick)) if base else set()
        spoken_a, spoken_b = ({delta.triple for delta in log[base:] if delta.tick <= tick} for log in pair)
        here, there = set(a.state(tick)), set(b.state(tick))
        expected = (at_base - spoken_a - spoken_b) | (here & spoken_a) | (there & spoken_b)
        assert set(both.state(tick)) == expected
    assert (a.to_patch(), b.to_patch()) == before, "the branches are never touched"


@thorough
@given(branches(), functionals)
def test_to_merge_once_more_changes_nothing(
    pair: tuple[EventLog, EventLog], functional: tuple[ox.NamedNode, ...]
) -> None:
    a, b = pair
    assume(not conflicts(a, b, functional=functional))
    both = merge(a, b, functional=functional)
    for log in (a, b, both):
        assert merge(both, log, functional=functional).digest == both.digest


@thorough
@given(branches(), st.integers(0, 12))
def test_a_merge_with_itself_or_with_its_beginning_changes_no_log(
    pair: tuple[EventLog, EventLog], size: int
) -> None:
    log, _ = pair
    assert merge(log, log).digest == log.digest
    assert list(merge(log, log)) == list(log)
    ancestor = EventLog(log[:size])
    assert merge(log, ancestor).digest == merge(ancestor, log).digest == log.digest
    assert not conflicts(log, ancestor)


@thorough
@given(branches(), functionals, st.data())
def test_the_chosen_branch_decides_at_every_tick(
    pair: tuple[EventLog, EventLog], functional: tuple[ox.NamedNode, ...], data: st.DataObject
) -> None:
    a, b = pair
    chosen: dict[Any, EventLog] = {}

    def choose(conflict: Any) -> Any:
        side = data.draw(st.sampled_from("ab"))
        what = conflict[:2] if conflict.object is None else conflict[:3]
        chosen[what] = a if side == "a" else b
        return side

    both = merge(a, b, functional=functional, choose=choose)
    assert set(chosen) == set(plain_conflicts(a, b, functional))
    for what, log in chosen.items():
        for tick in range(max(a.last_tick, b.last_tick) + 1):
            merged, wanted = (
                {t for t in source.state(tick) if t[: len(what)] == what} for source in (both, log)
            )
            assert merged == wanted
    disputed = {key(d, functional) for d in (*a, *b)} & set(chosen)
    for log in pair:
        assert is_within([d for d in log if key(d, functional) not in disputed], both)
