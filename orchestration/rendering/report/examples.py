"""Worked examples: explained answers of each kind with a picture."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import msgspec

from orchestration.benchmarks.baselines import LanguageModel
from orchestration.benchmarks.benchmark import Explained
from orchestration.lineage.explain import ExplainedRow, by_scene, each_here, explain_case
from orchestration.registry import BENCHMARKS, EXPLAINED
from orchestration.rendering.report.diagrams import AskedOfBoth
from orchestration.scoring.counting import rows_of
from orchestration.workspace.folders import Workspace
from orchestration.workspace.model_requests import conversations
from substrate.cause.explanation import OWN, Explanation
from substrate.cause.pictures import Boxes, Story, Timeline
from substrate.domains.rows import ChoiceRow, Row

_LOOKED_AT = 40


class WorkedExample(NamedTuple):
    """An explained answer with its picture.

    Attributes:
        name: the answer's name.
        explanation: its steps.
        row: the answer.
        picture: its log as a timeline, or its image as boxes.
        story: the log's steps as the page tells them.
        telling: true if it shows its kind well; the first such example is shown.
    """

    name: str
    explanation: Explanation
    row: Row
    picture: Timeline | Boxes
    story: Story
    telling: bool

    @property
    def wrong(self) -> list[ChoiceRow]:
        """The choices whose predicted answer differs from the expected one."""
        return [choice for choice in self.row.choices or () if choice.predicted != choice.expected]

    @property
    def fits(self) -> bool:
        """Tell whether the explanation uses the log that the answer was computed from."""
        return self.explanation.logs[OWN].digest == self.row.log


def worked_examples(workspace: Workspace) -> Iterator[tuple[str, WorkedExample]]:
    """Yield an example of each kind that this run has answers of, each after the kind's title."""
    for benchmark in EXPLAINED.values():
        file = workspace.answers(benchmark.name)
        for title, subset in benchmark.examples.items() if file.is_file() else ():
            if example := _example(workspace, benchmark, file, subset):
                yield title, example


def _example(workspace: Workspace, benchmark: Explained, file: Path, subset: str) -> WorkedExample | None:
    """The first instructive row among a subset's first answered rows; failing that, the first row."""
    answered = (row for row in rows_of(file) if row.subset == subset and row.error is msgspec.UNSET)
    rows = by_scene(islice(answered, _LOOKED_AT))
    explained = each_here(workspace, benchmark, rows, partial(explain_case, benchmark, rows))
    examples = (pictured(benchmark, answer) for answer in explained)
    if (first := next(examples, None)) is None or first.telling:
        return first
    return next((example for example in examples if example.telling), first)


def asked_of_both(workspace: Workspace, worked: Iterable[WorkedExample]) -> AskedOfBoth | None:
    """The first worked example with a fork, and the replies of the first language model that was asked it.

    ``None`` if no example has a fork.
    """
    models = [model for model in BENCHMARKS.values() if isinstance(model, LanguageModel)]
    for example in worked:
        benchmark, scene = EXPLAINED[example.row.benchmark], str(example.row.scene)
        if not benchmark.exhibits:
            continue
        file = workspace.answers(benchmark.name)
        rows = [row for row in rows_of(file) if str(row.scene) == scene]
        explain = partial(explain_case, benchmark, {scene: rows})
        answered = list(each_here(workspace, benchmark, {scene}, explain))
        title = f"{benchmark.title}, {example.name}"
        arms, whys = [benchmark.asked(row) for row in rows], [answer.explanation for answer in answered]
        asked = (conversations(workspace, model) for model in models if model.base is benchmark)
        of_scene = ((pair for pair in pairs if str(pair[0].scene) == scene) for pairs in asked)
        replied = next(filter(None, (list(islice(pairs, len(rows))) for pairs in of_scene)), [])
        return AskedOfBoth(arms, whys, rows, title, replied)
    return None


def pictured(benchmark: Explained, answer: ExplainedRow) -> WorkedExample:
    """An explained answer with its picture."""
    row, case, why = answer
    return WorkedExample(benchmark.answer_name(row), why, row, *benchmark.picture(case, why, row))
