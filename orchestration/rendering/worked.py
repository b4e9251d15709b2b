"""Explained answers with a picture of what they are about; of each kind of question one, chosen by rule."""

from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import msgspec

from orchestration.benchmarks.benchmark import Explained
from orchestration.lineage.explain import explain_rows
from orchestration.registry import EXPLAINED
from orchestration.scoring.counting import rows_of
from orchestration.workspace.folders import Workspace
from substrate.cause.explanation import OWN, Explanation
from substrate.cause.pictures import Boxes, Timeline, Told
from substrate.domains.rows import ChoiceRow, Row

_LOOKED_AT = 40


class Worked(NamedTuple):
    """An explained answer with its picture."""

    name: str
    explanation: Explanation
    row: Row
    picture: Timeline | Boxes
    story: Told
    telling: bool

    @property
    def wrong(self) -> list[ChoiceRow]:
        """The choices of which something else was predicted than expected."""
        return [choice for choice in self.row.choices or () if choice.predicted != choice.expected]

    @property
    def fits(self) -> bool:
        """Tell whether the explanation is of the log that the answer was computed from."""
        return self.explanation.logs[OWN].digest == self.row.log


def worked_examples(workspace: Workspace) -> Iterator[tuple[str, Worked]]:
    """An example of each kind that this run has answers of, behind the kind's title."""
    for benchmark in EXPLAINED.values():
        file = workspace.artifacts / benchmark.name / "answers.jsonl"
        for shown in benchmark.examples:
            if example := _example(workspace, benchmark, file, shown.subset):
                yield shown.title, example


def _example(workspace: Workspace, benchmark: Explained, file: Path, subset: str) -> Worked | None:
    """Among the first answered rows of a subset the first that is telling, else the first."""
    answered = (row for row in rows_of(file) if row.subset == subset and row.error is msgspec.UNSET)
    first: Worked | None = None
    for example in work(workspace, benchmark, islice(answered, _LOOKED_AT)):
        if example.telling:
            return example
        first = first or example
    return first


def work(workspace: Workspace, benchmark: Explained, rows: Iterable[Row]) -> Iterator[Worked]:
    """The answers of some rows explained and pictured, scene by scene."""
    for name, row, case, why in explain_rows(workspace, benchmark, rows):
        yield Worked(name, why, row, *benchmark.picture(case, why, row))
