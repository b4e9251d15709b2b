"""States, checkpoints, replays, histories, differences."""

from __future__ import annotations

import random

import pyoxigraph as ox
import pytest
from pyoxigraph import BlankNode, Literal, NamedNode

from substrate import Assert, Delta, EventLog, Op, Replay, TBox, fork, unfold
from substrate.base import Triple
from substrate.log import Interval, _columns, _fitting, _stores, difference, histories
from substrate.log.replay import SPACING

S, P = NamedNode("urn:s"), NamedNode("urn:p")
INTEGER = NamedNode("http://www.w3.org/2001/XMLSchema#integer")


def busy(ticks: int = 6000, width: int = 300, seed: int = 5) -> EventLog:
    chance = random.Random(seed)
    return EventLog(
        Delta(t, Op.INSERT if chance.random() < 0.6 else Op.RETRACT, (S, P, Literal(chance.randrange(width))))
        for t in range(ticks)
    )


def test_two_seeded_20_tick_runs_end_with_equal_triple_counts_and_hashes() -> None:
    """The paper's regression test (section 6), and more: every state's RDFC-1.0 hash."""
    for name in ("village", "clinical"):
        run, again = (unfold(box, box.opening(), until=20) for box in (TBox.load(name), TBox.load(name)))
        assert len(run.state(20)) == len(again.state(20)) > 20
        assert run.state(20).digest == again.state(20).digest
        assert [s.digest for s in run.states()] == [s.digest for s in again.states()]
        assert run.to_patch() == again.to_patch()
        assert run.state(19).digest != run.state(0).digest


def test_states_come_from_the_nearest_checkpoint() -> None:
    log = busy()
    model: set[ox.Quad] = set()
    wanted = {}
    for tick, (op, quad) in enumerate(log.changes()):
        (model.add if op is Op.INSERT else model.discard)(quad)
        wanted[tick] = len(model)
    order = list(range(0, 6000, 97))
    random.Random(1).shuffle(order)
    assert {tick: len(log.state(tick)) for tick in order} == {tick: wanted[tick] for tick in order}
    assert log.checkpoints.nearest(5999) >= 5999 - 2 * SPACING


def test_a_replay_moves_anywhere_and_a_growing_log_is_followed() -> None:
    log = busy(3000)
    replay, chance = Replay(log), random.Random(2)
    for _ in range(60):
        tick = chance.randrange(3000)
        assert replay.seek(tick).nquads() == log.state(tick).nquads()
        assert bool(replay.state.query("ASK { ?s ?p ?o }")) is bool(len(replay.state))
    log.append(Delta(3000, Op.INSERT, (S, P, Literal("new"))))
    assert (S, P, Literal("new")) in replay.seek(3000)


def test_terms_of_one_value_stay_two_triples() -> None:
    plain, padded = (S, P, Literal("1", datatype=INTEGER)), (S, P, Literal("01", datatype=INTEGER))
    log = EventLog(
        [
            Delta(0, Op.INSERT, plain),
            Delta(1, Op.INSERT, padded),
            Delta(2, Op.RETRACT, plain),
            Delta(3, Op.RETRACT, padded),
        ]
    )
    replay = Replay(log)
    for tick, wanted in enumerate([{plain}, {plain, padded}, {padded}, set()]):
        for state in (log.state(tick), replay.seek(tick)):
            assert set(state) == wanted
            assert set(state.match(S)) == wanted
            assert {t for t in (plain, padded) if set(state.match(None, None, t[2]))} == wanted
            assert bool(state.query("ASK { ?s ?p 1 }")) == bool(wanted)


def test_the_hash_of_a_state_does_not_know_blank_node_labels() -> None:
    logs = [EventLog() for _ in range(3)]
    logs[0].extend_lines(
        [
            (0, "A _:a <urn:p> _:b ."),
            (0, 'A _:b <urn:q> "x"@en--ltr .'),
            (0, "A _:a <urn:r> <<( _:b <urn:p> <urn:o> )>> ."),
        ]
    )
    logs[1].extend_lines(
        [
            (0, "A _:z <urn:r> <<( _:y <urn:p> <urn:o> )>> ."),
            (0, 'A _:y <urn:q> "x"@en--ltr .'),
            (0, "A _:z <urn:p> _:y ."),
        ]
    )
    logs[2].extend_lines(
        [
            (0, "A _:a <urn:p> _:b ."),
            (0, 'A _:a <urn:q> "x"@en--ltr .'),
            (0, "A _:a <urn:r> <<( _:b <urn:p> <urn:o> )>> ."),
        ]
    )
    original, relabelled, different = (log.state().digest for log in logs)
    assert original == relabelled != different


def test_the_history_of_a_triple_says_when_and_by_which_deltas() -> None:
    fact, other = (S, P, Literal("a")), (S, P, Literal("b"))
    steps = [
        (1, Op.INSERT, fact),
        (2, Op.INSERT, fact),
        (2, Op.INSERT, other),
        (4, Op.RETRACT, fact),
        (4, Op.INSERT, fact),
        (6, Op.RETRACT, fact),
        (6, Op.RETRACT, fact),
        (9, Op.INSERT, fact),
        (9, Op.RETRACT, fact),
    ]
    log = EventLog(Delta(*step) for step in steps)
    story = log.history(fact)
    assert story.intervals == (Interval(1, 6),)
    assert [change.position for change in story.changes] == [0, 3, 4, 5, 7, 8]
    for tick in range(10):
        assert story.holds(tick) == (fact in log.state(tick))
    assert [h.triple for h in histories(log, S, P)] == [fact, other]
    assert log.history((P, P, P)).intervals == ()


@pytest.mark.parametrize(("a", "b"), [(0, 5999), (5999, 0), (2000, 2100), (7, 7)])
def test_a_difference_leads_from_one_state_to_the_other(a: int, b: int) -> None:
    log = busy()
    changes = log.diff(a, b)
    assert (set(log.state(a)) - set(changes.retracted)) | set(changes.inserted) == set(log.state(b))
    assert set(changes.retracted) <= set(log.state(a))
    assert not set(changes.inserted) & set(log.state(a))
    assert bool(difference(log.state(a), log.state(b))) == bool(changes)


def test_blank_nodes_keep_their_labels() -> None:
    log = EventLog([Delta(0, Op.INSERT, (BlankNode("me"), P, BlankNode("you")))])
    assert EventLog.from_patch(log.to_patch()).state().nquads() == "_:me <urn:p> _:you .\n"


def _by_hand(log: EventLog, tick: int) -> set[Triple]:
    standing: set[Triple] = set()
    for delta in log:
        if delta.tick <= tick:
            (standing.add if delta.op is Op.INSERT else standing.discard)(delta.triple)
    return standing


@pytest.mark.parametrize("seed", range(4))
def test_a_fresh_log_answers_its_first_questions_as_it_does_its_last(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Samples and lines of few deltas, and a store that is far from every tick
    for module, name, value in ((_columns, "_CHUNK", 7), (_fitting, "_STRETCH", 7), (_stores, "_NEAR", 1)):
        monkeypatch.setattr(module, name, value)
    chance = random.Random(seed)
    nodes = [NamedNode(f"urn:{name}") for name in "abcde"]
    log = EventLog(
        Delta(tick, chance.choice(list(Op)), tuple(chance.choices(nodes, k=3)))  # pyright: ignore[reportArgumentType]
        for tick in range(400)
    )
    for turn in range(80):
        if turn == 40:
            log = fork(log, 200, Assert((S, P, Literal("new"))))
        tick = chance.randrange(400)
        standing, (s, p, o) = _by_hand(log, tick), log[chance.randrange(len(log))].triple
        assert ((s, p, o) in log.state(tick)) is ((s, p, o) in standing)
        assert log.history((s, p, o)).holds(tick) is ((s, p, o) in standing)
        for terms in ((s, p, "?x"), ("?x", p, o), (s, "?x", "?y"), ("?x", p, "?y")):
            wanted = {
                t
                for t in standing
                if all(isinstance(a, str) or a == b for a, b in zip(terms, t, strict=True))
            }
            rows = log.state(tick).query(f"SELECT * {{ {' '.join(map(str, terms))} }}")
            assert len(list(rows)) == len(wanted), (turn, terms)  # pyright: ignore[reportArgumentType]
        there, gone = log.diff(tick, 399), _by_hand(log, 399)
        assert (set(there.inserted), set(there.retracted)) == (gone - standing, standing - gone)


def test_a_head_is_the_last_state_before_and_after_its_first_question() -> None:
    log = busy(ticks=400, width=40, seed=1)
    for tick in range(400, 404):
        log.append(Delta(tick, Op.INSERT, (S, P, Literal(f"tick {tick}"))))
        for query in (f"ASK {{ ?s ?p 'tick {tick}' }}", f"ASK {{ {S} {P} 'tick {tick}' }}"):
            assert bool(log.head.query(query)), tick
    assert log.head == log.state()
    assert set(log.head) == _by_hand(log, 403)


def test_a_long_log_tells_of_a_triple_before_its_index_is_made_as_after() -> None:
    log = busy(70_000, 600)
    told: dict[Triple, list[tuple[int, bool]]] = {}
    for position, delta in enumerate(log):
        told.setdefault(delta.triple, []).append((position, delta.op is Op.INSERT))
    for _ in range(2):  # the first few are searched for
        for triple, mentions in list(told.items())[::7]:
            number = log.triples.find(str(ox.Triple(*triple)))
            assert number is not None
            assert log.mentions(number) == [position for position, _ in mentions]
            for tick in (0, 300, 65_535, 69_998):
                before = [insert for position, insert in mentions if position <= tick]
                assert (triple in log.state(tick)) == (before[-1] if before else False)
