"""Measure paired runs: processor time, medians, the exponent over sizes, and peak memory."""

from __future__ import annotations

import gc
import math
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from statistics import linear_regression, median
from typing import Literal, NamedTuple

import msgspec

from benchmarks.speed.children import peak_mib

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
        sizes: sizes of the input: deltas, events or scenes.
        prepare: makes the work and its peer ready for a size.
        goal: the highest ratio of the work's time to the peer's that this project aims at; ``None`` if none
            is set. 2 is the price of history, digests and checks that the peer lacks; 1 is "no slower"; more
            than that allows for Python beside compiled code. docs/design/speed.md has each goal beside the
            measured ratio. Nothing fails above a goal.
        clock: processor time, wall time if the work waits for the disk, or a clock that counts the seconds of
            child processes.
        takes_minutes: whether it is measured once, without its memory, and only if it is named.
    """

    work: str
    peer: str
    sizes: tuple[int, ...]
    prepare: Callable[[int], AbstractContextManager[Pair]]
    _: KW_ONLY
    goal: float | None = None
    clock: Literal["cpu", "wall"] | Callable[[], float] = "cpu"
    takes_minutes: bool = False


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
            if bench.takes_minutes:
                peak, times = None, [(_timed(pair.work, 1, clock), _timed(pair.peer, 1, clock))]
            else:
                peak, times = peak_mib(pair.work), _paired(pair, clock)
        work, peer = (median(side) * 1000 for side in zip(*times, strict=True))
        ratio = median(a / b for a, b in times)
        figures.append(Figure(name, bench.work, bench.peer, size, work, peer, ratio, bench.goal, peak, None))
    growth = exponent([(figure.size, figure.work_ms) for figure in figures])
    return [msgspec.structs.replace(figure, exponent=growth) for figure in figures]


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


def exponent(points: Sequence[tuple[float, float]]) -> float | None:
    """The power of the size with which a cost grows: the slope of the logarithms, by least squares.

    Args:
        points: pairs of a size and its cost; of a single one, no exponent is known.

    >>> round(exponent([(1, 3), (10, 30), (100, 300)]), 3)
    1.0
    """
    if len(points) < 2:
        return None
    sizes, costs = ([math.log(value) for value in side] for side in zip(*points, strict=True))
    return linear_regression(sizes, costs).slope


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """A folder for the files of a bench."""
    with tempfile.TemporaryDirectory(prefix="substrate-bench-") as folder:
        yield Path(folder)
