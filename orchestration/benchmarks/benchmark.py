"""The declaration of a benchmark, from which everything else is made.

A case is the unit of work: one scene, story, image, target or specification, as bytes. Its logs, its rows and
the explanation of one of its answers are pure functions of the case; they know no path, no Spark and no
Dagster, so the same ones serve the pipeline on a cluster and a user's own files in one process.

A benchmark is asked on the cases of a :class:`Source`. Its kind says who answers: the substrate, from the
logs of a :class:`Logger` (:class:`Interpreted`), with reasons besides (:class:`Explained`), or a language
model. Benchmarks that share data or logs name the same source or logger.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import NoneType
from typing import Any, ClassVar, Literal, NamedTuple, TypeVar

import msgspec

from orchestration.code import Declared
from orchestration.scoring.counting import METRICS, RIGHT, Metric
from substrate.base.errors import FormatError, ParameterError
from substrate.branch.fork import Emitter
from substrate.cause.evidence import Rest, rests_on
from substrate.cause.explanation import ExplainedPart, Explanation
from substrate.cause.pictures import Pictured, Timeline
from substrate.domains.rows import Row
from substrate.generators.world import World
from substrate.log.event_log import EventLog

T = TypeVar("T")
Files = Mapping[str, Path]
"""Input files or folders by what they are, such as ``annotations`` and ``questions``."""
Natural = msgspec.Meta(ge=0, le=10**9)


class Case(NamedTuple):
    """A scene, story, image, target or specification.

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


ReadCases = Callable[[Files, Collection[Any] | None, bool], Cases]
"""Reads the cases of some files in order: of the scenes that are named, all where ``None``; and says whether
those count that nothing is asked about.
"""


Logs = Sequence[EventLog]
"""The logs of a case, in order."""


class NamedLog(NamedTuple):
    """An event log of a case, by its name in the benchmark, such as ``10000`` or ``qa1/00003``.

    ``source`` is what it was made from, where that is not the case's.
    """

    name: str
    log: EventLog
    source: str = ""


class Data(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The origin of a profile's data of a source; a source adds sizes, and files a user may name."""

    source: Literal["generated", "official", "real", "local", "none"] = "none"
    mirror: str | None = None
    """An address that holds the official files under their names, instead of the official ones."""

    def among(self, profile: Any) -> Data:
        """These data, given all of a profile's: a source may take what another one names."""
        return self


class Section(NamedTuple):
    """The part of `params.yaml` that functions take: its key, and its type; without a key, none. Of a section
    with ``parts``, answers depend on these alone.

    >>> Section().keys
    ()
    """

    key: str = ""
    type: type[Any] = NoneType
    parts: tuple[str, ...] = ()

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys of `params.yaml` that it has."""
        if self.parts:
            return tuple(f"{self.key}.{part}" for part in self.parts)
        return (self.key,) if self.key else ()

    def of(self, settings: Any) -> Any:
        """The parameters in some settings; ``None`` where there are none to take."""
        return settings.of(self.key) if self.key else None


NO_SECTION = Section()


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


class Exhibit(NamedTuple):
    """A section of the report that a benchmark gives.

    Attributes:
        title: its heading, and its line in the contents.
        drawn: how it is drawn, a name in :data:`orchestration.rendering.page.DRAWN`.
        shown: what is shown, of the benchmark's rows (none where it was not asked) and its files.
    """

    title: str
    drawn: str
    shown: Callable[[Iterable[Row], Files], Any]


class SceneShown(NamedTuple):
    """A scene as its page shows it: the page's template, what that takes besides, its picture, and for each
    of its rows the question in words, with what a wrong answer was lost to: a stage and a sentence.
    """

    template: Path
    content: Mapping[str, Any]
    picture: Timeline
    asked: Sequence[tuple[str, tuple[str, str] | None]]


class ScenePages(NamedTuple):
    """Pages of the report, one a scene.

    Attributes:
        folder: their folder in the report.
        most: how many scenes have one: the first with an answer that is not right, else the first.
        shown: a scene's case, the benchmark's parameters and the rows that the page lists, as it shows them.
    """

    folder: str
    most: int
    shown: Callable[[Case, Any, Sequence[Row]], SceneShown]


class Release(NamedTuple):
    """Official files.

    Attributes:
        split: the split that the paper reports.
        words: the split in words.
        unpack: lays the official files, by name, into a dataset's folder; ``None`` where they have no
            address, and a user names a copy.
    """

    split: str
    words: str
    unpack: Callable[[Mapping[str, Path], Path], None] | None = None


GENERATED = Release("generated", "")
"""Of data that are generated alone."""


@dataclass(frozen=True, kw_only=True)
class Source(Declared):
    """A source of cases: files in one format, and how a profile comes by them.

    Attributes:
        name: of its folder, of its part of a profile, and the first part of its stage's name.
        title: what tables and report call it.
        about: what its stage does, for the UI.
        data: the type of its part of a profile.
        inputs: what its files are called, each with the names that it may have in a dataset's folder.
        cases: the cases of some files.
        official: its official files.
        world: what generates it, where something does.
        size: how much data a generated profile has, in words.
        note: what a table's caption adds to where the data come from.
        profiles: the profiles that it belongs to; every one where empty.
    """

    name: str
    title: str
    about: str
    data: type[Data]
    inputs: Mapping[str, tuple[str, ...]]
    cases: ReadCases
    official: Release = GENERATED
    world: tuple[World, ...] = ()
    size: Callable[[Any], str] = lambda data: ""
    note: str = ""
    profiles: tuple[str, ...] = ()

    def files(self, folder: Path) -> dict[str, Path]:
        """Its files in a dataset's folder; none where it is empty."""
        files: dict[str, Path] = {}
        if not any(folder.iterdir()):
            return files
        for name, candidates in self.inputs.items():
            for candidate in candidates:
                if (folder / candidate).exists():
                    files.setdefault(name, folder / candidate)
        return files

    def split(self, data: Data) -> str:
        """The split that the rows of a profile's data name."""
        return self.official.split if data.source == "official" else "generated"


@dataclass(frozen=True, kw_only=True)
class Logger(Declared):
    """Cases ► event logs.

    Attributes:
        name: the first part of its stage's name and of its logs' names.
        about: what its stage does, for the UI.
        source: whose cases.
        logs: the logs of a case, given the parameters of whose logs they are.
        parameters: what ``logs`` takes.
        depends_on: the keys of `params.yaml` that the logs depend on.
        shapes: the TBox whose shapes the logs conform to; empty where there is none.
        emitter: what follows an intervention on a log, given the parameters; ``None`` for the observed
            deltas.
    """

    name: str
    about: str
    source: Source
    logs: Callable[[Case, Any], list[NamedLog]]
    parameters: Section = NO_SECTION
    depends_on: tuple[str, ...] = ()
    shapes: str = ""
    emitter: Callable[[Any], Emitter | None] = lambda parameters: None


@dataclass(frozen=True, kw_only=True)
class Table(Declared):
    """A table of results, which several benchmarks may share.

    Attributes:
        name: the last part of its stage's and its files' names.
        title: its heading in the report.
        about: what its stage does, for the UI.
        layout: how it is laid out, a name in :data:`orchestration.rendering.results.LAYOUTS`.
        needs: stages that it shows beside the scores of its benchmarks.
        beyond: numbers of other benchmarks that stand below its own.
        trivial: stages of a study whose rows are trivial methods' answers to the same questions.
        labels: what its rows are called, by metric or by subset.
        note: what its caption says of its rows.
        of_rivals: what its caption says of those that the substrate stands beside.
    """

    name: str
    title: str
    about: str
    layout: str
    needs: tuple[str, ...] = ()
    beyond: tuple[str, ...] = ()
    trivial: tuple[str, ...] = ()
    labels: Mapping[str, str] = field(default_factory=dict)
    note: str = ""
    of_rivals: str = ""


@dataclass(frozen=True, kw_only=True)
class Benchmark(Declared):
    """Questions with answers that are counted; the kinds below say who answers.

    Attributes:
        name: the first part of the names of its stages, numbers and answers.
        title: what tables and report call it.
        numbers: the names of its numbers, in the order of tables.
        source: whose cases it is asked on.
        table: the table it stands in, and its place there.
        about: what its stages do, by their last name, for the UI.
        form: how an answer of it is named.
        asked: what an answer's name calls a row's question.
        metrics: how its rows are counted, by the last part of a number's name.
        whole: what of these says whether a question, or all of a scene's, is right.
        profiles: the profiles that it belongs to; those of its source where empty.
        trivial: trivial methods among its rows, by a subset of theirs or by what a subset's name ends with.
    """

    name: str
    title: str
    numbers: tuple[str, ...]
    source: Source
    table: tuple[Table, int]
    about: Mapping[str, str]
    form: str = ""
    asked: Callable[[Row], str] = lambda row: str(row.question)
    metrics: Mapping[str, Metric] = field(default_factory=lambda: METRICS)
    whole: Metric = RIGHT
    profiles: tuple[str, ...] = ()
    trivial: Mapping[str, str] = field(default_factory=dict)
    by_model: ClassVar[bool] = False
    """True if its answers are a language model's."""

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys of `params.yaml` that its answers depend on."""
        return ()

    @property
    def subset_in_name(self) -> bool:
        """Tell whether the name of an answer has its subset."""
        return self.form.count("/") > "BENCHMARK/SCENE/QUESTION".count("/")

    def answer_name(self, row: Row) -> str:
        """The name of a row's answer, as :attr:`form` has it."""
        subset = [row.subset] if self.subset_in_name else []
        return "/".join([self.name, *subset, str(row.scene), self.asked(row)])

    def parse_answer(self, name: str) -> tuple[str, str, str]:
        """Subset (empty where the form has none), scene and question of an answer's name.

        The subset may be said where the form has none, as the lists of a number's answers say it.

        Raises:
            ParameterError: it is not of this benchmark's form.
        """
        parts, places = name.split("/")[1:], self.form.split("/")[1:]
        if len(parts) > len(places) and any(number.split("/")[1] == parts[0] for number in self.numbers):
            parts = parts[1:]
        # A place of the form in capitals takes any word, another one of those that it names.
        fits = len(parts) == len(places) and all(
            place.isupper() or part in place.split("|") for part, place in zip(parts, places, strict=True)
        )
        if not fits:
            raise ParameterError(f"no answer is named {name!r}", hint=f"Write {self.form}")
        *subset, scene, question = parts
        return "".join(subset), scene, question


@dataclass(frozen=True, kw_only=True)
class Interpreted(Benchmark):
    """A benchmark that the substrate answers from event logs.

    Attributes:
        logger: whose logs its answers are computed from.
        rows: the rows of a case, given its logs, the parameters and the split.
        parameters: what ``rows`` takes.
        asks: whether a case is asked.
        wordings: the questions of a case in words.
        possible: the rows of a case from at most so many logs that it may have, by what its record says of
            how probable its events are; then the parameters and the split.
        declared: what a generated profile is counted by, and how many of it the profile's data declare.
    """

    logger: Logger
    rows: Callable[[Case, Logs, Any, str], Iterable[Row]]
    parameters: Section = NO_SECTION
    asks: Callable[[Case], bool] = lambda case: bool(case.questions)
    wordings: Callable[[Case], Iterable[Wording]] = lambda case: ()
    possible: Callable[[Case, int, Any, str], Iterable[Row]] | None = None
    declared: Mapping[Literal["logs", "answers"], Callable[[Any], int]] = field(default_factory=dict)

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys of `params.yaml` that its answers depend on."""
        return self.parameters.keys

    def logs(self, case: Case, parameters: Any) -> list[NamedLog]:
        """The logs of a case."""
        return self.logger.logs(case, parameters)


@dataclass(frozen=True, kw_only=True)
class Explained(Interpreted):
    """A benchmark whose answers have reasons.

    Attributes:
        explain: why the answer of a subset (or "") and question of a case is what it is; ``None`` where there
            is no such question.
        picture: what an answer is about as a picture, given its case, its explanation and its row.
        rests: what decides a part of an explained answer.
        examples: the kinds of questions of which the report works an example: a title, and the subset.
        exhibits: sections of the report that it gives.
        pages: pages of its scenes in the report.
        worked: of how many wrong answers the report has the steps.
    """

    explain: Callable[[Case, Logs, Any, str, str], Explanation | None]
    picture: Callable[[Case, Explanation, Row], Pictured]
    rests: Callable[[Explanation, ExplainedPart], Rest] = rests_on
    examples: Mapping[str, str] = field(default_factory=dict)
    exhibits: tuple[Exhibit, ...] = ()
    pages: tuple[ScenePages, ...] = ()
    worked: int = 240


def per_choice(benchmark: str, *subsets: str) -> tuple[str, ...]:
    """The numbers of multiple-choice subsets: per question and per option.

    >>> per_choice("clevrer", "predictive")
    ('clevrer/predictive/per_question', 'clevrer/predictive/per_option')
    """
    return tuple(
        f"{benchmark}/{subset}/{metric}" for subset in subsets for metric in ("per_question", "per_option")
    )


def asked_scenes(
    there: Collection[Any],
    questioned: Collection[Any],
    files: Files,
    input_: Path,
    only: Collection[Any] | None,
    unasked: bool,
) -> Collection[Any]:
    """The scenes of an input to read, in order: those that are asked about, or all that are wanted.

    Args:
        there: the scenes that the input has.
        questioned: those that questions ask about, ascending.
        files: the input files; the questions stand in ``questions``.
        input_: the file or folder of the scenes.
        only: scenes to take; all where ``None``.
        unasked: whether scenes that nothing is asked about count too.

    Raises:
        FormatError: a scene that is asked about is not there.
    """
    wanted = chosen(questioned, only)
    if missing := sorted(scene for scene in wanted if scene not in there):
        more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
        raise FormatError(
            f"asks about scene {missing[0]}{more}, which {input_} lacks",
            where=(files.get("questions", input_),),
            hint="Give the scenes that are asked about, or leave their questions out",
        )
    return chosen(there, only) if unasked else wanted


def chosen(scenes: Collection[T], only: Collection[Any] | None) -> Collection[T]:
    """The scenes that are wanted, in order: all, where none are named."""
    return scenes if only is None else [scene for scene in scenes if scene in only]


def named_rows(name: str, rows: Callable[..., Iterable[Row]], *given: Any) -> list[Row]:
    """The rows of another benchmark's function under a benchmark's own name."""
    return [msgspec.structs.replace(row, benchmark=name) for row in rows(*given)]
