"""Work in a child process: its processor time, or the memory that it takes."""

from __future__ import annotations

import ctypes
import gc
import os
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")


class ChildClock:
    """A clock that counts the processor time that children take for their work, and nothing else."""

    def __init__(self) -> None:
        self._seconds = 0.0

    def __call__(self) -> float:
        """The seconds so far."""
        return self._seconds

    def run(self, prepare: Callable[[], T], work: Callable[[T], object]) -> None:
        """Prepare and do some work in a child process; only the work counts."""

        def timed() -> float:
            prepared = prepare()
            start = time.process_time()
            work(prepared)
            return time.process_time() - start

        seconds = _number_from_child(timed)
        if seconds is None:
            raise RuntimeError("the work failed in its child process; its stack is above")
        self._seconds += seconds


CHILDREN = ChildClock()
"""The clock of all benches whose work must be the first of a process."""


def peak_mib(work: Callable[[], object]) -> float | None:
    """MiB that a first run takes at its highest, in addition to its input (Linux; else ``None``)."""
    reset = Path("/proc/self/clear_refs")
    if not reset.exists():
        return None

    def highest() -> float:
        gc.collect()
        # Memory that was used before and is free now would hide what the work takes
        ctypes.CDLL(None).malloc_trim(0)
        reset.write_text("5")
        before = _status("VmRSS")
        result = work()
        taken = _status("VmHWM") - before
        del result  # kept until here: what the work gives counts
        return max(0, taken) / 1024

    return _number_from_child(highest)


def _number_from_child(work: Callable[[], float]) -> float | None:
    """The number that some work gives in a child process; ``None``, with a stack, if it fails."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(write, str(work()).encode())
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(0)
    os.close(write)
    with os.fdopen(read) as pipe:
        text = pipe.read()
    os.waitpid(child, 0)
    return float(text) if text else None


def _status(key: str) -> int:
    """A figure of this process's memory in KiB."""
    lines = Path("/proc/self/status").read_text("ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(key))
