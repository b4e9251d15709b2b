"""Worked explanations: a question of each kind, chosen by rule, with its steps and a picture."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import msgspec
from pyoxigraph import NamedNode

from orchestration.benchmarks import gqa
from orchestration.lineage.explain import Input, explain_answer
from orchestration.rendering.timelines import Boxes, Timeline, scene_boxes, scene_timeline, story_timeline
from orchestration.workspace import Workspace
from substrate.domains.babi.format import read_tasks
from substrate.domains.clevrer.scene import Scene
from substrate.domains.comphy.deltas import NAMESPACE
from substrate.domains.comphy.scene import TargetScene
from substrate.domains.gqa.deltas import object_iri
from substrate.domains.gqa.format import read_scene_graphs
from substrate.explanation import OWN, Explanation
from substrate.log import EventLog
from substrate.rows import ChoiceRow, Row, decode

_ENOUGH = 3
_LOOKED_AT = 40


class Worked(NamedTuple):
    """One explained question of a kind."""

    kind: str
    name: str
    explanation: Explanation
    row: Row
    picture: Timeline | Boxes
    story: Sequence[tuple[int, str, bool]] = ()
    """Tick, sentence, and whether the answer rests on it; of a told story only."""

    @property
    def wrong(self) -> list[ChoiceRow]:
        """The choices of which something else was predicted than expected."""
        return [choice for choice in self.row.choices or () if choice.predicted != choice.expected]


class Kind(NamedTuple):
    """A kind of question: where its rows are, how one is shown, and which of them makes an example."""

    title: str
    benchmark: str
    subset: str
    show: Callable[[Workspace, Kind, Row], Worked]
    telling: Callable[[Worked], bool]


def worked_examples(workspace: Workspace) -> Iterator[Worked]:
    """An example of each kind that this run has answers of."""
    for kind in KINDS:
        example = _example(workspace, kind)
        if example:
            yield example


def _example(workspace: Workspace, kind: Kind) -> Worked | None:
    """Among the first rows of a kind the first that is telling, else the first."""
    first: Worked | None = None
    rows = _rows(workspace.artifacts / kind.benchmark / "answers.jsonl", kind.subset)
    for row in islice(rows, _LOOKED_AT):
        example = kind.show(workspace, kind, row)
        if kind.telling(example):
            return example
        first = first or example
    return first


def _rows(answers: Path, subset: str) -> Iterator[Row]:
    """The rows of a subset that have an answer, in the file's order."""
    with answers.open("rb") as lines:
        yield from (row for row in map(decode, lines) if row.subset == subset and row.error is msgspec.UNSET)


def _explained(workspace: Workspace, name: str) -> Explanation:
    return explain_answer(name, Input(opened=workspace))


def _show_scene(view: Callable[[EventLog], Scene]) -> Callable[[Workspace, Kind, Row], Worked]:
    def show(workspace: Workspace, kind: Kind, row: Row) -> Worked:
        name = f"{row.benchmark}/{row.scene}/{row.question}"
        why = _explained(workspace, name)
        return Worked(kind.title, name, why, row, scene_timeline(view(why.logs[OWN]), why))

    return show


def _show_story(workspace: Workspace, kind: Kind, row: Row) -> Worked:
    name = f"babi/{row.subset}/{row.scene}/{row.question}"
    why = _explained(workspace, name)
    stories = read_tasks(workspace.data / "babi")
    story = next(s for s in stories if s.subset == row.subset and s.scene == row.scene)
    log = why.logs[OWN]
    used = {log[position].tick for position in why.evidence()}
    told = [(line.id, line.text, line.id in used) for line in story.statements if line.id < int(row.question)]
    return Worked(kind.title, name, why, row, story_timeline(log, told), told)


def _show_image(workspace: Workspace, kind: Kind, row: Row) -> Worked:
    name = f"gqa/{row.subset}/{row.scene}/{row.question}"
    why = _explained(workspace, name)
    graph = read_scene_graphs(gqa.scene_graphs_of(workspace.data / "gqa"))[str(row.scene)]
    triples = [why.logs[OWN][position].triple for position in why.evidence()]
    named = {term for subject, _, value in triples for term in (subject, value)}
    used = {number for number in graph.objects if NamedNode(object_iri(str(row.scene), number)) in named}
    return Worked(kind.title, name, why, row, scene_boxes(graph, used))


def _eventful(example: Worked) -> bool:
    return example.picture.singled_out >= _ENOUGH


_VIDEO = NamedNode(f"{NAMESPACE}video")


def _filmed(example: Worked) -> bool:
    """Whether a step found something by what a reference video showed."""
    why = example.explanation
    found = (step for part in why.parts for step in part.steps if step.about)
    return any(why.delta(piece).triple[1] == _VIDEO for step in found for piece in step.evidence)


KINDS: Sequence[Kind] = (
    *(
        Kind(f"CLEVRER, {subset}", "clevrer", subset, _show_scene(Scene), _eventful)
        for subset in ("descriptive", "explanatory", "predictive", "counterfactual")
    ),
    Kind(
        "ComPhy, hidden properties inferred", "comphy_inferred", "factual", _show_scene(TargetScene), _filmed
    ),
    Kind("bAbI, three supporting facts", "babi", "qa3", _show_story, _eventful),
    Kind("GQA, objects resolved by name", "gqa", "by_name", _show_image, _eventful),
)
"""The kinds of questions, in the page's order."""
