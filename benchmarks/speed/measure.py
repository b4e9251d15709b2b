"""Measure paired runs: processor time, medians, the exponent over sizes, and peak memory."""

from __future__ import annotations

import ctypes
import gc
import math
import os
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, median
from typing import Literal, NamedTuple, TypeVar

import msgspec

T = TypeVar("T")

ROUNDS = 5
_ENOUGH = 0.02
"""The least seconds of one timing; quicker work is repeated."""

_CLOCKS = {"cpu": time.process_time, "wall": time.perf_counter}
Work = Callable[[], object]


class Pair(NamedTuple):
    """A work to time and its peer, both ready to run again and again."""

    work: Work
    peer: Work


@dataclass(frozen=True)
class Bench:
    """A row of the table.

    Attributes:
        work: the measured work, in words.
        peer: the peer that it is compared with, in words.
        goal: the highest ratio aimed at; ``None`` if none is set.
        sizes: sizes of the input: deltas, events or scenes.
        prepare: makes the work and its peer ready for a size.
        clock: processor time, wall time if the work waits for the disk, or a clock that counts the seconds of
            child processes.
        asked: whether it takes minutes, and so is measured once and only by name.
    """

    work: str
    peer: str
    goal: float | None
    sizes: tuple[int, ...]
    prepare: Callable[[int], AbstractContextManager[Pair]]
    clock: Literal["cpu", "wall"] | Callable[[], float] = "cpu"
    asked: bool = False


class Figure(msgspec.Struct, frozen=True):
    """A measurement.

    Attributes:
        bench: the bench's name.
        work: the measured work, in words.
        peer: the peer, in words.
        size: the size of the input.
        work_ms: median of the work, in milliseconds.
        peer_ms: median of the peer, in milliseconds.
        ratio: median of the ratios of successive runs of work and peer.
        goal: the highest ratio aimed at.
        peak_mib: memory of the work's first run in addition to its input; ``None`` if the system does not
            show it.
        exponent: the power of the size with which the work grows, by least squares; ``None`` for one size.
    """

    bench: str
    work: str
    peer: str
    size: int
    work_ms: float
    peer_ms: float
    ratio: float
    goal: float | None
    peak_mib: float | None
    exponent: float | None

    def __str__(self) -> str:
        goal = "" if self.goal is None else f" (goal {self.goal:g})"
        peak = "" if self.peak_mib is None else f", {self.peak_mib:.1f} MiB"
        grows = "" if self.exponent is None else f", exponent {self.exponent:.2f}"
        sides = f"{self.work} {self.work_ms:.3f} ms, {self.peer} {self.peer_ms:.3f} ms"
        return f"{self.bench} at {self.size}: {self.ratio:.3f} x{goal}; {sides}{peak}{grows}"


def measure(name: str, bench: Bench, sizes: Sequence[int] = ()) -> list[Figure]:
    """Run a bench at its sizes, or at others."""
    figures: list[Figure] = []
    for size in sizes or bench.sizes:
        with bench.prepare(size) as pair, _alone():
            clock = _CLOCKS[bench.clock] if isinstance(bench.clock, str) else bench.clock
            if bench.asked:
                peak, times = None, [(_timed(pair.work, 1, clock), _timed(pair.peer, 1, clock))]
            else:
                peak, times = _peak(pair.work), _paired(pair, clock)
        work, peer = (median(side) * 1000 for side in zip(*times, strict=True))
        ratio = median(a / b for a, b in times)
        figures.append(Figure(name, bench.work, bench.peer, size, work, peer, ratio, bench.goal, peak, None))
    exponent = _exponent([(figure.size, figure.work_ms) for figure in figures])
    return [msgspec.structs.replace(figure, exponent=exponent) for figure in figures]


@contextmanager
def _alone() -> Iterator[None]:
    """Keep the garbage collector from objects that existed before, as they would slow each collection."""
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


def _paired(pair: Pair, clock: Callable[[], float]) -> list[tuple[float, float]]:
    """Seconds of the work and of its peer, run in turn."""
    loops = [_loops(side, clock) for side in pair]
    times: list[tuple[float, float]] = []
    for _ in range(ROUNDS):
        gc.collect()
        work, peer = (_timed(side, n, clock) for side, n in zip(pair, loops, strict=True))
        times.append((work, peer))
    return times


def _loops(work: Work, clock: Callable[[], float]) -> int:
    return max(1, math.ceil(_ENOUGH / max(_timed(work, 1, clock), 1e-6)))


def _timed(work: Work, loops: int, clock: Callable[[], float]) -> float:
    start = clock()
    for _ in range(loops):
        work()
    return max((clock() - start) / loops, 1e-9)


def _exponent(points: Sequence[tuple[int, float]]) -> float | None:
    if len(points) < 2:
        return None
    xs, ys = ([math.log(value) for value in side] for side in zip(*points, strict=True))
    x, y = fmean(xs), fmean(ys)
    return sum((a - x) * (b - y) for a, b in zip(xs, ys, strict=True)) / sum((a - x) ** 2 for a in xs)


def _peak(work: Work) -> float | None:
    """MiB that a first run takes at its highest, measured in a process of its own (Linux)."""
    reset = Path("/proc/self/clear_refs")
    if not reset.exists():
        return None
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        text = ""
        try:
            gc.collect()
            # Memory that was used before and is free now would hide what the work takes
            ctypes.CDLL(None).malloc_trim(0)
            reset.write_text("5")
            before = _status("VmRSS")
            result = work()
            text = str(_status("VmHWM") - before)
            del result
        finally:
            os.write(write, text.encode())
            os._exit(0)
    os.close(write)
    with os.fdopen(read) as pipe:
        text = pipe.read()
    os.waitpid(child, 0)
    return max(0, int(text)) / 1024 if text else None


def _status(key: str) -> int:
    """A figure of this process's memory in KiB."""
    lines = Path("/proc/self/status").read_text("ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(key))


_of_children = [0.0]
"""Processor time that children have taken for their work."""


def in_a_child(prepare: Callable[[], T], work: Callable[[T], object]) -> None:
    """Prepare and do some work in a child process; only the work counts for :func:`time_of_children`."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            prepared = prepare()
            start = time.process_time()
            work(prepared)
            os.write(write, str(time.process_time() - start).encode())
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(0)
    os.close(write)
    with os.fdopen(read) as pipe:
        _of_children[0] += float(pipe.read())
    os.waitpid(child, 0)


def time_of_children() -> float:
    """The seconds of processor time that :func:`in_a_child` took so far."""
    return _of_children[0]
