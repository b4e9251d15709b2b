"""The kernel's accounts of a run's processes: this one, Spark's JVM and Spark's Python workers.

A program that starts the run itself needs only processor seconds (:func:`spent`). Peaks of memory must be
read while the processes live, so :func:`watched` looks at a run in another process again and again.
"""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import psutil

KINDS = ("driver", "jvm", "worker")
EVERY = 0.25
"""Seconds between two readings of the processes."""
TICKS = os.sysconf("SC_CLK_TCK")


class Process(NamedTuple):
    """The kernel's account of a process: one of :data:`KINDS` or "other", its peak in MiB, its seconds."""

    kind: str
    peak: float
    cpu: float


def spent(work: Callable[[], object]) -> dict[str, float]:
    """The processor seconds that some work takes, by kind of process."""
    before = _seconds()
    work()
    return {kind: seconds - before[kind] for kind, seconds in _seconds().items()}


def _seconds() -> dict[str, float]:
    """Processor seconds so far of this process, of the JVM, and of Python's workers, also of ended ones."""
    seconds = {"driver": time.process_time(), "jvm": 0.0, "worker": 0.0}
    for child in psutil.Process().children(recursive=True):
        try:
            times, kind = child.cpu_times(), "jvm" if child.name() == "java" else "worker"
            seconds[kind] += times.user + times.system
            if kind == "worker":  # the workers that ended, which the daemon waited for
                seconds[kind] += times.children_user + times.children_system
        except psutil.NoSuchProcess:
            pass
    return seconds


def watched(running: subprocess.Popen[bytes]) -> list[Process]:
    """Wait for the end of a driver; give the last account of it and of each process below it."""
    seen: dict[int, Process] = {}
    while running.poll() is None:
        try:
            for pid in _descendants(running.pid):
                now, before = _look(pid, running.pid), seen.get(pid)
                # A process that has just ended has no peak any more: keep the one before.
                seen[pid] = before._replace(cpu=now.cpu) if before and not now.peak else now
        except (FileNotFoundError, ProcessLookupError, KeyError):
            pass  # one of them has just ended
        time.sleep(EVERY)
    return [*seen.values()]


def peak(processes: list[Process], kind: str) -> float:
    """The highest peak of the processes of a kind, in MiB."""
    return max((process.peak for process in processes if process.kind == kind), default=0.0)


def _descendants(pid: int) -> Iterator[int]:
    """A process and all below it."""
    yield pid
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in task.read_text().split():
            yield from _descendants(int(child))


def _look(pid: int, driver: int) -> Process:
    """The account of a process now; ``driver`` is the number of the process that runs the stages."""
    folder = Path(f"/proc/{pid}")
    status = dict(line.split(":", 1) for line in (folder / "status").read_text().splitlines())
    stat = (folder / "stat").read_text().rpartition(")")[2].split()
    name = status["Name"].strip()
    kind = "driver" if pid == driver else "jvm" if name == "java" else "worker"
    if kind == "worker" and b"pyspark" not in (folder / "cmdline").read_bytes():
        kind = "other"
    highest = int(status.get("VmHWM", "0 kB").split()[0]) / 1024
    return Process(kind, highest, (int(stat[11]) + int(stat[12])) / TICKS)
