"""From an answer's name to its explanation, in a profile or in a user's own files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from orchestration.benchmarks.benchmark import Case, Explained, Files, Interpreted, Source
from orchestration.project import open_workspace
from orchestration.registry import EXPLAINED
from orchestration.settings import parameters_of
from orchestration.workspace.folders import Workspace
from orchestration.workspace.named import files_of
from substrate.base.errors import ParameterError
from substrate.cause.explanation import Explanation
from substrate.domains.rows import Row


class Input(NamedTuple):
    """The place where the answer was computed: a profile, or a user's own files by what they are."""

    profile: str | None = None
    overrides: tuple[str, ...] = ()
    files: Files = MappingProxyType({})
    opened: Workspace | None = None
    """The profile's workspace, where it is open already."""

    @property
    def workspace(self) -> Workspace:
        """The profile's workspace."""
        return self.opened or open_workspace(self.profile, self.overrides)

    def parameters(self, benchmark: Interpreted) -> Any:
        """A benchmark's parameters: the profile's, or the defaults with what was set."""
        if not self.files:
            return benchmark.parameters.of(self.workspace.settings)
        return parameters_of(benchmark.parameters, self.overrides)


def explain_answer(answer: str, given: Input) -> Explanation:
    """Explain the answer of a name such as ``clevrer/10000/12``.

    Raises:
        ParameterError: the name is not of its benchmark's form, or there is no such question.
    """
    benchmark = EXPLAINED.get(answer.partition("/")[0])
    if benchmark is None:
        forms = ", or ".join(one.form for one in EXPLAINED.values())
        raise ParameterError(f"no answer is named {answer!r}", hint=f"Write {forms}")
    subset, scene, question = benchmark.parse_answer(answer)
    case = case_of(benchmark.source, given, scene)
    if case is not None and case.questions:
        for found in _explanations(benchmark, case, given.parameters(benchmark), [(subset, question)]):
            if found is not None:
                return found
    hint = f"Write {benchmark.form} of a question that is there"
    raise ParameterError(f"no question is named {answer!r}", hint=hint)


class ExplainedRow(NamedTuple):
    """A row's answer with its reasons, and the case that it is about."""

    name: str
    row: Row
    case: Case
    explanation: Explanation


def explain_rows(workspace: Workspace, benchmark: Explained, rows: Iterable[Row]) -> Iterator[ExplainedRow]:
    """Explain the answers of some rows of a profile, scene by scene.

    The input is read once for all of them, and the logs of a scene are built once. A row that has no
    explanation is left out.
    """
    asked: dict[str, list[Row]] = {}
    for row in rows:
        asked.setdefault(str(row.scene), []).append(row)
    files = files_of(workspace, benchmark.source)
    if not (asked and files):
        return
    parameters = benchmark.parameters.of(workspace.settings)
    scenes = {name for scene in asked for name in _names(scene)}
    for case in benchmark.source.cases(files, scenes, False).each:
        of_case = asked[str(case.scene)]
        questions = [(row.subset, benchmark.asked(row)) for row in of_case]
        explanations = _explanations(benchmark, case, parameters, questions)
        for row, why in zip(of_case, explanations, strict=True):
            if why is not None:
                yield ExplainedRow(benchmark.answer_name(row), row, case, why)


def _explanations(
    benchmark: Explained, case: Case, parameters: Any, questions: Iterable[tuple[str, str]]
) -> Iterator[Explanation | None]:
    """Why some subsets and questions of a case have the answers that they have."""
    logs = [named.log for named in benchmark.logs(case, parameters)]
    for subset, question in questions:
        yield benchmark.explain(case, logs, parameters, subset, question)


def case_of(source: Source, given: Input, scene: str) -> Case | None:
    """The case of a scene, as an answer's name has it; ``None`` where there is none."""
    files = given.files or _data(source, given.workspace)
    return next(source.cases(files, _names(scene), True).each, None) if files else None


def _names(scene: str) -> set[str | int]:
    """The names that a benchmark may give a scene: some have numbers, others names of digits."""
    return {scene, int(scene)} if scene.isdecimal() else {scene}


def _data(source: Source, workspace: Workspace) -> Files:
    folder = workspace.data / source.name
    if not folder.is_dir():
        name, profile = source.name, workspace.settings.profile
        hint = (
            f"Make it with substrate reproduce --profile {profile} --only {name}, or name files of your own"
        )
        raise ParameterError(f"profile {profile} has no data of {name}", where=(folder,), hint=hint)
    return source.files(folder)


def files_given(options: Mapping[str, Path | None]) -> dict[str, Path]:
    """The files that a user named, of all that could be."""
    return {name: path for name, path in options.items() if path is not None}
