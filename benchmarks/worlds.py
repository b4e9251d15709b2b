"""The time of a branch, from its fork to the answer of a question, and the memory that it keeps.

python benchmarks/worlds.py [DELTAS …]
"""

from __future__ import annotations

import gc
import sys
import time
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import NamedTuple

from benchmarks.speed.branches import QUERIES, Several
from benchmarks.speed.workloads import branch_tick, village_log
from substrate import fork

BRANCHES = (1, 100, 10_000)
# Triples of a wide change. All branches together change no more triples than the largest number of branches,
# so that a run takes seconds.
WIDE = 100


class Row(NamedTuple):
    """Processor time of a branch in milliseconds, and the KiB that it keeps where there are many."""

    deltas: int
    branches: int
    triples: int
    query: str
    median: float
    p99: float
    kib: float | None


def rows(sizes: Sequence[int], branches: Sequence[int] = BRANCHES) -> Iterator[Row]:
    """A row for each log, number of branches, width of their changes and question."""
    for size in sizes:
        log = village_log(size)
        at = branch_tick(log)
        for number, triples, (name, query) in product(branches, (1, WIDE), QUERIES.items()):
            if triples * number > max(branches):
                continue
            fork(log, at, Several(0, triples)).state().query(query)  # fills the store that is shared
            gc.collect()
            before, forks, times = _resident(), [], list[float]()
            for branch in range(number):
                start = time.process_time()
                forks.append(fork(log, at, Several(branch, triples)))
                for _ in _rows(forks[-1].state().query(query)):
                    pass
                times.append((time.process_time() - start) * 1000)
            times.sort()
            memory = (_resident() - before) / number if number > WIDE else None
            yield Row(size, number, triples, name, times[number // 2], times[number * 99 // 100], memory)


def _rows(result: object) -> Iterator[object]:
    return iter(result) if hasattr(result, "__iter__") else iter(())  # pyright: ignore


def _resident() -> float:
    """KiB of memory that this process has (Linux)."""
    pages = Path("/proc/self/statm").read_text("ascii").split()[1]
    return int(pages) * 4


if __name__ == "__main__":
    say = sys.stdout.write
    say("| deltas | branches | triples | question | median ms | p99 ms | KiB a branch |\n")
    say("|---|---|---|---|---|---|---|\n")
    for row in rows(tuple(map(int, sys.argv[1:])) or (10_000, 100_000, 1_000_000)):
        memory = "" if row.kib is None else f"{row.kib:.1f}"
        cells = (f"{row.deltas:,}", f"{row.branches:,}", row.triples, row.query, f"{row.median:.3f}")
        say(f"| {' | '.join(map(str, cells))} | {row.p99:.3f} | {memory} |\n")
        sys.stdout.flush()
