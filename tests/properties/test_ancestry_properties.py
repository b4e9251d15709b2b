"""Properties of every ancestry, and the duality on random worlds that keep or break each condition."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple
from unittest.mock import patch

import networkx as nx
from hypothesis import given, settings
from hypothesis import strategies as st

from substrate import Event, ancestors
from substrate.cause import ancestors_as_printed, ancestors_global_frame, causal_chain, conditions, verdicts

thorough = settings(max_examples=200)
OBJECTS = "xabcde"


@st.composite
def logs(draw: Any, most: int = 12) -> list[Event]:
    drawn = draw(
        st.lists(
            st.tuples(st.integers(0, 8), st.sets(st.sampled_from(OBJECTS), min_size=1, max_size=3)),
            max_size=most,
        )
    )
    return [Event(number, tick, frozenset(objects)) for number, (tick, objects) in enumerate(drawn)]


def direct(log: list[Event]) -> nx.DiGraph:
    graph = nx.DiGraph()
    graph.add_nodes_from(event.id for event in log)
    graph.add_edges_from((a.id, b.id) for a in log for b in log if a.tick < b.tick and a.objects & b.objects)
    return graph


def closure(log: list[Event], event: Event) -> set[Any]:
    """Definition 1, word by word: add what the two clauses ask for until nothing is missing."""
    known = {e.id for e in log if e.tick < event.tick and e.objects & event.objects}
    while True:
        more = {e.id for e in log for f in log if f.id in known and e.tick < f.tick and e.objects & f.objects}
        if more <= known:
            return known
        known |= more


@thorough
@given(logs())
def test_ancestry_is_the_closure_and_what_networkx_finds(log: list[Event]) -> None:
    graph, ancestry = direct(log), ancestors(log)
    for event in log:
        assert ancestry[event.id].events == closure(log, event) == nx.ancestors(graph, event.id)
        assert ancestry[event.id].objects == event.objects.union(
            *(e.objects for e in log if e.id in ancestry[event.id].events)
        )


@thorough
@given(logs())
def test_the_printed_algorithm_finds_less_and_the_global_frame_more(log: list[Event]) -> None:
    exact, printed, wide = ancestors(log), ancestors_as_printed(log), ancestors_global_frame(log)
    for event in log:
        assert printed[event.id].events <= exact[event.id].events <= wide[event.id].events


@thorough
@given(logs(most=20), st.integers(0, 1 << 6), st.randoms(use_true_random=False))
def test_blocks_of_eight_events_find_what_one_block_finds(log: list[Event], most: int, chance: Any) -> None:
    """Events are asked for in any order, one has no participant, and masks are dropped and made again."""
    log = [*log, Event("nobody's", 3, frozenset())]
    wanted = {event.id: closure(log, event) for event in log}
    whole, names = ancestors(log), list(wanted)
    chance.shuffle(names)
    with patch("substrate.cause.ancestry._WIDTH", 1), patch("substrate.cause.ancestry._MOST", most):
        blocks = ancestors(log)
        assert {name: blocks[name].events for name in names * 2} == wanted
        assert dict(blocks) == dict(whole)
        assert list(blocks) == list(whole)


@thorough
@given(logs())
def test_a_chain_is_a_shortest_path(log: list[Event]) -> None:
    graph = direct(log)
    for event in log:
        for ancestor in ancestors(log)[event.id].events:
            chain = causal_chain(log, event.id, ancestor)
            assert (chain[0].id, chain[-1].id) == (ancestor, event.id)
            assert all(a.tick < b.tick and a.objects & b.objects for a, b in pairwise(chain))
            assert len(chain) == nx.shortest_path_length(graph, ancestor, event.id) + 1


# Worlds: a mechanism that knows nothing of ancestry. Each object is on course or off it; an event that
# should be occurs where all its participants are there and on course. One that fails to occur throws
# its participants off course.


class World(NamedTuple):
    """The events by plan, and four ways in which nature may not keep to the conditions.

    ``hidden`` events happen but are not recorded (C1); ``distant`` pairs (object, event) make an event
    hang on an object that has no part in it (C2); ``emergent`` events happen only where the object
    named by them is away, and throw their participants off course (C3); ``idle`` events touch their
    participants without effect (C4).
    """

    plan: list[Event]
    hidden: frozenset[Any] = frozenset()
    distant: frozenset[tuple[str, Any]] = frozenset()
    emergent: tuple[tuple[str, Event], ...] = ()
    idle: frozenset[Any] = frozenset()

    def run(self, removed: str | None = None) -> list[Event]:
        off, happened = {removed}, []
        extra = [event for missing, event in self.emergent if missing == removed]
        due = sorted([*self.plan, *extra], key=lambda e: e.tick)
        for tick in sorted({e.tick for e in due}):
            now = [e for e in due if e.tick == tick]
            fails = [
                e for e in now if e not in extra and (e.objects & off or (removed, e.id) in self.distant)
            ]
            happened += [e for e in now if e not in fails]
            for event in [e for e in now if e in fails or e in extra]:
                off |= event.objects if event.id not in self.idle else set()
        return happened

    def recorded(self, removed: str | None = None) -> list[Event]:
        return [event for event in self.run(removed) if event.id not in self.hidden]


def judge(world: World) -> tuple[bool, bool, tuple[str, ...]]:
    """The verdict on the duality: for every observed event, for the whole other world, and what failed."""
    observed, other = world.recorded(), world.recorded("x")
    foretold = {name for name, verdict in verdicts(observed, "x").items() if verdict.occurs}
    really = {e.id for e in other}
    failed = conditions(observed, "x", declared=OBJECTS, without=other).failed
    return foretold == really & {e.id for e in observed}, foretold == really, failed


@thorough
@given(logs())
def test_the_duality_holds_on_worlds_that_keep_the_conditions(plan: list[Event]) -> None:
    world = World(plan)
    assert judge(world) == (True, True, ())
    judged = verdicts(world.recorded(), "x", declared=OBJECTS, without=world.recorded("x"))
    assert {verdict.status for verdict in judged.values()} <= {"proven"}


@thorough
@given(logs(), logs(most=4), st.data())
def test_the_checked_conditions_are_exactly_what_the_duality_needs(
    plan: list[Event], more: list[Event], data: st.DataObject
) -> None:
    """Any mixture of breaches: C2 and C4 together are equivalent to the statement, with C3 to the whole other
    world.
    """
    names = [e.id for e in plan] or [0]
    subset = st.frozensets(st.sampled_from(names), max_size=3)
    world = World(
        plan,
        data.draw(subset),
        frozenset(("x", name) for name in data.draw(subset)),
        tuple(
            ("x", Event(f"new{e.id}", e.tick, e.objects - {"x"} or frozenset("a")))
            for e in more
            if data.draw(st.booleans())
        ),
        data.draw(subset),
    )
    observed_right, all_right, failed = judge(world)
    # Nothing in this nature changes an event's tick, so that C2 is about its occurrence alone.
    assert observed_right == (not {"C2", "C4"} & set(failed))
    assert all_right == (not failed)
