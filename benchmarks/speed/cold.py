"""The first question that a log is asked after it was read, each time in a process of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial

from benchmarks.speed.children import CHILDREN
from benchmarks.speed.measure import Bench, Pair, scratch_folder
from benchmarks.speed.workloads import IS_SOMEWHERE, village_log
from substrate import EventLog

_BEGINS = "<urn:village:agent1> <urn:village:at> "
_SIZES = (1_000, 10_000, 100_000, 1_000_000)


def _first(question: Callable[[EventLog], object]) -> Callable[[int], AbstractContextManager[Pair]]:
    """A first question to a log that was just read, beside reading each line of such a log."""

    @contextmanager
    def prepare(size: int) -> Iterator[Pair]:
        with scratch_folder() as folder:
            path = folder / "log.rdfp"
            village_log(size).save(path)
            read = partial(EventLog.read, path)
            # A child reads the log and then answers; CHILDREN, which is also the clock, times only the answer
            yield Pair(lambda: CHILDREN.run(read, question), lambda: CHILDREN.run(read, _looked_through))

    return prepare


def _looked_through(log: EventLog) -> list[str]:
    """The lines about an agent's place."""
    return [line for _, lines in log.lines() for line in lines if line[2:].startswith(_BEGINS)]


def _bench(work: str, question: Callable[[EventLog], object]) -> Bench:
    return Bench(work, "every line looked at", _SIZES, _first(question), clock=CHILDREN)


COLD = {
    "cold-as-of": _bench(
        "first question of a tick", lambda log: bool(log.state(log.last_tick * 2 // 3).query(IS_SOMEWHERE))
    ),
    "cold-head": _bench("first question of the head", lambda log: bool(log.head.query(IS_SOMEWHERE))),
    "cold-history": _bench("first history of a triple", lambda log: log.history(log[len(log) // 2].triple)),
}
"""Benches of a fresh log by name: the goal is 20 ms at 10^5 deltas, and 150 ms at 10^6."""
