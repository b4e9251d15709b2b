"""A simulator forked: an epidemic in a log, and the same epidemic with one person kept at home.

Run it with nothing but the library: `python docs/examples/simulator_forked.py`. A simulator starts from a
state and yields the changes of each tick; `tests/adapters/test_simulators.py` does the same with a gymnasium
environment.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from substrate import Assert, EventLog, Namespace, Op, Simulation, State
from substrate.branch import arms, twin
from substrate.log import insert, record
from substrate.log.event_log import Triple

TOWN = Namespace("https://example.org/town#")
PEOPLE = ("ann", "bo", "cy", "dee", "eve", "flo")


class Epidemic:
    """An ill person infects a neighbour the day after, unless one of the two stays at home."""

    def start(self, state: State, tick: int) -> None:
        """Read who is ill and who stays at home."""
        self.ill = {who for who, _, _ in state.match(None, TOWN.has, TOWN.flu)}
        self.home = {who for who, _, _ in state.match(None, TOWN.staysAt, TOWN.home)}

    def step(self, tick: int) -> Iterator[tuple[Op, Triple]]:
        """A day: new infections along the street."""
        street = [TOWN[name] for name in PEOPLE]
        pairs = [*pairwise(street), *pairwise(reversed(street))]
        caught = {b for a, b in pairs if a in self.ill and b not in self.ill and not self.home & {a, b}}
        self.ill |= caught
        for who in sorted(caught, key=str):
            yield Op.INSERT, (who, TOWN.has, TOWN.flu)


def ill(log: EventLog, tick: int) -> list[str]:
    """The people who are ill at a tick."""
    return sorted(
        str(who).rpartition("#")[2].rstrip(">") for who, _, _ in log.state(tick).match(None, TOWN.has)
    )


def main() -> None:
    """Record the epidemic, then fork it with one person at home."""
    log = EventLog()
    insert(log, TOWN.bo, TOWN.has, TOWN.flu, tick=0)
    record(log, Epidemic(), range(1, 6))
    for day in log.ticks:
        print(f"day {day}: {' '.join(ill(log, day))}")

    stay = Assert((TOWN.dee, TOWN.staysAt, TOWN.home))
    as_it_was, with_dee_at_home = arms(log, 2, stay, Simulation(Epidemic()))
    print("the simulator says again what it said:", as_it_was.digest == log.digest)
    print("with Dee at home:", " ".join(ill(with_dee_at_home, 5)))
    for tick in twin(as_it_was, with_dee_at_home):
        spared = [str(who).rpartition("#")[2].rstrip(">") for who, _, _ in tick.difference.retracted]
        print(f"  day {tick.tick}: spared so far: {' '.join(spared) or 'nobody'}")


if __name__ == "__main__":
    main()
