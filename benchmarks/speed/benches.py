"""``substrate bench``: every bench by name, run one after the other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from benchmarks.speed.branches import WORLDS
from benchmarks.speed.clevrer import CLEVRER
from benchmarks.speed.cold import COLD
from benchmarks.speed.core import CORE
from benchmarks.speed.measure import Bench, Figure, measure
from benchmarks.speed.memory import MEMORY
from benchmarks.speed.plain import PLAIN
from benchmarks.speed.sample import SAMPLE
from benchmarks.speed.twin import TWIN

BENCHES: dict[str, Bench] = {**CORE, **COLD, **MEMORY, **WORLDS, **TWIN, **CLEVRER, **PLAIN, **SAMPLE}
"""Benches by name."""


def run(names: Sequence[str], sizes: Sequence[int] = ()) -> Iterator[Figure]:
    """The figures of some benches, each as soon as its bench is done.

    Args:
        names: the benches' names; without names, all except benches that run only by name.
        sizes: the sizes of the inputs; by default each bench's own.
    """
    for name in names or [name for name, bench in BENCHES.items() if not bench.takes_minutes]:
        yield from measure(name, BENCHES[name], sizes)
