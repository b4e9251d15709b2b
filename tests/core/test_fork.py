"""Interventions, forks, forks of forks, simulators, twins."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from importlib.util import find_spec

import pytest
from logs import box_of, log_of, unfolded
from pyoxigraph import Literal, NamedNode, Triple

from substrate import (
    Assert,
    AssertAwareness,
    Delta,
    EventLog,
    Intervention,
    InterventionError,
    LogError,
    Op,
    OverrideLocation,
    Retract,
    RetractAwareness,
    RuleEmitter,
    Simulation,
    State,
    TBoxError,
    fork,
)
from substrate.base.extras import MissingExtraError
from substrate.base.vocabulary import AWARE_OF, LOCATION, RDF_TYPE
from substrate.branch import arms, twin

needs_pyshacl = pytest.mark.skipif(not find_spec("pyshacl"), reason="needs the extra shacl")
ANN, BO, CAFE, PARK = (NamedNode(f"urn:{name}") for name in ("ann", "bo", "cafe", "park"))
SECRET = Triple(BO, LOCATION, PARK)
COUNT = NamedNode("urn:count")


@pytest.fixture
def log() -> EventLog:
    return EventLog(
        [
            Delta(0, Op.INSERT, (ANN, LOCATION, CAFE)),
            Delta(1, Op.INSERT, (BO, LOCATION, PARK)),
            Delta(2, Op.INSERT, (ANN, AWARE_OF, SECRET)),
            Delta(5, Op.RETRACT, (ANN, LOCATION, CAFE)),
            Delta(5, Op.INSERT, (ANN, LOCATION, PARK)),
        ]
    )


@pytest.mark.parametrize(
    ("intervention", "message"),
    [
        (Assert((ANN, LOCATION, CAFE)), "<urn:ann> <urn:substrate:location> <urn:cafe> holds already"),
        (Retract((ANN, LOCATION, PARK)), "<urn:ann> <urn:substrate:location> <urn:park> does not hold"),
        (OverrideLocation(ANN, CAFE), "is at <urn:cafe> already"),
        (OverrideLocation(CAFE, PARK), "has 0 locations"),
        (AssertAwareness(ANN, SECRET), "is aware of"),
        (RetractAwareness(BO, SECRET), "<urn:bo> is not aware of"),
    ],
)
def test_a_pre_condition_that_does_not_hold_is_named(
    log: EventLog, intervention: Intervention, message: str
) -> None:
    with pytest.raises(InterventionError, match=message) as caught:
        fork(log, 3, intervention)
    assert caught.value.where == ("tick 3",)


@pytest.mark.parametrize("at", [-1, 7])
def test_a_branch_tick_outside_the_log_is_refused(log: EventLog, at: int) -> None:
    with pytest.raises(LogError, match="lies outside"):
        fork(log, at)


def test_a_fork_of_a_fork_names_its_own_parent(log: EventLog) -> None:
    parent = fork(log, 3, RetractAwareness(ANN, SECRET))
    child = fork(parent, 4, AssertAwareness(ANN, SECRET))
    assert (child.parent_digest, child.branch_tick) == (parent.digest, 4)
    assert set(child.state()) == set(log.state())
    assert parent.state(3).nquads() == child.state(3).nquads() != log.state(3).nquads()
    back = fork(child, 3)
    assert back.digest == child.digest


class Counter:
    """A simulator: a tick adds one to what the state counts."""

    def start(self, state: State, tick: int) -> None:
        self.value = max(
            (int(o.value) for _, _, o in state.match(ANN, COUNT) if isinstance(o, Literal)), default=0
        )

    def step(self, tick: int) -> Iterable[tuple[Op, tuple]]:
        self.value += 1
        return [(Op.INSERT, (ANN, COUNT, Literal(self.value)))]


def test_a_simulator_goes_on_from_the_intervened_state(log: EventLog) -> None:
    branch = fork(log, 3, Assert((ANN, COUNT, Literal(40))), Simulation(Counter()))
    counted = [d.triple[2] for d in branch if d.triple[1] == COUNT]
    assert counted == [Literal(value) for value in (40, 41, 42, 43)]
    assert branch.last_tick == log.last_tick
    assert not [d for d in branch if d.tick >= 3 and d.triple[1] == LOCATION], (
        "what was observed is not replayed beside a simulator"
    )


def test_an_emitter_that_goes_back_in_time_is_refused(log: EventLog) -> None:
    class Late:
        def emit(self, branch: EventLog, parent: EventLog, at: int) -> Iterable[Delta]:
            return [Delta(at - 1, Op.INSERT, (ANN, COUNT, Literal(1)))]

    with pytest.raises(LogError, match="before the branch tick 4"):
        fork(log, 4, emitter=Late())


def test_two_arms_are_replayed_side_by_side(log: EventLog) -> None:
    a, b = arms(log, 3, OverrideLocation(ANN, PARK))
    ticks = list(twin(a, b))
    assert [t.tick for t in ticks] == [3, 5]
    for step in ticks:
        assert set(step.difference.inserted) == set(b.state(step.tick)) - set(a.state(step.tick))
        assert set(step.difference.retracted) == set(a.state(step.tick)) - set(b.state(step.tick))
        assert [*step.a] == [d for d in a if d.tick == step.tick]
        assert [*step.b] == [d for d in b if d.tick == step.tick]
    assert ticks[0].difference
    assert not ticks[1].difference, "the arms meet again when Ann goes to the park"
    assert [t.tick for t in twin(a, b, start=0)] == [0, 1, 2, 3, 5]
    assert not list(twin(a, a))


def test_an_observed_move_does_not_move_an_agent_that_was_put_elsewhere(log: EventLog) -> None:
    home = NamedNode("urn:home")
    branch = fork(log, 3, OverrideLocation(ANN, home))
    assert [place for _, _, place in branch.state().match(ANN, LOCATION)] == [home]
    assert branch.withheld == (Delta(5, Op.INSERT, (ANN, LOCATION, PARK)),)


@pytest.mark.parametrize("name", ["village", "clinical"])
def test_a_fork_by_rules_at_tick_0_keeps_the_world(name: str) -> None:
    tbox, log = unfolded(name, until=8)
    for whole in (log, EventLog.from_patch(log.to_patch())):
        assert fork(whole, 0, emitter=RuleEmitter(tbox)).digest == log.digest
    without_opening = EventLog(log)  # the same deltas, but none of them counts as the TBox's own
    assert set(fork(without_opening, 0, emitter=RuleEmitter(tbox)).state()) == set(log.state())


VILLAGE, V, E = "village", "urn:substrate:village:", "urn:village:"


@pytest.mark.parametrize(
    ("agent", "predicate", "object_", "why"),
    [
        ("klaus", "at", "nowhere", "is at more than one place, or at what is no place"),
        ("nobody", "knows", "party", "<urn:village:nobody> is no person"),
        ("sam", "knows", "cafe", "knows what is no fact"),
    ],
)
def test_a_branch_is_checked_against_its_tbox(agent: str, predicate: str, object_: str, why: str) -> None:
    tbox, log = unfolded(VILLAGE, until=8)
    made = Assert((NamedNode(E + agent), NamedNode(V + predicate), NamedNode(E + object_)))
    with pytest.raises(InterventionError, match=why) as caught:
        fork(log, 5, made, RuleEmitter(tbox))
    assert caught.value.where == (VILLAGE, "tick 5")
    assert made.triple in fork(log, 5, made, RuleEmitter(tbox), check=False).state(5)


def test_a_rule_that_breaks_a_shape_is_named_with_tick_and_triple() -> None:
    tbox = box_of("""
        :Shape a sh:NodeShape ; sh:targetClass :Walker ; sh:property [ sh:path :at ; sh:maxCount 1 ] .
        :split a sh:SPARQLRule ; sh:construct "CONSTRUCT { ?a :at :b } WHERE { ?a :splits $tick }" .""")
    log = EventLog()
    walker, at, splits = (NamedNode(f"urn:t:{name}") for name in ("w", "at", "splits"))
    log.insert(walker, RDF_TYPE, NamedNode("urn:t:Walker"))
    log.insert(walker, at, NamedNode("urn:t:a"))
    log.insert(walker, splits, 4)
    log.insert(walker, NamedNode("urn:t:seen"), True, tick=6)
    with pytest.raises(TBoxError, match=r"<urn:t:w> <urn:t:at> <urn:t:a>, <urn:t:b>: .*Shape") as caught:
        fork(log, 2, emitter=RuleEmitter(tbox))
    assert caught.value.where == ("t", "tick 4")
    assert len(fork(log, 2, emitter=RuleEmitter(tbox), check=False).state(4)) == 4


@pytest.mark.parametrize("installed", [pytest.param(True, marks=needs_pyshacl), False])
def test_pyshacl_checks_what_the_fast_check_cannot(installed: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    fast = ":Fast sh:targetClass :Walker ; sh:property [ sh:path :at ; sh:maxCount 1 ] ."
    slow = ":Slow sh:targetSubjectsOf :in ; sh:property [ sh:path :in ; sh:maxCount 1 ] ."
    tbox = box_of(fast + slow, "urn:")
    log, at, within = EventLog(), NamedNode("urn:at"), NamedNode("urn:in")
    log.insert(ANN, RDF_TYPE, NamedNode("urn:Walker"), tick=0)
    for fact in [(ANN, at, CAFE), (BO, within, CAFE), (BO, within, PARK)]:
        log.insert(*fact, tick=0)
    if not installed:
        monkeypatch.setitem(sys.modules, "pyshacl", None)
    with pytest.raises(InterventionError, match=r"<urn:cafe>, <urn:park>: .*shape <urn:Fast>"):
        fork(log, 1, Assert((ANN, at, PARK)), RuleEmitter(tbox))
    steps = [Assert((ANN, within, place)) for place in (CAFE, PARK)]
    error = InterventionError if installed else MissingExtraError
    with pytest.raises(error, match="urn:ann.*Slow" if installed else "can check <urn:Slow>") as caught:
        fork(log, 1, None, RuleEmitter(tbox), interventions=steps)
    assert "urn:bo" not in str(caught.value), "a violation from before the fork is not the fork's"
    assert len(fork(log, 1, None, RuleEmitter(tbox), interventions=steps, check=False)) == len(log) + 2
    if installed:
        assert len(fork(log, 1, steps[0], RuleEmitter(tbox))) == len(log) + 1


def test_a_file_proves_the_deltas_that_open_its_log() -> None:
    log = log_of((0, f"A <urn:t:{name}> <urn:t:in> <urn:t:x> .") for name in "abc")
    log.opening = 2
    text = log.to_patch()
    assert (EventLog.from_patch(text).opening, EventLog.from_patch(text)) == (2, log)
    for wrong in (text.replace('"2 sha', '"1 sha'), 'H opening "1 sha256:" .\nTX .\nTC .'):
        with pytest.raises(LogError, match="its opening deltas"):
            EventLog.from_patch(wrong)
