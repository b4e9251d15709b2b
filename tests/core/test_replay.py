"""States, checkpoints, replays, histories, differences."""

from __future__ import annotations

import random

import pytest
from pyoxigraph import Literal, NamedNode

from substrate import Assert, Delta, EventLog, Op, fork
from substrate.base import Triple
from substrate.log import Interval, _columns, _fitting, _stores, histories

S, P = NamedNode("urn:s"), NamedNode("urn:p")


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
    # Made small, so that this short log takes the samples, rows and stores of a long one.
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
        difference, last = log.diff(tick, 399), _by_hand(log, 399)
        assert (set(difference.inserted), set(difference.retracted)) == (last - standing, standing - last)
