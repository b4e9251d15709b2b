"""An agent's memory: rumours in an office, a late correction, and the day as it would have been.

Run it with nothing but the library: `python docs/examples/agent_memory.py`.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

from substrate import EventLog, Namespace, RetractAwareness
from substrate.base.vocabulary import AWARE_OF
from substrate.memory.memory import Memory

OFFICE = Namespace("https://example.org/office#")
NINE = datetime(2026, 3, 2, 9, tzinfo=UTC)


def a_day(log: EventLog) -> Memory:
    """Four colleagues: who is where, and how news spreads."""
    memory = Memory(log)
    memory.observe(OFFICE.ada, OFFICE.at, OFFICE.lab, author=OFFICE.camera, time=NINE)
    memory.believe(OFFICE.ada, OFFICE.merger, source="a letter from the board", author=OFFICE.ada)
    memory.believe(OFFICE.bob, OFFICE.merger, told_by=OFFICE.ada)
    told = memory.believe(OFFICE.cleo, OFFICE.merger, told_by=OFFICE.bob)
    memory.observe(OFFICE.cleo, OFFICE.looksFor, OFFICE.anotherJob, cause=told, author=OFFICE.cleo)
    return memory


def names(terms: Iterable[object]) -> str:
    """The last parts of some IRIs."""
    return " ".join(str(term).strip("<>").replace("#", ":").rsplit(":")[-1] for term in terms)


def main() -> None:
    """Tell the day, ask about it, change it, ask again."""
    with tempfile.TemporaryDirectory() as folder, EventLog.open(Path(folder) / "office.rdfp") as log:
        memory = a_day(log)
        print("knew of the merger:", names(memory.who_knew(OFFICE.merger)))
        print(
            "Cleo heard it by way of:",
            names(link.knower for link in memory.told_by(OFFICE.cleo, OFFICE.merger)),
        )

        # The camera was wrong, and the office learns it only now: recorded late, valid from the start.
        before = log.last_tick
        memory.forget(OFFICE.ada, OFFICE.at, OFFICE.lab, author=OFFICE.janitor)
        memory.observe(OFFICE.ada, OFFICE.at, OFFICE.roof, valid_from=0, author=OFFICE.janitor)
        for tick in (before, log.last_tick):
            places = (place for _, word, place in memory.as_of(tick, about=0) if word == OFFICE.at)
            print(f"held at tick {tick} about tick 0: Ada was at the {names(places)}")

        print("why does Cleo look for a job?")
        for ground in memory.why(OFFICE.cleo, OFFICE.looksFor, OFFICE.anotherJob):
            print(
                f"  tick {ground.tick}: {names(ground.said)}",
                f"(deltas {ground.positions[0]} to {ground.positions[-1]})",
            )

        # What if Bob had forgotten by tick 3? Nobody is asked again: the records that rest on it disappear.
        branch = memory.imagine(3, RetractAwareness(OFFICE.bob, OFFICE.merger, AWARE_OF))
        print("would have known:", names(branch.who_knew(OFFICE.merger)))
        print(
            "would not have held:",
            *(names(triple) for triple in memory.compare(branch).retracted),
            sep="\n  ",
        )


if __name__ == "__main__":
    main()
