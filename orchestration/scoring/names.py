"""The names of numbers and of the figures beside them, read once into their parts.

Files, tables, commands and the UI write a number as `BENCHMARK/SUBSET/METRIC`; a number of a whole benchmark
has no SUBSET. A figure is written as its number and a role: `NUMBER/n`, `NUMBER/SYSTEM`, or for a difference
`NUMBER/minus/OTHER`. A bound or a p of a figure comes last: `NUMBER/SYSTEM/low`.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import cache
from itertools import accumulate
from typing import NamedTuple

# The subset of a number that all rows of its benchmark count for.
MEAN = "mean"
MINUS = "minus/"
# The names of an interval's bounds.
EDGES = ("low", "high")


class NumberName(NamedTuple):
    """The parts of a number's name; a text without a slash is a benchmark's name alone."""

    benchmark: str
    subset: str
    metric: str

    @property
    def inside(self) -> str:
        """The name inside its benchmark: SUBSET/METRIC, or METRIC."""
        return "/".join(filter(None, self[1:]))

    def covers(self, subset: str) -> bool:
        """Tell whether the rows of a subset count for the number."""
        return self.subset in ("", MEAN, subset)


@cache
def name_of(number: str) -> NumberName:
    """Read a number's name.

    >>> name_of("meadow/spring/accuracy")
    NumberName(benchmark='meadow', subset='spring', metric='accuracy')
    >>> name_of("meadow/joint")
    NumberName(benchmark='meadow', subset='', metric='joint')
    """
    benchmark, *subset, metric = number.split("/") if "/" in number else (number, "")
    return NumberName(benchmark, "/".join(subset), metric)


def kind_and_variant(subset: str) -> tuple[str, str]:
    """Split a subset's name into the kind of its questions and the variant of the method that answers them.

    >>> kind_and_variant("spring.global"), kind_and_variant("spring")
    (('spring', 'global'), ('spring', ''))
    """
    kind, _, variant = subset.partition(".")
    return kind, variant


class Role(NamedTuple):
    """The role of a figure beside its number.

    Attributes:
        about: a system, or a count such as ``n``; for a difference, the subtracted system or number; empty
            for the measured accuracy.
        edge: ``low`` or ``high`` for a bound, ``p`` for a p; empty for the figure itself.
        is_difference: true if ``about`` is subtracted from the number.
    """

    about: str
    edge: str = ""
    is_difference: bool = False


def role_of(text: str) -> Role:
    """Read the role of a figure.

    >>> role_of("minus/herd/joint/low")
    Role(about='herd/joint', edge='low', is_difference=True)
    >>> role_of("herd"), role_of("high")
    (Role(about='herd', edge='', is_difference=False), Role(about='', edge='high', is_difference=False))
    """
    figure = text.removeprefix(MINUS)
    about, _, edge = figure.rpartition("/")
    parts = (about, edge) if edge in (*EDGES, "p") else (figure, "")
    return Role(*parts, is_difference=text.startswith(MINUS))


def figure_of(name: str, numbers: Collection[str]) -> tuple[str, Role]:
    """Split a figure's name into its number and its role.

    If it begins with none of ``numbers``, the whole name is returned as a number, with an empty role.

    >>> figure_of("meadow/joint/minus/herd/joint", ["meadow/joint", "herd/joint"])
    ('meadow/joint', Role(about='herd/joint', edge='', is_difference=True))
    """
    # A difference names two numbers, so the shortest name that fits is the first number.
    for number in accumulate(name.split("/")[:-1], "{}/{}".format):
        if number in numbers:
            return number, role_of(name.removeprefix(f"{number}/"))
    return name, Role("")


def benchmarks_of(name: str) -> list[str]:
    """Return the benchmark of a number or figure, or those of both sides of a difference.

    >>> benchmarks_of("meadow/joint"), benchmarks_of("meadow/joint/minus/herd/joint")
    (['meadow'], ['meadow', 'herd'])
    """
    return [name_of(side).benchmark for side in name.split(f"/{MINUS}")]
