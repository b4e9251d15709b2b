"""The specifications of Twin-EventLog that an evaluation asks about: a fair sample, not the first ones."""

from __future__ import annotations

from collections.abc import Iterator

from substrate.baselines.model import spread
from substrate.generators.smallville import cell_of, generate
from substrate.generators.smallville.sampling import Graded

WHOLE = 500
"""The benchmark's number of specifications."""


def sampled(count: int, seed: int) -> Iterator[Graded]:
    """A sample of specifications with their gold, in which each linkage and each gold has its share.

    With one seed a smaller sample is the beginning of a larger one; the platform's baselines ask the same.

    Args:
        count: the number of specifications, drawn from :data:`WHOLE`, or from ``count`` if that is more.
        seed: the seed that generates the specifications and chooses among them.

    >>> [(spec.spec, spec.linkage, spec.gold.a) for spec in sampled(2, 20)]
    [(216, 'control', 'yes'), (171, 'control', 'no')]
    """
    cells = {number: cell_of(number) for number in range(max(count, WHOLE))}
    order = spread({number: (linkage, gold) for number, (linkage, _, gold) in cells.items()}, seed)
    for number in order[:count]:
        yield generate(number, seed)
