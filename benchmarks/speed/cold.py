"""The first question that a log is asked after it was read, each time in a process of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.speed.measure import Bench, Pair, in_a_child, time_of_children
from benchmarks.speed.workloads import village_log
from substrate import EventLog

_ASK = "ASK { <urn:village:agent1> <urn:village:at> ?place }"
_BEGINS = "<urn:village:agent1> <urn:village:at> "
_SIZES = (1_000, 10_000, 100_000, 1_000_000)


def _first(question: Callable[[EventLog], object]) -> Callable[[int], AbstractContextManager[Pair]]:
    """A first question to a log that was just read, beside reading each line of such a log."""

    @contextmanager
    def prepare(size: int) -> Iterator[Pair]:
        with TemporaryDirectory(prefix="substrate-bench-") as folder:
            path = Path(folder, "log.rdfp")
            village_log(size).save(path)
            read = partial(EventLog.read, path)
            yield Pair(lambda: in_a_child(read, question), lambda: in_a_child(read, _looked_through))

    return prepare


def _looked_through(log: EventLog) -> list[str]:
    """The lines about an agent's place."""
    return [line for _, lines in log.lines() for line in lines if line[2:].startswith(_BEGINS)]


def _at_two_thirds(log: EventLog) -> int:
    return log.last_tick * 2 // 3


COLD = {
    "cold-as-of": Bench(
        "first question of a tick",
        "every line looked at",
        None,
        _SIZES,
        _first(lambda log: bool(log.state(_at_two_thirds(log)).query(_ASK))),
        time_of_children,
    ),
    "cold-head": Bench(
        "first question of the head",
        "every line looked at",
        None,
        _SIZES,
        _first(lambda log: bool(log.head.query(_ASK))),
        time_of_children,
    ),
    "cold-history": Bench(
        "first history of a triple",
        "every line looked at",
        None,
        _SIZES,
        _first(lambda log: log.history(log[len(log) // 2].triple)),
        time_of_children,
    ),
}
"""Benches of a fresh log by name: the goal is 20 ms at 10^5 deltas, and 150 ms at 10^6."""
