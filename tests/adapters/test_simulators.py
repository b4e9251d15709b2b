"""Simulators of others as emitters: a Mesa model and a gymnasium environment, forked in a log."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from substrate import EventLog, Namespace, Op, OverrideLocation, Simulation, State
from substrate.base.terms import triple, value
from substrate.branch import arms
from substrate.log import insert, record
from substrate.log.event_log import Triple

W = Namespace("https://example.org/world#")
pytestmark = pytest.mark.filterwarnings("ignore")


def moved(state: dict[Any, int], new: dict[Any, int]) -> Iterator[tuple[Op, Triple]]:
    for who in sorted(new, key=str):
        if state[who] != new[who]:
            yield Op.RETRACT, triple(who, W.at, state[who])
            yield Op.INSERT, triple(who, W.at, new[who])


class Walkers:
    """A Mesa model: walkers on a ring go left or right by chance, and never onto another.

    Chance is drawn anew from each tick, so that nothing but the state and the tick decides.
    """

    def start(self, state: State, tick: int) -> None:
        import mesa  # pyright: ignore[reportMissingImports]

        self.model = mesa.Model(seed=0)
        for who, _, place in sorted(state.match(None, W.at), key=lambda t: str(t[0])):
            walker = mesa.Agent(self.model)
            walker.name, walker.place = who, value(place)

    def step(self, tick: int) -> Iterator[tuple[Op, Triple]]:
        agents = sorted(self.model.agents, key=lambda agent: str(agent.name))
        before = {agent.name: agent.place for agent in agents}
        self.model.random.seed(tick)
        for agent in agents:
            there = (agent.place + self.model.random.choice((-1, 1))) % 12
            if there not in {other.place for other in agents}:
                agent.place = there
        return moved(before, {agent.name: agent.place for agent in agents})


class Lake:
    """A gymnasium environment, FrozenLake without slipping; the plan stands in the state."""

    def start(self, state: State, tick: int) -> None:
        import gymnasium  # pyright: ignore[reportMissingImports]

        self.env = gymnasium.make("FrozenLake-v1", is_slippery=False)
        self.env.reset(seed=0)
        ((_, _, place),) = state.match(W.agent, W.at)
        self.env.unwrapped.s = self.place = value(place)
        self.plan = {
            int(p.value.rpartition("planAt")[2]): value(o)
            for _, p, o in state.match(W.agent)
            if "planAt" in p.value
        }

    def step(self, tick: int) -> Iterator[tuple[Op, Triple]]:
        if tick not in self.plan:
            return
        before = self.place
        self.place, reward, *_ = self.env.step(self.plan[tick])
        self.place = int(self.place)
        yield from moved({W.agent: before}, {W.agent: self.place})
        if reward:
            yield Op.INSERT, triple(W.agent, W.reached, W.goal)


def places(log: EventLog, tick: int) -> dict[str, Any]:
    return {str(who): value(place) for who, _, place in log.state(tick).match(None, W.at)}


def test_a_mesa_model_is_recorded_and_forked() -> None:
    pytest.importorskip("mesa")
    log = EventLog()
    for number in range(4):
        insert(log, W[f"walker{number}"], W.at, 3 * number, tick=0)
    record(log, Walkers(), range(1, 9))
    same, other = arms(
        log, 4, OverrideLocation(W.walker0, triple(W.a, W.b, 20)[2], W.at), Simulation(Walkers())
    )
    assert same.digest == log.digest, "the model says again what it said"
    assert len(set(places(log, 8).values())) == 4
    assert places(other, 3) == places(log, 3)
    assert places(other, 8) != places(log, 8)
    again = arms(log, 4, OverrideLocation(W.walker0, triple(W.a, W.b, 20)[2], W.at), Simulation(Walkers()))[1]
    assert again.digest == other.digest


def test_a_gymnasium_environment_is_recorded_and_forked() -> None:
    pytest.importorskip("gymnasium")
    log = EventLog()
    insert(log, W.agent, W.at, 0, tick=0)
    down, right = 1, 2
    for tick, action in enumerate((down, down, right, down, right, right), start=1):
        insert(log, W.agent, W[f"planAt{tick}"], action, tick=0)
    record(log, Lake(), range(1, 7))
    assert places(log, 6) == {str(W.agent): 15}
    assert (W.agent, W.reached, W.goal) in log.state(6)
    pushed = OverrideLocation(W.agent, triple(W.a, W.b, 4)[2], W.at)
    same, other = arms(log, 3, pushed, Simulation(Lake(), until=6))
    assert same.digest == log.digest
    assert places(other, 6) == {str(W.agent): 5}, "the same plan leads into a hole"
    assert (W.agent, W.reached, W.goal) not in other.state(6)
