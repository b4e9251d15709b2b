"""A foreign simulator as an emitter: an environment of gymnasium, recorded in a log and forked."""

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


class Lake:
    """FrozenLake of gymnasium, without slipping; the state's triples hold the planned actions."""

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
