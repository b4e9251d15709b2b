"""Logs and states as Python values: slices, equality, copies, pickles, and the small verbs."""

from __future__ import annotations

import pickle
import threading
from copy import copy, deepcopy
from pathlib import Path
from typing import Any

import pyoxigraph as ox
import pytest
from hypothesis import given
from hypothesis import strategies as st

from substrate import Assert, Delta, EventLog, LogError, Namespace, Op, ParameterError, State, fork
from substrate.log import insert

V = Namespace("https://example.org/v#")
FACT = (V.ann, V.at, V.cafe)
terms = st.one_of(
    st.sampled_from([V.ann, V.bo, ox.BlankNode("b")]),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=5).map(ox.Literal),
    st.sampled_from(["1", "01"]).map(
        lambda text: ox.Literal(text, datatype=ox.NamedNode("http://www.w3.org/2001/XMLSchema#integer"))
    ),
    st.just(ox.Triple(V.ann, V.knows, ox.Literal("x", language="de"))),
)
steps = st.lists(st.tuples(st.integers(0, 20), st.sampled_from(Op), terms), max_size=12)
bounds = st.none() | st.integers(-15, 15)


def log_in_order(given: list[tuple[int, Op, Any]]) -> EventLog:
    ordered = sorted(given, key=lambda step: step[0])
    return EventLog(Delta(tick, op, (V.ann, V.at, object_)) for tick, op, object_ in ordered)


@given(steps, bounds, bounds, bounds.filter(lambda step: step != 0), st.integers(0, 20))
def test_a_slice_of_a_log_is_that_of_its_list_of_deltas(
    given: list[tuple[int, Op, Any]], start: int | None, stop: int | None, step: int | None, at: int
) -> None:
    log = log_in_order(given)
    forked = fork(log, min(at, log.last_tick + 1), Assert((V.bo, V.at, V.park)))
    for deltas in (log, forked):
        assert deltas[start:stop:step] == tuple(deltas)[start:stop:step]
        first, last = start or 0, stop or 0
        assert deltas.between(first, last) == tuple(d for d in deltas if first <= d.tick <= last)


@given(steps, st.integers(0, 20))
def test_a_pickled_or_copied_log_or_state_is_equal_and_grows_by_itself(
    given: list[tuple[int, Op, Any]], tick: int
) -> None:
    log = log_in_order(given)
    digest, size = log.digest, len(log)
    for other in (pickle.loads(pickle.dumps(log)), copy(log), deepcopy(log)):
        assert (other, other.descent) == (log, log.descent)
        assert list(other) == list(log)
        other.append(Delta(30, Op.INSERT, FACT))
        assert other != log
    assert (log.digest, len(log)) == (digest, size)
    state = log.state(tick)
    before = state.nquads()
    for other in (pickle.loads(pickle.dumps(state)), copy(state), deepcopy(state)):
        assert isinstance(other, State)
        assert (other, other.tick, other.nquads()) == (state, tick, before)
        assert set(other) == set(state)
        assert bool(other.query("ASK { ?s ?p ?o }")) == bool(len(state))
        new = (V.cy, V.at, V.cafe)
        assert other.apply(Op.INSERT, ox.Quad(*new))
        assert new in other
        assert new not in state
        assert other != state
        assert pickle.loads(pickle.dumps(other)) == other
    assert state.nquads() == before


def test_a_copy_of_a_log_on_disk_is_in_memory(tmp_path: Path) -> None:
    path = tmp_path / "log.rdfp"
    with EventLog.open(path) as log:
        log.append(Delta(0, Op.INSERT, FACT))
        before = path.read_bytes()
        for other in (pickle.loads(pickle.dumps(log)), copy(log)):
            other.append(Delta(1, Op.RETRACT, FACT))
            assert path.read_bytes() == before
        snapshot = copy(log.head)
        log.append(Delta(1, Op.RETRACT, FACT))
        assert len(snapshot) == 1, "a copy of the head does not follow the log"
        snapshot.apply(Op.RETRACT, ox.Quad(*FACT))
    assert EventLog.read(path) == log


def test_a_pickle_that_was_changed_is_refused() -> None:
    log = EventLog([Delta(0, Op.INSERT, FACT)])
    damaged = pickle.dumps(log).replace(b"v#cafe", b"v#park")
    with pytest.raises(LogError, match="pickle: tick 0: the chain does not hold"):
        pickle.loads(damaged)


def test_logs_and_states_are_equal_by_their_contents() -> None:
    log = EventLog([Delta(0, Op.INSERT, FACT)])
    equal = EventLog([Delta(0, Op.INSERT, FACT)])
    assert log == equal
    assert log != EventLog()
    assert log != [*log]
    assert fork(log, 1) == log, "a fork with no change"
    assert log.state() == equal.head
    assert log.state() != set(log.state())
    for value in (log, log.state()):
        with pytest.raises(TypeError, match="unhashable"):
            hash(value)


def test_the_small_verbs_append_python_values(tmp_path: Path) -> None:
    with EventLog.open(tmp_path / "log.rdfp") as log:
        log.insert(V.ann, V.age, 7, tick=3)
        assert log.insert(V.ann, V.age, 8).tick == 3, "the last tick unless given"
        assert log.retract(V.ann, V.age, 7, tick=4) == log[-1]
        with pytest.raises(ParameterError, match="subject"):
            log.insert("ann", V.age, 7)
        with pytest.raises(LogError, match="before tick 4"):
            log.insert(V.ann, V.age, 9, tick=3)
    read = EventLog.read(tmp_path / "log.rdfp")
    assert read == log
    assert [int(o.value) for _, _, o in read.state()] == [8]  # pyright: ignore
    insert(read, V.bo, V.age, 9)
    assert len(read) == 4, "the functions are the same verbs"


class Interrupted(EventLog):
    """A log that lets another thread try to append between the reading of its last tick and the append."""

    meanwhile: threading.Thread | None = None

    @property
    def last_tick(self) -> int:
        tick = super().last_tick
        other, self.meanwhile = self.meanwhile, None
        if other:
            other.start()
            other.join(0.2)
        return tick


def test_an_insert_without_a_tick_is_not_refused_for_another_threads_tick() -> None:
    log = Interrupted()
    other = threading.Thread(target=lambda: log.insert(V.clock, V.struck, 9, tick=9))
    log.meanwhile = other
    assert log.insert(V.ann, V.at, V.cafe).tick == 0
    other.join()
    assert log.ticks == [0, 9]
