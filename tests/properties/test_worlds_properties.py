"""Branches that share a store answer as branches that have one of their own."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice

import pyoxigraph as ox
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from logs import log_of

from substrate import (
    Assert,
    Delta,
    EventLog,
    InterventionError,
    Op,
    ParameterError,
    Retract,
    State,
    fork,
    worlds,
)
from substrate.base.ntriples import quads_of

P = ox.NamedNode("urn:p")
INTEGER = ox.NamedNode("http://www.w3.org/2001/XMLSchema#integer")
OBJECTS = [ox.NamedNode("urn:o"), ox.Literal("a"), ox.Literal("1", datatype=INTEGER)]
# One value, written in two ways: a store takes the two for one
SAME = ox.Literal("01", datatype=INTEGER)
triples = st.tuples(
    st.sampled_from([ox.NamedNode(f"urn:s{i}") for i in range(4)]),
    st.just(P),
    st.sampled_from([*OBJECTS, SAME]),
)
ticks = st.integers(0, 80)
deltas = st.lists(st.tuples(st.integers(0, 2), st.sampled_from(Op), triples), max_size=40)
ALL = "SELECT ?s ?o { ?s <urn:p> ?o }"


def _log(steps: list[tuple[int, Op, ox.Triple]]) -> EventLog:
    log, tick = EventLog(), 0
    for after, op, triple in steps:
        tick += after
        log.append(Delta(tick, op, triple))  # pyright: ignore[reportArgumentType]
    return log


def _rows(state: State) -> list[str]:
    return sorted(str(row) for row in state.query(ALL))  # pyright: ignore[reportGeneralTypeIssues]


def _alone(log: EventLog, tick: int) -> list[str]:
    """The rows of a state, from a new store and from a log that is read anew."""
    state = EventLog.from_patch(log.to_patch()).state(tick)
    store = ox.Store()
    store.extend(quads_of(sorted(state.texts())))
    return sorted(str(row) for row in store.query(ALL))  # pyright: ignore


@settings(max_examples=150)
@given(
    deltas, st.lists(st.tuples(st.integers(0, 80), triples, st.booleans(), st.integers(0, 80)), max_size=12)
)
def test_any_state_of_any_branch_is_answered_as_by_a_store_of_its_own(
    steps: list[tuple[int, Op, ox.Triple]], changes: list[tuple[int, ox.Triple, bool, int]]
) -> None:
    logs = [_log(steps)]
    for number, (at, triple, insert, tick) in enumerate(changes):
        parent = logs[number % len(logs)]
        at %= parent.last_tick + 2
        with suppress(InterventionError):
            logs.append(fork(parent, at, (Assert if insert else Retract)(triple)))  # pyright: ignore
        for log in (logs[-1], parent, logs[0]):
            assert _rows(log.state(tick % (log.last_tick + 1))) == _alone(log, tick % (log.last_tick + 1))
        if insert:
            logs[0].append(Delta(logs[0].last_tick, Op.INSERT, triple))  # pyright: ignore[reportArgumentType]


@settings(max_examples=80)
@given(deltas, ticks, st.lists(triples, min_size=1, max_size=6))
def test_worlds_are_the_forks_one_by_one(
    steps: list[tuple[int, Op, ox.Triple]], at: int, changed: list[ox.Triple]
) -> None:
    log = _log(steps)
    at %= log.last_tick + 2
    before = log.state(at - 1) if at else EventLog().state()
    interventions = [(Retract if triple in before else Assert)(triple) for triple in changed]  # pyright: ignore
    branches = worlds(log, at=at, interventions=interventions)
    forks = [fork(_log(steps), at, intervention) for intervention in interventions]
    assert [branch.digest for branch in branches] == [branch.digest for branch in forks]
    for query in ("ASK { <urn:s0> <urn:p> ?o }", "ASK { ?s <urn:p> 1 }"):
        assert branches.ask(query) == [bool(branch.head.query(query)) for branch in forks]
    assert len(log) == len(steps)


@pytest.fixture(scope="module")
def village() -> EventLog:
    return log_of((i // 5, f"A <urn:s{i % 97}> <urn:p> <urn:o{i}> .") for i in range(3000))


def _asserts(number: int) -> list[Assert]:
    return [Assert((ox.NamedNode("urn:new"), P, ox.NamedNode(f"urn:o{i}"))) for i in range(number)]


def test_open_results_keep_the_state_that_they_were_asked_of(village: EventLog) -> None:
    branches = worlds(village, at=300, interventions=_asserts(20))
    results: list[Iterator[ox.QuerySolution]] = list(branches.query(ALL))  # pyright: ignore
    begun = [list(islice(result, 100)) for result in results]
    # The store that the branches share moves to other ticks while all twenty results are open.
    for tick in (10, 599, 300):
        village.state(tick).query("ASK { ?s ?p ?o }")
    assert {len(rows) for rows in begun} == {100}
    for number, (rows, result) in enumerate(zip(begun, results, strict=True)):
        every = [str(row) for row in (*rows, *result)]
        assert len(set(every)) == len(every) == 3001, "the village's triples, and the one of the branch"
        assert sum("urn:new" in row for row in every) == 1
        assert any(f"=urn:o{number}>" in row and "urn:new" in row for row in every)


def test_threads_ask_branches_of_one_log_at_once(village: EventLog) -> None:
    branches = worlds(village, at=300, interventions=_asserts(40))
    wrong: list[str] = []

    def ask(shift: int) -> None:
        for step in range(120):
            number = (step * 7 + shift) % 40
            tick = 599 if step % 5 else 20
            rows = branches[number].state(tick).match(ox.NamedNode("urn:new"))
            if [str(o) for _, _, o in rows] != ([f"<urn:o{number}>"] if tick == 599 else []):
                wrong.append(f"{number} at {tick}")

    threads = [threading.Thread(target=ask, args=(shift,)) for shift in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system forks no process")
def test_a_forked_process_asks_while_a_thread_of_its_parent_does(village: EventLog) -> None:
    branches = worlds(village, at=300, interventions=_asserts(10))
    stop = threading.Event()

    def ask() -> None:
        while not stop.is_set():
            branches.ask("ASK { <urn:new> <urn:p> <urn:o3> }")

    thread = threading.Thread(target=ask)
    thread.start()
    try:
        for _ in range(3):
            child = os.fork()
            if child == 0:
                right = branches.ask("ASK { <urn:new> <urn:p> <urn:o3> }") == [i == 3 for i in range(10)]
                os._exit(0 if right else 1)
            assert os.waitpid(child, 0)[1] == 0
    finally:
        stop.set()
        thread.join()


def test_a_wrong_argument_of_worlds_is_named_with_its_place(village: EventLog) -> None:
    good, bad = _asserts(1)[0], Retract((ox.NamedNode("urn:no"), P, P))
    with pytest.raises(InterventionError, match=r"interventions\[1\]"):
        worlds(village, at=3, interventions=[good, bad])
    with pytest.raises(ParameterError, match=r"Worlds\.query"):
        worlds(village, at=3, interventions=[good]).ask(ALL)
