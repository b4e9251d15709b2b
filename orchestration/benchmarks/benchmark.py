"""What a benchmark is: declared once, and everything else is made from the declaration.

A case is the unit of work: one scene, story, image, target or specification, as bytes. Its logs, its rows and
the explanation of one of its answers are pure functions of the case; they know no path, no Spark and no
Dagster, so the same ones serve the pipeline on a cluster and a user's own files in one process.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple

import msgspec

from substrate.base.errors import FormatError, ParameterError
from substrate.cause.explanation import Explanation
from substrate.domains.rows import Row
from substrate.log.event_log import EventLog
from substrate.worlds.world import World

Files = Mapping[str, Path]
"""A benchmark's input files or folders by what they are, such as ``annotations`` and ``questions``."""
Natural = msgspec.Meta(ge=0, le=10**9)


class Case(NamedTuple):
    """One scene, story, image, target or specification.

    Attributes:
        scene: what its rows call it.
        source: the file and record it comes from, as errors and the index of logs name it.
        record: what was observed.
        questions: what is asked, with the gold where there is one; empty where nothing is, and
            :data:`WITHIN` where the record asks itself.
        kind: which of several forms the record has, where a benchmark takes more than one.
    """

    scene: int | str
    source: str
    record: bytes
    questions: bytes = b""
    kind: str = ""


WITHIN = b"within"
"""The questions of a case whose record holds them."""


class Cases(NamedTuple):
    """The cases of some files in order: how many there are, and each as it is read."""

    total: int
    each: Iterator[Case]


class NamedLog(NamedTuple):
    """One of a case's event logs, by its name in the benchmark, such as ``10000`` or ``qa1/00003``.

    ``source`` is what it was made from, where that is not the case's.
    """

    name: str
    log: EventLog
    source: str = ""


class Data(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Where a profile's data of a benchmark come from; a benchmark adds sizes, and files a user may name."""

    source: Literal["generated", "official", "local", "none"] = "none"
    mirror: str | None = None
    """An address that holds the official files under their names, instead of the official ones."""


class Wording(NamedTuple):
    """A question in words, as the report lists it.

    Attributes:
        question: what an answer's name calls it.
        text: the question.
        choices: its choices, in order.
        subset: the subset of its row, where a scene has questions of one name in several.
    """

    question: str
    text: str
    choices: tuple[str, ...] = ()
    subset: str = ""


class Shown(NamedTuple):
    """A kind of question of which the report works an example: its title, its subset, how it is pictured."""

    title: str
    subset: str
    picture: Literal["scene", "target", "story", "image", "arm"]


@dataclass(frozen=True, kw_only=True)
class Benchmark:
    """A benchmark: its names and numbers, its data, and the functions of a case.

    Attributes:
        name: the first part of the names of its stages, numbers, logs and answers.
        title: what tables and report call it.
        numbers: the names of its numbers, in the order of tables.
        form: how an answer of it is named; ``example`` is one that a generated profile has.
        table: the table it stands in, and its place there.
        dataset: the benchmark whose data it is asked on; its own unless given.
        logged: the benchmark whose logs it is answered from; its own unless given.
        parameters: the part of `params.yaml` that its functions take, and that part's type.
        logs_parameters: the keys that its logs depend on.
        data: the type of its part of a profile; ``None`` where it has no data of its own.
        inputs: what its files are called, each with the names that it may have in a dataset's folder.
        official: the split that the paper reports; ``split_text`` says it in words.
        unpack: lays the official files, by name, into a dataset's folder.
        world: generates data in the official format.
        cases: the cases of some files; only those of some scenes, where these are given, and those that
            nothing is asked about only where that is wanted.
        logs: the logs of a case.
        rows: the rows of a case, given its logs, the parameters and the split.
        explain: why the answer of a subset (or "") and question of a case is what it is.
        wordings: the questions of a case in words.
        worked: of how many wrong answers the report has the steps.
        shown: the kinds of questions of which the report works an example.
        asked: what an answer's name calls a row's question.
        paired: whether rows come in pairs of one scene, which are judged together.
        shapes: the TBox whose shapes its logs conform to.
        declared: what a generated profile is counted by (``logs`` or ``answers``), and how many it declares.
        size: how much data a generated profile has, in words.
        note: what a table's caption adds to where its data come from.
        by_model: whether its answers are a language model's.
        about: what its stages do, by their last name, for the UI.
    """

    name: str
    title: str
    numbers: tuple[str, ...]
    form: str = ""
    example: str = ""
    table: tuple[str, int] = ("transfer", 0)
    dataset: str = ""
    logged: str = ""
    parameters: tuple[str, type[Any]] | None = None
    logs_parameters: tuple[str, ...] = ()
    data: type[Data] | None = None
    inputs: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    official: str = ""
    split_text: str = ""
    unpack: Callable[[Mapping[str, Path], Path], None] | None = None
    world: World | None = None
    cases: Callable[[Files, Collection[Any] | None, bool], Cases] | None = None
    logs: Callable[[Case, Any], list[NamedLog]] | None = None
    rows: Callable[[Case, Sequence[EventLog], Any, str], Iterable[Row]] | None = None
    explain: Callable[[Case, Sequence[EventLog], Any, str, str], Explanation | None] | None = None
    wordings: Callable[[Case], Iterable[Wording]] | None = None
    worked: int = 240
    asked: Callable[[Row], str] = lambda row: str(row.question)
    shown: tuple[Shown, ...] = ()
    paired: bool = False
    shapes: str = ""
    declared: tuple[Literal["logs", "answers"], Callable[[Any], int]] | None = None
    size: Callable[[Any], str] = lambda data: ""
    note: str = ""
    by_model: bool = False
    about: Mapping[str, str] = field(default_factory=dict)

    @property
    def data_of(self) -> str:
        """The name of the benchmark whose data it is asked on."""
        return self.dataset or self.name

    @property
    def logs_of(self) -> str:
        """The name of the benchmark whose logs it is answered from."""
        return self.logged or self.name

    def files(self, folder: Path) -> dict[str, Path]:
        """Its files in a dataset's folder; none where it is empty."""
        found: dict[str, Path] = {}
        if not any(folder.iterdir()):
            return found
        for name, candidates in self.inputs.items():
            for candidate in candidates:
                if (folder / candidate).exists():
                    found.setdefault(name, folder / candidate)
        return found

    def split(self, data: Data) -> str:
        """The split that the rows of a profile's data name."""
        return self.official if data.source == "official" else "generated"

    @property
    def subset_in_name(self) -> bool:
        """Whether the name of an answer has its subset."""
        return self.form.count("/") == _WITH_SUBSET

    def answer_name(self, row: Row) -> str:
        """The name of a row's answer, as :attr:`form` has it."""
        subset = [row.subset] if self.subset_in_name else []
        return "/".join([self.name, *subset, str(row.scene), self.asked(row)])

    def parse_answer(self, name: str) -> tuple[str, str, str]:
        """Subset (empty where the form has none), scene and question of an answer's name.

        Raises:
            ParameterError: it is not of this benchmark's form.
        """
        parts, places = name.split("/")[1:], self.form.split("/")[1:]
        # A place of the form in capitals takes any word, another one of those that it names.
        fits = len(parts) == len(places) and all(
            place.isupper() or part in place.split("|") for part, place in zip(parts, places, strict=True)
        )
        if not fits:
            raise ParameterError(f"no answer is named {name!r}", hint=f"Write {self.form}")
        *subset, scene, question = parts
        return "".join(subset), scene, question


_WITH_SUBSET = 3
"""How many slashes the name of an answer has that names its subset."""


METRICS = ("per_question", "per_option")


def per_choice(benchmark: str, *subsets: str) -> tuple[str, ...]:
    """The numbers of multiple-choice subsets: per question and per option.

    >>> per_choice("clevrer", "predictive")
    ('clevrer/predictive/per_question', 'clevrer/predictive/per_option')
    """
    return tuple(f"{benchmark}/{subset}/{metric}" for subset in subsets for metric in METRICS)


def require_scenes(
    asked: Iterable[Any], there: Iterable[Any], questions: object, input_: object
) -> list[Any]:
    """The scenes that questions ask about, ascending.

    Raises:
        FormatError: the input lacks one of them.
    """
    asked = sorted(asked)
    if missing := sorted(set(asked).difference(there)):
        more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
        raise FormatError(
            f"asks about scene {missing[0]}{more}, which {input_} lacks",
            where=(questions,),
            hint="Give the scenes that are asked about, or leave their questions out",
        )
    return asked


def chosen(scenes: Iterable[Any], only: Collection[Any] | None) -> list[Any]:
    """The scenes that are wanted, in order: all, where none are named."""
    return [scene for scene in scenes if only is None or scene in only]
