"""Published figures: figures that the paper and its rivals print, their splits, and the inputs of systems."""

from __future__ import annotations

import importlib.resources
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any, Literal

import msgspec
import yaml

from orchestration.scoring.names import role_of

# The data behind a number; ``local`` is a user's copy of official files.
Kind = Literal["generated", "official", "local", "none"]
FILE = "orchestration/scoring/published.yaml"
# The system whose figures are the paper's own.
PAPER = "substrate"


class System(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A system with figures: its name, its input, and the source of its figures.

    ``split`` is the split of its figures; empty if each number names its split. ``model`` is the
    language model that answers, if one does.
    """

    title: str
    sees: str
    citation: str
    split: str = ""
    model: str = ""


class Rival(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A system whose figures the paper does not print: in percent as printed, with split and source."""

    system: str
    reads: str
    benchmark: str
    split: str
    source: str
    figures: dict[str, str]


class Figure(msgspec.Struct, frozen=True):
    """A figure as printed, and its places in the paper.

    ``name`` is its number's name and its role, such as ``meadow/joint/minus/herd/joint/low``.
    """

    number: str
    what: str
    printed: str
    where: tuple[str, ...]
    # True if the number measures this figure: it is the accuracy of the number's own system.
    is_measured: bool

    @property
    def name(self) -> str:
        """The name of the figure; the number's name if it is the measured accuracy."""
        return self.number if self.is_measured else f"{self.number}/{self.what}"

    @property
    def value(self) -> float:
        """The figure as a number, in its printed unit."""
        return float(self.printed)

    @property
    def system(self) -> str:
        """The system of the figure; the paper's for counts and differences."""
        role = role_of(self.what)
        return PAPER if role.is_difference or role.about not in published().systems else role.about

    @property
    def sides(self) -> tuple[str, str] | None:
        """For a difference, or for a bound or p of a difference, the names of the two compared figures."""
        second, _, is_difference = role_of(self.what)
        if not is_difference:
            return None
        return self.number, f"{self.number}/{second}" if second in published().systems else second


class Number(msgspec.Struct, frozen=True):
    """The published figures of a number."""

    split: str
    figures: dict[str, Figure]
    # The system that the number measures: the substrate, or a model.
    measured: str

    @property
    def n(self) -> int | None:
        """The number of questions according to the paper."""
        return int(self.figures["n"].printed) if "n" in self.figures else None


class Size(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A printed size of the paper's code, its place in the paper, and the thing to count here.

    That is the lines that answer some benchmarks, or the ``opcodes`` of a table, ``MODULE:NAME``.
    """

    what: str
    printed: str = ""
    where: str = ""
    benchmarks: tuple[str, ...] = ()
    opcodes: str = ""


class Beside(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The number whose figures go with a measured number, and the systems whose figures do."""

    number: str
    systems: tuple[str, ...]


class Published(msgspec.Struct, frozen=True):
    """All published figures, and the known gaps.

    ``reads`` names the substrate's input where it is not annotations; ``beside`` has the measured numbers
    that go with another number's figures. ``missing`` and ``no_results`` (passages whose figures are no
    results) have reasons. The paper does not print figures of ``rivals``; nothing is subtracted from them.
    """

    systems: dict[str, System]
    numbers: dict[str, Number]
    reads: dict[str, str] = {}
    beside: dict[str, Beside] = {}
    missing: dict[str, str] = {}
    no_results: dict[str, str] = {}
    rivals: tuple[Rival, ...] = ()
    sizes: tuple[Size, ...] = ()

    def figures(self) -> Iterator[Figure]:
        """Every figure, in the order of the file."""
        for number in self.numbers.values():
            yield from number.figures.values()

    def number(self, name: str) -> Number | None:
        """The number whose figures go with a measured number, if any."""
        return self.numbers.get(self._beside(name).number)

    def _beside(self, name: str) -> Beside:
        return self.beside.get(name) or Beside(name, tuple(self.systems))

    def accuracies(self, name: str) -> dict[str, Figure]:
        """The published accuracies that go with a measured number, by system."""
        number, systems = self.number(name), self._beside(name).systems
        figures = number.figures if number else {}
        return {who: figures[who] for who in self.systems if who in systems and who in figures}

    def n(self, name: str) -> int | None:
        """The number of questions of a measured number, according to the paper."""
        number = self.number(name)
        return number and number.n

    def split(self, name: str, system: str) -> str:
        """The split of a system's figure that goes with a measured number."""
        return self.systems[system].split or self.numbers[self._beside(name).number].split

    def citation(self, figure: Figure) -> str:
        """The source of a figure: its system's citation, and for the paper's figures the places."""
        cited = self.systems[figure.system].citation
        return f"{cited}, {figure.where[0]}" if figure.system == PAPER else cited


@cache
def published() -> Published:
    """Read the published figures.

    >>> published().numbers["clevrer/predictive/per_question"].figures["substrate"].printed
    '69.50'
    """
    text = (importlib.resources.files("orchestration.scoring") / "published.yaml").read_text("utf-8")
    return parse_published(text)


def parse_published(text: str) -> Published:
    """Parse the figures of a paper from the text of a file like ``published.yaml``."""
    # As text, since 69.50 would become 69.5.
    raw = yaml.load(text, Loader=getattr(yaml, "CBaseLoader", yaml.BaseLoader))
    known = msgspec.convert({**raw, "numbers": {}}, Published)
    numbers = {name: _number(name, lines, known.systems) for name, lines in raw["numbers"].items()}
    return msgspec.structs.replace(known, numbers=numbers)


def _number(name: str, lines: dict[str, Any], systems: Iterable[str]) -> Number:
    measured = next((who for who in systems if who in lines), "")
    printed = ((what, line) for what, line in lines.items() if what != "split")
    figures = {what: Figure(name, what, of[0], tuple(of[1:]), what == measured) for what, of in printed}
    return Number(lines["split"], figures, measured)
