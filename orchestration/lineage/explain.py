"""From an answer's name to its explanation, in a profile or in a user's own files.

`substrate/cause/explanation.py` has the explanation's form and words; `orchestration/lineage/answer.py` leads
from an answer to its row, log and triples.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from orchestration.base.templates import text_template
from orchestration.benchmarks.benchmark import Case, Explained, Files, Logs, Source, belongs
from orchestration.registry import EXPLAINED
from orchestration.settings import parameters_of
from orchestration.workspace.dataset_files import files_of
from orchestration.workspace.folders import Workspace
from substrate.base.errors import ParameterError
from substrate.cause.explanation import OWN, Explanation
from substrate.domains.rows import Row

# The lines of an explanation in short.
_MOST = 15
# Makes something of a case, given its logs, its benchmark's parameters and a split; picklable.
Work = Callable[[Case, Logs, Any, str], Iterable[Any]]
RowsByScene = Mapping[str, Sequence[Row]]
# Yields the results of some work on a benchmark's scenes, in order; a tuple may arrive as a list.
Each = Callable[[Explained, Collection[str], Work], Iterator[Any]]


class OwnFiles(NamedTuple):
    """A user's own files by role, with overrides of the default parameters."""

    files: Files
    overrides: tuple[str, ...] = ()


# The data behind an answer: those of a profile, or a user's own files.
Input = Workspace | OwnFiles


class Answered(NamedTuple):
    """An explanation and the row of its answer, which has the gold; ``None`` if there is no row."""

    explanation: Explanation
    row: Row | None

    def record(self) -> dict[str, Any]:
        """The explanation with the gold, as JSON data."""
        row = self.row
        graded = {} if row is None else {"expected": row.expected, "correct": row.correct}
        return self.explanation.record() | graded

    def text(self) -> str:
        """At most 15 lines: the deciding rule, the answer and the gold, and the decisive premises."""
        why, row = self.explanation, self.row
        choices = {choice.choice: choice for choice in (row and row.choices) or ()}
        parts = [(part, choices[int(part.title.rpartition(" ")[2])]) for part in why.parts if choices]
        failed = [part for part, choice in parts if choice.expected not in (None, choice.predicted)]
        decisive = (failed or why.parts)[0]
        about = {"why": why, "row": row, "parts": parts, "failed": failed, "decisive": decisive}
        return text_template(__file__, "answered.txt.j2").render(about, log=why.logs[OWN], most=_MOST)


def answered(answer: str, given: Input) -> Answered:
    """Explain the answer of a name such as ``BENCHMARK/10000/12``, with its row.

    Raises:
        ParameterError: the name is not of its benchmark's form, or there is no such question.
    """
    if (benchmark := EXPLAINED.get(answer.partition("/")[0])) is None:
        forms = ", or ".join(benchmark.form for benchmark in EXPLAINED.values())
        raise ParameterError(f"no answer is named {answer!r}", hint=f"Write {forms}")
    subset, scene, question = benchmark.parse_answer(answer)
    case = case_of(benchmark.source, given, scene)
    if case and case.questions:
        if isinstance(given, OwnFiles):
            parameters = parameters_of(benchmark.parameters, given.overrides)
        else:
            parameters = benchmark.parameters.of(given.settings)
        logs = benchmark.logs(case, parameters)
        if why := benchmark.explain(case, logs, parameters, subset, question):
            rows = benchmark.rows(case, logs, parameters, "")
            fits = (row for row in rows if benchmark.asked(row) == question and subset in ("", row.subset))
            return Answered(why, next(fits, None))
    hint = f"Write {benchmark.form} of a question that is there"
    raise ParameterError(f"no question is named {answer!r}", hint=hint)


class ExplainedRow(NamedTuple):
    """A row, the explanation of its answer, and its case."""

    row: Row
    case: Case
    explanation: Explanation


def by_scene(rows: Iterable[Row]) -> dict[str, list[Row]]:
    """Group rows by scene."""
    rows_by_scene: dict[str, list[Row]] = {}
    for row in rows:
        rows_by_scene.setdefault(str(row.scene), []).append(row)
    return rows_by_scene


def explain_case(
    benchmark: Explained, rows: RowsByScene, case: Case, logs: Logs, parameters: Any, _: str = ""
) -> Iterator[ExplainedRow]:
    """Explain the answers of a case's rows; skip rows without an explanation.

    Args:
        rows: the rows to explain, by scene.
    """
    for row in rows[str(case.scene)]:
        why = benchmark.explain(case, logs, parameters, row.subset, benchmark.asked(row))
        if why is not None:
            yield ExplainedRow(row, case, why)


def each_here(
    workspace: Workspace, benchmark: Explained, scenes: Collection[str], work: Work
) -> Iterator[Any]:
    """Run :data:`Each` in this process: the input is read once, and a scene's logs are built once."""
    files = files_of(workspace, benchmark.source)
    if not (scenes and files):
        return
    parameters = benchmark.parameters.of(workspace.settings)
    names = {name for scene in scenes for name in _names(scene)}
    for case in benchmark.source.cases(files, names, False).each:
        logs = benchmark.logs(case, parameters)
        yield from work(case, logs, parameters, "")


def case_of(source: Source, given: Input, scene: str) -> Case | None:
    """The case of a scene, by the scene's name in answers; ``None`` if there is none.

    Raises:
        ParameterError: the profile has no data of the source.
    """
    if isinstance(given, OwnFiles):
        files = given.files
    else:
        folder = given.data / source.name
        if not folder.is_dir():
            profile = given.settings.profile
            profile = profile if belongs(source.profiles, profile) else next(iter(source.profiles), profile)
            made = f"substrate reproduce --profile {profile} --only {source.name}"
            hint = f"Make it with {made}, or name files of your own"
            what = f"profile {profile} has no data of {source.name}"
            raise ParameterError(what, where=(folder,), hint=hint)
        files = source.files(folder)
    return next(source.cases(files, _names(scene), True).each, None) if files else None


def _names(scene: str) -> set[str | int]:
    """The names that a benchmark may give a scene: a number, or the same digits as text."""
    return {scene, int(scene)} if scene.isdecimal() else {scene}
