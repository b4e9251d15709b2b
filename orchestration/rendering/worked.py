"""Explained answers with a picture of what they are about; of each kind of question one, chosen by rule."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import msgspec
from pyoxigraph import NamedNode

from orchestration.benchmarks.benchmark import Case, Example, Explained
from orchestration.lineage.explain import explain_rows
from orchestration.registry import EXPLAINED
from orchestration.rendering.timelines import (
    Boxes,
    Timeline,
    arm_timeline,
    image_boxes,
    scene_timeline,
    story_timeline,
)
from orchestration.workspace.folders import Workspace
from substrate.cause.explanation import OWN, Explanation
from substrate.domains.babi.format import Story
from substrate.domains.clevrer.scene import Scene
from substrate.domains.comphy.deltas import NAMESPACE
from substrate.domains.comphy.scene import TargetScene
from substrate.domains.gqa.deltas import object_iri
from substrate.domains.gqa.format import decode_scene_graph
from substrate.domains.rows import ChoiceRow, Row, decode
from substrate.domains.smallville.twin import village_tbox

_ENOUGH = 3
_LOOKED_AT = 40
Told = Sequence[tuple[int, str, bool]]
"""Tick, sentence, and whether the answer rests on it."""


class Pictured(NamedTuple):
    """A picture of what an answer is about, and the story where it was told in words."""

    picture: Timeline | Boxes
    story: Told = ()


class Worked(NamedTuple):
    """An explained answer; ``picture`` is ``None`` where its benchmark has no kind of picture."""

    name: str
    explanation: Explanation
    row: Row
    picture: Timeline | Boxes | None
    story: Told

    @property
    def wrong(self) -> list[ChoiceRow]:
        """The choices of which something else was predicted than expected."""
        return [choice for choice in self.row.choices or () if choice.predicted != choice.expected]

    @property
    def fits(self) -> bool:
        """Tell whether the explanation is of the log that the answer was computed from."""
        return self.explanation.logs[OWN].digest == self.row.log

    @property
    def singled_out(self) -> int:
        """The number of things in its picture that the answer rests on."""
        return self.picture.singled_out if self.picture else 0


def worked_examples(workspace: Workspace) -> Iterator[tuple[str, Worked]]:
    """An example of each kind that this run has answers of, behind the kind's title."""
    for benchmark in EXPLAINED.values():
        for shown in benchmark.examples:
            example = _example(workspace, benchmark, shown)
            if example:
                yield shown.title, example


def _example(workspace: Workspace, benchmark: Explained, shown: Example) -> Worked | None:
    """Among the first rows of a kind the first that is telling, else the first."""
    first: Worked | None = None
    telling = PICTURES[benchmark.source.picture].telling
    answered = _rows(workspace.artifacts / benchmark.name / "answers.jsonl", shown.subset)
    for example in work(workspace, benchmark, islice(answered, _LOOKED_AT)):
        if telling(example):
            return example
        first = first or example
    return first


def work(workspace: Workspace, benchmark: Explained, rows: Iterable[Row]) -> Iterator[Worked]:
    """The answers of some rows explained and pictured, scene by scene."""
    for found in explain_rows(workspace, benchmark, rows):
        name, row, case, why = found
        picture, story = PICTURES[benchmark.source.picture].draw(case, why, row)
        yield Worked(name, why, row, picture, story)


def _rows(answers: Path, subset: str) -> Iterator[Row]:
    """The rows of a subset that have an answer, in the file's order."""
    with answers.open("rb") as lines:
        yield from (row for row in map(decode, lines) if row.subset == subset and row.error is msgspec.UNSET)


def _picture_scene(_: Case, why: Explanation, row: Row) -> Pictured:
    return Pictured(scene_timeline(Scene(why.logs[OWN]), why))


def _picture_target(_: Case, why: Explanation, row: Row) -> Pictured:
    return Pictured(scene_timeline(TargetScene(why.logs[OWN]), why))


def _picture_story(case: Case, why: Explanation, row: Row) -> Pictured:
    stories = msgspec.json.decode(case.record, type=list[Story])
    story = next(story for story in stories if story.subset == row.subset)
    log = why.logs[OWN]
    used = {log[position].tick for position in why.evidence()}
    told = [(line.id, line.text, line.id in used) for line in story.statements if line.id < int(row.question)]
    return Pictured(story_timeline(log, told), told)


def _picture_image(case: Case, why: Explanation, row: Row) -> Pictured:
    image = str(case.scene)
    graph = decode_scene_graph(case.source, image, case.record)
    triples = [why.logs[OWN][position].triple for position in why.evidence()]
    named = {term for subject, _, value in triples for term in (subject, value)}
    used = {number for number in graph.objects if NamedNode(object_iri(image, number)) in named}
    return Pictured(image_boxes(graph.width, graph.height, graph.objects, used))


def _picture_arm(_: Case, why: Explanation, row: Row) -> Pictured:
    return Pictured(arm_timeline(village_tbox(), why.logs[OWN], why.evidence()))


def _eventful(example: Worked) -> bool:
    return example.singled_out >= _ENOUGH


_VIDEO = NamedNode(f"{NAMESPACE}video")


def _filmed(example: Worked) -> bool:
    """Tell whether a step found something by what a reference video showed."""
    why = example.explanation
    found = (step for part in why.parts for step in part.steps if step.about)
    return any(why.delta(piece).triple[1] == _VIDEO for step in found for piece in step.evidence)


class Kind(NamedTuple):
    """The picture of a kind of question, and what makes an example of it telling."""

    draw: Callable[[Case, Explanation, Row], Pictured]
    telling: Callable[[Worked], bool]


PICTURES: Mapping[str, Kind] = {
    "scene": Kind(_picture_scene, _eventful),
    "target": Kind(_picture_target, _filmed),
    "story": Kind(_picture_story, _eventful),
    "image": Kind(_picture_image, _eventful),
    "arm": Kind(_picture_arm, _eventful),
}
"""By what :attr:`~orchestration.benchmarks.benchmark.Source.picture` calls them."""
