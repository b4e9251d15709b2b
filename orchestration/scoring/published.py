"""Published figures: what the paper and its rivals printed, on which split, and what each system reads."""

from __future__ import annotations

import importlib.resources
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, Literal

import msgspec
import yaml

from substrate.base.errors import FormatError
from substrate.base.inputs import read_text

Kind = Literal["generated", "official", "local", "none"]
"""The data that a number was measured on; ``local`` is a user's copy of official files."""
FILE = "orchestration/scoring/published.yaml"
PAPER = "substrate"
"""The system whose figures are the paper's own."""
MINUS = "minus/"
_EDGES = ("/low", "/high")


class System(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A system with figures: its name, what it reads, and where its figures come from.

    ``split`` is the one that its figures are of; empty where each number says it.
    """

    title: str
    sees: str
    citation: str
    split: str = ""


class Rival(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A system whose figures the paper does not print: in percent as printed, with split and source."""

    system: str
    reads: str
    benchmark: str
    split: str
    source: str
    figures: dict[str, str]


class Figure(msgspec.Struct, frozen=True):
    """A figure as printed, and the places in the paper where it stands.

    ``name`` is its number's name and what it is of it, such as ``meadow/joint/minus/herd/joint/low``.
    """

    number: str
    what: str
    printed: str
    where: tuple[str, ...]
    is_measured: bool
    """Tell whether measuring the number measures this figure: its accuracy by the system it is about."""

    @property
    def name(self) -> str:
        """The number's own name where it is the accuracy that the number measures."""
        return self.number if self.is_measured else f"{self.number}/{self.what}"

    @property
    def value(self) -> float:
        """The figure as a number, in the unit in which it is printed."""
        return float(self.printed)

    @property
    def system(self) -> str:
        """The system whose figure it is; the paper's for its counts and differences."""
        whose = self.what.partition("/")[0]
        return whose if whose in published().systems else PAPER

    @property
    def sides(self) -> tuple[str, str] | None:
        """Of a difference, or of a bound or p of one, the names of the two figures it is made of."""
        if not self.what.startswith(MINUS):
            return None
        second = self.what.removeprefix(MINUS)
        for edge in (*_EDGES, "/p"):
            second = second.removesuffix(edge)
        return self.number, f"{self.number}/{second}" if second in published().systems else second


class Number(msgspec.Struct, frozen=True):
    """The published figures of a number."""

    split: str
    figures: dict[str, Figure]
    measured: str
    """The system that a measurement of the number measures: the substrate, or the model it is about."""

    @property
    def n(self) -> int | None:
        """The number of questions asked, by the paper."""
        return int(self.figures["n"].printed) if "n" in self.figures else None


class Size(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A size that the paper prints of its own code, and where; and what is counted for it here.

    That is the lines by which some benchmarks are answered, or the ``opcodes`` of a table, ``MODULE:NAME``.
    """

    what: str
    printed: str = ""
    where: str = ""
    benchmarks: tuple[str, ...] = ()
    opcodes: str = ""


class Published(msgspec.Struct, frozen=True):
    """Everything that is published, and what is known to be missing.

    ``reads`` says what the substrate reads where that is not annotations; ``beside``, whose figures of which
    other number stand beside a measured one. ``missing`` and ``no_results`` (passages whose figures are no
    results) have reasons. The paper does not print figures of ``rivals``; nothing is subtracted from them.
    """

    systems: dict[str, System]
    numbers: dict[str, Number]
    reads: dict[str, str]
    beside: dict[str, tuple[str, tuple[str, ...]]]
    missing: dict[str, str]
    no_results: dict[str, str]
    rivals: tuple[Rival, ...] = ()
    sizes: tuple[Size, ...] = ()

    def figures(self) -> Iterator[Figure]:
        """Every figure, in the order of the file."""
        for number in self.numbers.values():
            yield from number.figures.values()

    def number(self, name: str) -> Number | None:
        """The number whose figures stand beside a measured one, if there are some."""
        return self.numbers.get(self.beside.get(name, (name,))[0])

    def accuracies(self, name: str) -> dict[str, Figure]:
        """The published accuracies that stand beside a measured number, by system."""
        number, (_, systems) = self.number(name), self.beside.get(name, (name, tuple(self.systems)))
        figures = number.figures if number else {}
        return {who: figures[who] for who in self.systems if who in systems and who in figures}

    def n(self, name: str) -> int | None:
        """The number of questions asked for a measured number, by the paper."""
        number = self.number(name)
        return number and number.n

    def split(self, name: str, system: str) -> str:
        """The split that a system's figure beside a measured number is of."""
        source, _ = self.beside.get(name, (name, ()))
        return self.systems[system].split or self.numbers[source].split

    def citation(self, figure: Figure) -> str:
        """The source of a figure: its system's citation, and for the paper's own the places."""
        cited = self.systems[figure.system].citation
        return f"{cited}, {figure.where[0]}" if figure.system == PAPER else cited


@cache
def published() -> Published:
    """The published figures.

    >>> published().numbers["clevrer/predictive/per_question"].figures["substrate"].printed
    '69.50'
    """
    text = (importlib.resources.files("orchestration.scoring") / "published.yaml").read_text("utf-8")
    return _published(text)


def read_published(file: Path | None) -> Published:
    """The figures of another paper, from a file in the shape of ``published.yaml``; else this one's.

    Raises:
        FormatError: the file cannot be read, or is not in that shape.
    """
    if file is None:
        return published()
    try:
        return _published(read_text(file))
    except (yaml.YAMLError, msgspec.ValidationError, LookupError) as error:
        hint = f"Give a file in the shape of {FILE}"
        raise FormatError(f"no file of figures ({error})", where=(file,), hint=hint) from error


def _published(text: str) -> Published:
    # As text, since 69.50 is not printed as 69.5.
    raw = yaml.load(text, Loader=getattr(yaml, "CBaseLoader", yaml.BaseLoader))
    return Published(
        systems=msgspec.convert(raw["systems"], dict[str, System]),
        numbers={name: _number(name, lines, raw["systems"]) for name, lines in raw["numbers"].items()},
        reads=raw.get("reads", {}),
        beside={
            name: (entry["number"], tuple(entry["systems"])) for name, entry in raw.get("beside", {}).items()
        },
        missing=raw.get("missing", {}),
        no_results=raw.get("no_results", {}),
        rivals=msgspec.convert(raw.get("rivals", []), tuple[Rival, ...]),
        sizes=msgspec.convert(raw.get("sizes", []), tuple[Size, ...]),
    )


def _number(name: str, lines: dict[str, Any], systems: Iterable[str]) -> Number:
    measured = next((who for who in systems if who in lines), "")
    figures = {
        what: Figure(name, what, line[0], tuple(line[1:]), what == measured)
        for what, line in lines.items()
        if what != "split"
    }
    return Number(lines["split"], figures, measured)
