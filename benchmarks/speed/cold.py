"""The first question that a log is asked after it was read, each time in a process of its own."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.speed.measure import Bench, Pair
from benchmarks.speed.workloads import village_log
from substrate import EventLog

_ASK = "ASK { <urn:village:agent1> <urn:village:at> ?place }"
_BEGINS = "<urn:village:agent1> <urn:village:at> "
_SIZES = (1_000, 10_000, 100_000, 1_000_000)


_seconds = [0.0]
"""Processor time that children have taken for their questions."""


def _in_a_child(path: Path, question: Callable[[EventLog], object]) -> None:
    """Read a log and ask it, in a process that has nothing else."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            log = EventLog.read(path)
            start = time.process_time()
            question(log)
            os.write(write, str(time.process_time() - start).encode())
        finally:
            os._exit(0)
    os.close(write)
    with os.fdopen(read) as pipe:
        _seconds[0] += float(pipe.read())
    os.waitpid(child, 0)


def _clock() -> float:
    return _seconds[0]


def _first(question: Callable[[EventLog], object]) -> Callable[[int], AbstractContextManager[Pair]]:
    """A first question beside a look at each delta's triple, both of a log that was just read."""

    @contextmanager
    def prepare(size: int) -> Iterator[Pair]:
        with TemporaryDirectory(prefix="substrate-bench-") as folder:
            path = Path(folder, "log.rdfp")
            village_log(size).save(path)
            yield Pair(lambda: _in_a_child(path, question), lambda: _in_a_child(path, _looked_through))

    return prepare


def _looked_through(log: EventLog) -> list[str]:
    """The lines that begin as those of an agent's place do."""
    return [line for _, lines in log.lines() for line in lines if line[2:].startswith(_BEGINS)]


def _middle(log: EventLog) -> int:
    return log.last_tick * 2 // 3


COLD = {
    "cold-as-of": Bench(
        "first question of a tick",
        "every line looked at",
        None,
        _SIZES,
        _first(lambda log: bool(log.state(_middle(log)).query(_ASK))),
        _clock,
    ),
    "cold-head": Bench(
        "first question of the head",
        "every line looked at",
        None,
        _SIZES,
        _first(lambda log: bool(log.head.query(_ASK))),
        _clock,
    ),
    "cold-history": Bench(
        "first history of a triple",
        "every line looked at",
        None,
        _SIZES,
        _first(lambda log: log.history(log[len(log) // 2].triple)),
        _clock,
    ),
}
"""Benches of a fresh log by name: the goal is 20 ms at 10^5 deltas, and 150 ms at 10^6."""
