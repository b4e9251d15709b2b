"""``substrate bench``: every bench by name, run one after the other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from orchestration.cli.benches.clevrer import CLEVRER
from orchestration.cli.benches.core import CORE
from orchestration.cli.benches.measure import Bench, Figure, measure

BENCHES: dict[str, Bench] = {**CORE, **CLEVRER}
"""Benches by name."""


def run(names: Sequence[str], sizes: Sequence[int] = ()) -> Iterator[Figure]:
    """The figures of some benches, each as soon as its bench is done.

    Args:
        names: which; all where none is named.
        sizes: how large the inputs are; each bench's own where none is given.
    """
    for name in names or BENCHES:
        yield from measure(name, BENCHES[name], sizes)
