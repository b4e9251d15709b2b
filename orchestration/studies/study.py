"""A study: benchmarks asked again under varied conditions, and the resulting numbers.

A condition changes one thing: a setting, the input, or the computation. Each part of a study asks a benchmark
under all of its conditions, and the rows name the condition as their subset. The study's curves and tables
are drawn only from those rows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from orchestration.benchmarks.benchmark import NO_SECTION, Case, Interpreted, Section
from orchestration.code import Declared


@dataclass(frozen=True, kw_only=True)
class Part(Declared):
    """A benchmark under the conditions of a study; its stage writes the rows.

    Attributes:
        name: the last part of its stage's name.
        base: the benchmark.
        about: a description of its stage for the UI.
        rows: the rows of a case under every condition, as :attr:`Interpreted.rows`; takes a seed before the
            case if the part is seeded.
        calls: functions that ``rows`` calls through values of the study, such as a condition's change.
        expected: from a case to the number of rows that each subset should have; ``None`` if no number is
            known before the case is asked.
        uncounted: the subsets whose exact number is not known: of these, ``expected`` says only whether
            there should be rows.
        never_empty: if ``expected`` is ``None``, whether there must be a row as soon as there is a question.
        shown: the files that are drawn from the rows.
        seeded: whether conditions draw random numbers.
        keys: keys of `params.yaml` that ``rows`` reads in addition to the benchmark's.
        size_key: the study's parameter with the number of cases to ask, from the first one on; empty for all
            cases.
        subsets: the subsets of the rows, in the order of a table; if empty, the table has the subsets that
            occur in the rows.
    """

    name: str
    base: Interpreted
    about: str
    rows: Callable[..., Iterable[Any]]
    expected: Callable[[Case], Mapping[str, int]] | None = None
    uncounted: Collection[str] = ()
    never_empty: bool = False
    shown: tuple[str, ...] = ()
    seeded: bool = False
    keys: tuple[str, ...] = ()
    size_key: str = ""
    calls: tuple[Callable[..., Any], ...] = ()
    subsets: tuple[str, ...] = ()

    def faults(self, cases: Sequence[Case], counts: Mapping[str, int]) -> list[str]:
        """Describe the subsets with a wrong number of rows, with both numbers.

        Args:
            cases: the cases that were asked; each has questions.
            counts: the actual rows by subset.
        """
        if self.expected is None:
            return [f"no row of {len(cases)} cases"] if self.never_empty and cases and not counts else []
        wanted: Counter[str] = Counter()
        for case in cases:
            wanted.update(self.expected(case))
            # Further cases would change only numbers that do not count.
            if self.uncounted and set(+wanted) == set(self.uncounted):
                break
        wrong: list[str] = []
        for subset in dict.fromkeys([*wanted, *counts]):
            there, expected = counts.get(subset, 0), wanted[subset]
            agree = bool(there) == bool(expected) if subset in self.uncounted else there == expected
            if not agree:
                wrong.append(f"{subset}: {there} rows of {expected} questions")
        return wrong


@dataclass(frozen=True, kw_only=True)
class Study(Declared):
    """A group of related parts.

    Attributes:
        name: the first part of its stages' names, and the folder of its files.
        parts: the benchmarks and their conditions.
        parameters: the section of `params.yaml` that limits its size.
        title: the heading of its table in the report; empty if it has none.
        stages: makes further stages, such as that of its table.
        figures: from a run's workspace to the text above its table in the report, and the figures there.
        draw: draws the files that each part shows, given the path of the part's rows and of each file;
            returns a description.
        sections: from a run's workspace to sections of the report, each with the name of the benchmark whose
            data it shows.
        profiles: the profiles that it belongs to; empty for all but the one beyond the paper.
    """

    name: str
    parts: tuple[Part, ...]
    parameters: Section = NO_SECTION
    title: str = ""
    stages: Callable[[Study], Iterable[Any]] = lambda study: ()
    figures: Callable[[Any], tuple[str, Sequence[Any]]] = lambda workspace: ("", ())
    draw: Callable[..., dict[str, Any]] | None = None
    sections: Callable[[Any], Iterable[Any]] = lambda workspace: ()
    profiles: tuple[str, ...] = ()

    def file(self, name: str) -> str:
        """The path of a file of the study; the name ``table`` without a suffix is its table."""
        return f"artifacts/{{profile}}/{self.name}/{name}"

    def rows_file(self, part: Part) -> str:
        """The path of a part's rows."""
        return self.file(f"{part.name}.jsonl")

    def keys(self, part: Part) -> tuple[str, ...]:
        """The keys of `params.yaml` that a part's rows depend on."""
        size = (f"{self.parameters.key}.{part.size_key}",) if part.size_key else ()
        return (*(("seed",) if part.seeded else ()), *size, *part.base.keys, *part.keys)


class _Counted(msgspec.Struct, frozen=True):
    subset: str
    correct: bool | None = None
    n: int = 1


def counted(path: Path) -> dict[str, Counter[bool]]:
    """Count right and wrong answers by subset; rows without gold are left out."""
    counts: dict[str, Counter[bool]] = {}
    decoder = msgspec.json.Decoder(_Counted)
    with path.open("rb") as file:
        for line in file:
            row = decoder.decode(line)
            if row.correct is not None:
                counts.setdefault(row.subset, Counter())[row.correct] += row.n
    return counts


def totals(counts: Mapping[str, Counter[bool]]) -> dict[str, int]:
    """Count the rows of each subset."""
    return {subset: count.total() for subset, count in counts.items()}


def parts_of(studies: Sequence[Study]) -> dict[str, tuple[Study, Part]]:
    """The parts of some studies by their stages' names, each with its study."""
    return {f"{study.name}/{part.name}": (study, part) for study in studies for part in study.parts}
