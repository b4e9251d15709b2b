"""The leak test: `python tests/support/leaks.py --minutes 60`.

A log, a memory and the tools of MCP are used over and over, each time from an empty file; so the objects,
files, threads and memory of the process must not grow with the number of uses. The slope of the resident
memory over operations is that of the second half.
"""

from __future__ import annotations

import argparse
import gc
import os
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from statistics import linear_regression
from typing import NamedTuple

from substrate import EventLog, Memory, Namespace
from substrate.adapters.memory_tools import Desk

OPERATIONS = 40
V = Namespace("urn:v:")


def log(path: Path) -> None:
    """Append, look back, ask, branch off and read again."""
    with EventLog.open(path) as opened:
        for tick in range(OPERATIONS):
            opened.extend_lines([(tick, f"A <urn:s{tick % 7}> <urn:p> <urn:o{tick}> .")])
            assert opened.state(tick // 2).query("ASK { ?s ?p ?o }")
    assert len(EventLog.read(path)) == OPERATIONS


def memory(path: Path) -> None:
    """Observe, believe, look at the past, and forget."""
    with EventLog.open(path) as opened:
        remembered = Memory(opened)
        for number in range(OPERATIONS // 4):
            remembered.observe(V.ann, V.at, V[f"place{number}"], author=V.bo)
            remembered.believe(V.bo, V[f"fact{number}"], author=V.bo)
            assert remembered.as_of(0).query("ASK { ?s ?p ?o }")
            remembered.forget(V.ann, V.at, V[f"place{number}"])


def tools(path: Path) -> None:
    """Call the tools that MCP has."""
    desk = Desk(path, write=True)
    try:
        for number in range(OPERATIONS // 2):
            desk.call("remember", {"subject": "ann", "predicate": "likes", "object": f"tea {number}"})
            desk.call("recall", {"subject": "ann"})
    finally:
        desk.close()


SUBJECTS: dict[str, Callable[[Path], None]] = {"log": log, "memory": memory, "tools": tools}


class Held(NamedTuple):
    """The things that a process holds: objects, open files, threads, and bytes of resident memory."""

    objects: int
    files: int
    threads: int
    resident: int


def count_held() -> Held:
    """Count what this process holds."""
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text("ascii").split()[1])
    files = len(os.listdir("/proc/self/fd"))
    return Held(len(gc.get_objects()), files, threading.active_count(), pages * os.sysconf("SC_PAGE_SIZE"))


def main() -> None:
    """Use each for its share of the time, and print what grew."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=60.0)
    given = parser.parse_args()
    for name, use in SUBJECTS.items():
        end, times, points = time.monotonic() + 20 * given.minutes, 0, list[tuple[float, float]]()
        first: Held | None = None
        with tempfile.TemporaryDirectory() as folder:
            while time.monotonic() < end:
                path = Path(folder) / f"{times}.rdfp"
                use(path)
                path.unlink()
                times += 1
                if times % 10 == 0:
                    now = count_held()
                    first = first or now
                    points.append((times * OPERATIONS, now.resident))
        now, later = count_held(), points[len(points) // 2 :]
        first = first or now
        slope = linear_regression(*zip(*later, strict=True)).slope if len(later) > 1 else 0.0
        sys.stdout.write(
            f"{name}: {times * OPERATIONS:,} operations, {slope:+.2f} bytes of memory an operation, "
            f"{now.objects - first.objects:+} objects, {now.files - first.files:+} files, "
            f"{now.threads - first.threads:+} threads; {now.resident / 2**20:.0f} MiB\n"
        )
        sys.stdout.flush()


if __name__ == "__main__":
    main()
