"""Worked explanations: a question of each kind, chosen by rule, with its steps and a picture."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import msgspec
from pyoxigraph import NamedNode

from orchestration.benchmarks.benchmark import Benchmark, Case, Shown
from orchestration.lineage.explain import EXPLAINED, Input, case_of, explain_answer
from orchestration.rendering.timelines import Boxes, Timeline, image_boxes, scene_timeline, story_timeline
from orchestration.workspace import Workspace
from substrate.domains.babi.format import Story
from substrate.domains.clevrer.scene import Scene
from substrate.domains.comphy.deltas import NAMESPACE
from substrate.domains.comphy.scene import TargetScene
from substrate.domains.gqa.deltas import object_iri
from substrate.domains.gqa.format import decode_scene_graph
from substrate.explanation import OWN, Explanation
from substrate.rows import ChoiceRow, Row, decode

_ENOUGH = 3
_LOOKED_AT = 40
Told = Sequence[tuple[int, str, bool]]
"""Tick, sentence, and whether the answer rests on it."""


class Pictured(NamedTuple):
    """A picture of what an answer is about, and the story where it was told in words."""

    picture: Timeline | Boxes
    story: Told = ()


class Worked(NamedTuple):
    """One explained question of a kind."""

    kind: str
    name: str
    explanation: Explanation
    row: Row
    picture: Timeline | Boxes
    story: Told

    @property
    def wrong(self) -> list[ChoiceRow]:
        """The choices of which something else was predicted than expected."""
        return [choice for choice in self.row.choices or () if choice.predicted != choice.expected]


def worked_examples(workspace: Workspace) -> Iterator[Worked]:
    """An example of each kind that this run has answers of, sorted by the kinds' titles."""
    kinds = [(benchmark, shown) for benchmark in EXPLAINED.values() for shown in benchmark.shown]
    for benchmark, shown in kinds:
        example = _example(workspace, benchmark, shown)
        if example:
            yield example


def _example(workspace: Workspace, benchmark: Benchmark, shown: Shown) -> Worked | None:
    """Among the first rows of a kind the first that is telling, else the first."""
    first: Worked | None = None
    picture, telling = PICTURES[shown.picture]
    for row in islice(
        _rows(workspace.artifacts / benchmark.name / "answers.jsonl", shown.subset), _LOOKED_AT
    ):
        name, given = benchmark.answer_name(row), Input(opened=workspace)
        case, why = case_of(benchmark, given, str(row.scene)), explain_answer(name, given)
        assert case
        example = Worked(shown.title, name, why, row, *picture(case, why, row))
        if telling(example):
            return example
        first = first or example
    return first


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


def _eventful(example: Worked) -> bool:
    return example.picture.singled_out >= _ENOUGH


_VIDEO = NamedNode(f"{NAMESPACE}video")


def _filmed(example: Worked) -> bool:
    """Whether a step found something by what a reference video showed."""
    why = example.explanation
    found = (step for part in why.parts for step in part.steps if step.about)
    return any(why.delta(piece).triple[1] == _VIDEO for step in found for piece in step.evidence)


Picture = Callable[[Case, Explanation, Row], Pictured]
PICTURES: Mapping[str, tuple[Picture, Callable[[Worked], bool]]] = {
    "scene": (_picture_scene, _eventful),
    "target": (_picture_target, _filmed),
    "story": (_picture_story, _eventful),
    "image": (_picture_image, _eventful),
}
"""How a kind of question is pictured, and what makes an example of it telling."""
