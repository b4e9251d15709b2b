"""The declaration of a benchmark; everything else is made from it.

A case is the unit of work: a scene, story, image, target or specification, as bytes. Its logs, its rows and
the explanations of its answers are pure functions of the case, which use no path, no Spark and no Dagster. So
the same functions serve the pipeline on a cluster and a user's own files in a single process.

A benchmark asks questions about the cases of a :class:`Source`. Its class determines the answering system:
the substrate, from the logs of a :class:`Logger` (:class:`Interpreted`), also with reasons
(:class:`Explained`), or a language model. Benchmarks that share data or logs name the same source or logger.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple, TypeVar

import msgspec

from orchestration.benchmarks.declared import BEYOND as BEYOND
from orchestration.benchmarks.declared import NO_SECTION, Data, Release, Section, Table, Wording, belongs
from orchestration.benchmarks.declared import Natural as Natural
from orchestration.code import Declared
from orchestration.scoring.counting import METRICS, RIGHT, Metric
from orchestration.scoring.names import name_of
from substrate.base.errors import FormatError, ParameterError
from substrate.branch.fork import Emitter
from substrate.cause.explanation import Explanation
from substrate.cause.pictures import Pictured, Timeline
from substrate.domains.rows import Row
from substrate.generators.world import World
from substrate.log.event_log import EventLog

T = TypeVar("T")
GENERATED = Release("generated", "")
# Input files or folders by role, such as ``annotations`` and ``questions``.
Files = Mapping[str, Path]
# The scenes to read; ``None`` for all.
Only = Collection[Any] | None


class Case(NamedTuple):
    """A scene, story, image, target or specification.

    Attributes:
        scene: its name in rows.
        source: the file and record that it comes from, as errors and the index of logs name them.
        record: the observation.
        questions: the questions, with the gold if there is one; empty if there are none, and
            :data:`WITHIN` if the record contains them.
        kind: the form of the record, if a benchmark accepts several.
    """

    scene: int | str
    source: str
    record: bytes
    questions: bytes = b""
    kind: str = ""


# The questions of a case whose record contains them.
WITHIN = b"within"


class Cases(NamedTuple):
    """The cases of some files in order: their number, and each case as it is read."""

    total: int
    each: Iterator[Case]


# Reads the cases of some files in order, given the files, the scenes, and whether scenes without questions
# count.
ReadCases = Callable[[Files, Only, bool], Cases]


# The logs of a case, in order.
Logs = Sequence[EventLog]


class NamedLog(NamedTuple):
    """An event log of a case, with its name in the benchmark, such as ``10000`` or ``qa1/00003``.

    ``source`` is the file and record that it was made from, if they differ from the case's.
    """

    name: str
    log: EventLog
    source: str = ""


class Exhibit(NamedTuple):
    """A section of the report that a benchmark contributes.

    Attributes:
        title: its heading, also in the table of contents.
        drawn: the name of its drawing in :data:`orchestration.rendering.report.first_page.DRAWN`.
        shown: from the benchmark's rows (none if it was not asked) and its files to the content.
    """

    title: str
    drawn: str
    shown: Callable[[Iterable[Row], Files], Any]


class SceneShown(NamedTuple):
    """The content of a scene's page: the template and its further arguments, the picture, and the rows.

    Each row has the question's text and, for a wrong answer, the stage that lost it and a sentence.
    """

    template: Path
    content: Mapping[str, Any]
    picture: Timeline
    asked: Sequence[tuple[str, tuple[str, str] | None]]


class ScenePages(NamedTuple):
    """Pages of the report, one per scene.

    Attributes:
        folder: their folder in the report.
        most: the number of scenes with a page: the first with a wrong answer, then the first others.
        shown: from a case, the benchmark's parameters and the rows of the page to the page's content.
    """

    folder: str
    most: int
    shown: Callable[[Case, Any, Sequence[Row]], SceneShown]


@dataclass(frozen=True, kw_only=True)
class Source(Declared):
    """A source of cases: files in a common format, and the ways in which a profile gets them.

    Attributes:
        name: the name of its folder and of its part of a profile, and the first part of its stage's name.
        title: its name in tables and the report.
        about: a description of its stage for the UI.
        data: the type of its part of a profile.
        inputs: the roles of its files, each with possible names in a dataset's folder.
        cases: reads the cases of some files.
        official: its official files; :data:`GENERATED` if there are none.
        world: the generator of its cases, if there is one.
        note: an addition to a table's description of the data's origin.
        profiles: the profiles that it belongs to; empty for all but :data:`BEYOND`.
    """

    name: str
    title: str
    about: str
    data: type[Data]
    inputs: Mapping[str, tuple[str, ...]]
    cases: ReadCases
    official: Release = GENERATED
    world: tuple[World, ...] = ()
    note: str = ""
    profiles: tuple[str, ...] = ()

    def files(self, folder: Path) -> dict[str, Path]:
        """Return the source's files in a dataset's folder; none if the folder is empty."""
        if not any(folder.iterdir()):
            return {}
        possible = {role: [folder / name for name in names] for role, names in self.inputs.items()}
        there = {role: [*filter(Path.exists, paths)] for role, paths in possible.items()}
        return {role: paths[0] for role, paths in there.items() if paths}

    def size(self, data: Any) -> str:
        """Return the amount of data in a generated profile, in words; empty without a generator."""
        return " ".join(f"{getattr(data, world.counted[0]):,} {world.unit}" for world in self.world)

    def split(self, data: Data) -> str:
        """Return the split that the rows of a profile's data name."""
        return self.official.split if data.source == "official" else "generated"


@dataclass(frozen=True, kw_only=True)
class Logger(Declared):
    """A logger, which makes event logs of cases.

    Attributes:
        name: the first part of its stage's name and of its logs' names.
        about: a description of its stage for the UI.
        source: the source of its cases.
        logs: from a case and the parameters to the case's logs.
        parameters: the section that ``logs`` takes.
        depends_on: the keys of `params.yaml` that the logs depend on.
        shapes: the TBox whose shapes the logs conform to; empty for none.
        emitter: from the parameters to the rules for the consequences of an intervention; ``None`` for the
            observed deltas.
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
class Benchmark(Declared):
    """Questions with counted answers; a subclass determines the answering system.

    Attributes:
        name: the first part of the names of its stages, numbers and answers.
        title: its name in tables and the report.
        numbers: the names of its numbers, in the order of tables.
        source: the source of its cases.
        table: its table, and its position there.
        about: descriptions of its stages for the UI, by the last part of their names.
        form: the form of an answer's name.
        asked: from a row to its question's name in an answer's name.
        metrics: the ways to count its rows, by the last part of a number's name.
        whole: the metric that says whether a question, or a scene's set of questions, is right.
        profiles: the profiles that it belongs to; empty for its source's.
        trivial: trivial methods among its rows, by their subset or by the ending of a subset's name.
        no_interval: subsets whose numbers have no interval on official data: all of a population was asked,
            or the answer is right by construction.
        by_model: true if a language model answers it.
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
    no_interval: tuple[str, ...] = ()
    by_model: ClassVar[bool] = False

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys of `params.yaml` that its answers depend on."""
        return ()

    def profile(self, wanted: str) -> str:
        """Return the profile that is wanted if this benchmark belongs to it, else one that it belongs to."""
        own = self.profiles or self.source.profiles
        return wanted if belongs(own, wanted) else next(iter(own), "sample")

    @property
    def subset_in_name(self) -> bool:
        """Tell whether the name of an answer contains its subset."""
        return self.form.count("/") > "BENCHMARK/SCENE/QUESTION".count("/")

    def answer_name(self, row: Row) -> str:
        """The name of a row's answer, in the form of :attr:`form`."""
        subset = [row.subset] if self.subset_in_name else []
        return "/".join([self.name, *subset, str(row.scene), self.asked(row)])

    def parse_answer(self, name: str) -> tuple[str, str, str]:
        """Split an answer's name into subset (empty if the form has none), scene and question.

        The subset is accepted even if the form has none, since the lists of a number's answers include it.

        Raises:
            ParameterError: the name does not have this benchmark's form.
        """
        parts, places = name.split("/")[1:], self.form.split("/")[1:]
        if len(parts) > len(places) and parts[0] in {name_of(number).subset for number in self.numbers}:
            parts = parts[1:]
        # A part of the form in capitals matches any word; any other part matches the words that it lists.
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
        logger: the logger that its answers are computed from.
        rows: from a case, its logs, the parameters and the split to the rows.
        parameters: the section that ``rows`` takes.
        is_asked: tells whether a case is asked about; by default a case with questions is.
        wordings: from a case to the text of its questions.
        possible: from a case, a number of logs, the parameters and the split to rows from at most this many
            possible logs, by the probabilities of the record's events.
        submission: from a case's rows to its part of the file that the benchmark's server takes, a JSON list.
        declared: the unit that counts a generated profile, and the number that the profile's data declare.
    """

    logger: Logger
    rows: Callable[[Case, Logs, Any, str], Iterable[Row]]
    parameters: Section = NO_SECTION
    is_asked: Callable[[Case], bool] = lambda case: bool(case.questions)
    wordings: Callable[[Case], Iterable[Wording]] = lambda case: ()
    possible: Callable[[Case, int, Any, str], Iterable[Row]] | None = None
    submission: Callable[[Iterable[Row]], Any] | None = None
    declared: Mapping[Literal["logs", "answers"], Callable[[Any], int]] = field(default_factory=dict)

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys of `params.yaml` that its answers depend on."""
        return self.parameters.keys

    def logs(self, case: Case, parameters: Any) -> list[EventLog]:
        """The logs of a case."""
        return [named.log for named in self.logger.logs(case, parameters)]


@dataclass(frozen=True, kw_only=True)
class Explained(Interpreted):
    """A benchmark whose answers have reasons: it says what is asked (:class:`Benchmark`), what answers
    (:class:`Interpreted`), and, here, how an answer is shown.

    Attributes:
        explain: explains the answer to a question of a subset (or "") and a case; ``None`` if there
            is no such question.
        picture: draws the subject of an answer, given its case, its explanation and its row.
        examples: the kinds of questions with a worked example in the report: a title, and the subset.
        exhibits: sections of the report that it contributes.
        pages: pages of its scenes in the report.
        worked: the number of wrong answers whose steps the report shows.
    """

    explain: Callable[[Case, Logs, Any, str, str], Explanation | None]
    picture: Callable[[Case, Explanation, Row], Pictured]
    examples: Mapping[str, str] = field(default_factory=dict)
    exhibits: tuple[Exhibit, ...] = ()
    pages: tuple[ScenePages, ...] = ()
    worked: int = 240


def per_choice(benchmark: str, *subsets: str) -> tuple[str, ...]:
    """Return the names of multiple-choice numbers: per question and per option for each subset.

    >>> per_choice("clevrer", "predictive")
    ('clevrer/predictive/per_question', 'clevrer/predictive/per_option')
    """
    metrics = ("per_question", "per_option")
    return tuple(f"{benchmark}/{subset}/{metric}" for subset in subsets for metric in metrics)


def asked_scenes(
    there: Collection[Any], questioned: Collection[Any], files: Files, input_: Path, only: Only, unasked: bool
) -> Collection[Any]:
    """Return the scenes of an input to read, in order: scenes with questions, or all wanted scenes.

    Args:
        there: the scenes that the input has.
        questioned: the scenes that questions ask about, ascending.
        files: the input files; ``questions`` is the file of questions.
        input_: the file or folder of the scenes.
        only: the scenes to take.
        unasked: whether scenes without questions count too.

    Raises:
        FormatError: a question's scene does not exist.
    """
    wanted = chosen(questioned, only)
    if missing := sorted(scene for scene in wanted if scene not in there):
        more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
        what = f"asks about scene {missing[0]}{more}, which {input_} lacks"
        hint = "Give the scenes that are asked about, or leave their questions out"
        raise FormatError(what, where=(files.get("questions", input_),), hint=hint)
    return chosen(there, only) if unasked else wanted


def chosen(scenes: Collection[T], only: Only) -> Collection[T]:
    """Return the wanted scenes in order."""
    return scenes if only is None else [scene for scene in scenes if scene in only]


def named_rows(name: str, rows: Callable[..., Iterable[Row]], *given: Any) -> list[Row]:
    """Return the rows of another benchmark's function, under this benchmark's name."""
    return [msgspec.structs.replace(row, benchmark=name) for row in rows(*given)]
