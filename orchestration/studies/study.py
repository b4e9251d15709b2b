"""A study: benchmarks asked again under conditions, and the numbers that come of it.

A condition changes one thing: a setting, the input, how it is computed. Each part of a study asks one
benchmark under all of its conditions, and the rows name the condition as their subset. A curve or a table of
a study is drawn from those rows alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from orchestration.benchmarks.benchmark import NO_SECTION, Case, Interpreted, Section
from orchestration.code import Declared


@dataclass(frozen=True)
class Condition(Declared):
    """A way in which a case is changed before it is asked again.

    Attributes:
        label: what rows and tables call it.
        change: the case under it, given the case; takes ``rng``, random numbers of its own, and ``seed``.
        of: the settings that are asked under it; all where empty.
        elsewhere: it asks about another world, so of generated data alone; how many questions that has is
            its own affair.
    """

    label: str
    change: Callable[..., Case]
    of: tuple[str, ...] = ()
    elsewhere: bool = False


def named(setting: str, condition: str) -> str:
    """The subset of the rows of a setting under a condition."""
    return f"{setting}: {condition}"


@dataclass(frozen=True, kw_only=True)
class Part(Declared):
    """A benchmark asked under the conditions of a study; its stage writes the rows.

    Attributes:
        name: the last part of its stage's name.
        base: the benchmark.
        about: what its stage does, for the UI.
        rows: the rows of a case under every condition, as :attr:`Interpreted.rows`; takes a seed before the
            case where the part is seeded.
        calls: what ``rows`` calls by way of values of the study's own, such as a condition's change.
        expected: how many rows of each subset a case has; nothing where that is not promised.
        shown: the files that are drawn from the rows.
        seeded: whether conditions draw random numbers.
        keys: keys of `params.yaml` that ``rows`` reads beside those of the benchmark's answers.
        first: the key of the study's parameters that says how many cases are asked; all where empty.
        free: subsets of which there are some rows, however many, where some are expected; ``None`` where
            that holds of all rows together.
        pairs: each setting with each of its conditions, in the order of a table; those that rows name, where
            empty.
    """

    name: str
    base: Interpreted
    about: str
    rows: Callable[..., Iterable[Any]]
    expected: Callable[[Case], Mapping[str, int]] = lambda case: {}
    shown: tuple[str, ...] = ()
    seeded: bool = False
    keys: tuple[str, ...] = ()
    first: str = ""
    free: Collection[str] | None = ()
    calls: tuple[Callable[..., Any], ...] = ()
    pairs: tuple[tuple[str, str], ...] = ()

    def wanted(self, cases: Iterable[Case]) -> Counter[str]:
        """The number of rows that some cases should have, by subset.

        Where all subsets are free, it reads cases until each subset has a row.
        """
        counts: Counter[str] = Counter()
        for case in cases:
            counts.update(self.expected(case))
            if self.free and +counts and set(+counts) == set(self.free):
                break
        return counts

    def missing(self, wanted: Mapping[str, int], counts: Mapping[str, int]) -> list[str]:
        """The subsets that have not as many rows as they should, each with both numbers.

        Args:
            wanted: rows by subset, as :meth:`wanted` counts them.
            counts: those that there are.
        """
        if self.free is None:
            return []
        wrong: list[str] = []
        for subset in dict.fromkeys([*wanted, *counts]):
            there, expected = counts.get(subset, 0), wanted.get(subset, 0)
            some = subset in self.free and bool(there) == bool(expected)
            if there != expected and not some:
                wrong.append(f"{subset}: {there} rows of {expected} questions")
        return wrong


class Shares(NamedTuple):
    """The table of a study: a row for each setting and condition that its rows' subsets name.

    Attributes:
        title: its heading in the report.
        caption: what it shows, with ``{seed}`` and ``{profile}``; the data it was measured on are added.
        heads: its columns.
        conditions: their order in the table, which the first rows set where it is empty.
        pooled: whether a share is of all answers of its setting, or of those under the condition.
        drawn: whether the counts are written as CSV and JSON too, with a figure for each part.
        about: what the report says above those figures.
    """

    title: str
    caption: str
    heads: Sequence[str]
    conditions: Sequence[str] = ()
    pooled: bool = False
    drawn: bool = False
    about: str = ""


class Drawn(NamedTuple):
    """A section of the report that a study gives: heading, explanation, figure, and its counts in words.

    Attributes:
        name: of the benchmark whose data it is drawn from.
    """

    name: str
    title: str
    about: str
    figure: Any
    lines: Sequence[str]


@dataclass(frozen=True, kw_only=True)
class Study(Declared):
    """Parts that belong together.

    Attributes:
        name: the first part of their stages' names, and the folder of what they write.
        parts: what is asked of whom.
        parameters: the part of `params.yaml` that says how much is asked.
        shares: how its rows are tabulated, if they are.
        draw: draws the files that each part shows: takes the path of the part's rows and that of each file,
            and says what it drew.
        sections: sections of the report, given a run's workspace.
    """

    name: str
    parts: tuple[Part, ...]
    parameters: Section = NO_SECTION
    shares: Shares | None = None
    draw: Callable[..., dict[str, Any]] | None = None
    sections: Callable[[Any], Iterable[Drawn]] = lambda workspace: ()

    def file(self, name: str) -> str:
        """The path of a file of the study; ``table`` without a suffix is its table."""
        return f"artifacts/{{profile}}/{self.name}/{name}"

    def rows_file(self, part: Part) -> str:
        """The path of a part's rows."""
        return self.file(f"{part.name}.jsonl")

    def keys(self, part: Part) -> tuple[str, ...]:
        """The keys of `params.yaml` that a part's rows depend on."""
        first = (f"{self.parameters.key}.{part.first}",) if part.first else ()
        return (*(("seed",) if part.seeded else ()), *first, *part.base.keys, *part.keys)


class Weighed(msgspec.Struct, frozen=True):
    """So many answers of a case that have something in common."""

    benchmark: str
    split: str
    subset: str
    scene: int | str
    n: int
    correct: bool = True


class _Counted(msgspec.Struct, frozen=True):
    subset: str
    correct: bool | None = None
    n: int = 1


def counted(path: Path) -> dict[str, Counter[bool]]:
    """Right and wrong answers by subset; rows without gold are left out."""
    counts: dict[str, Counter[bool]] = {}
    decoder = msgspec.json.Decoder(_Counted)
    with path.open("rb") as file:
        for line in file:
            row = decoder.decode(line)
            if row.correct is not None:
                counts.setdefault(row.subset, Counter())[row.correct] += row.n
    return counts


def totals(counts: Mapping[str, Counter[bool]]) -> dict[str, int]:
    """The number of rows of each subset."""
    return {subset: count.total() for subset, count in counts.items()}


def parts_of(studies: Sequence[Study]) -> dict[str, tuple[Study, Part]]:
    """The parts of some studies by their stages' names, each with its study."""
    return {f"{study.name}/{part.name}": (study, part) for study in studies for part in study.parts}
