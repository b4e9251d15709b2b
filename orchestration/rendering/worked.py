"""Worked explanations: one question of each kind, chosen by rule, with its steps and a picture of its events."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, groupby, islice
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from orchestration.benchmarks import babi, clevrer, gqa
from orchestration.lineage.explain import Input, explain_answer
from orchestration.rendering.timelines import Boxes, Timeline, scene_boxes, scene_timeline, story_timeline
from orchestration.workspace import Workspace
from substrate.domains.babi.format import read_tasks
from substrate.domains.clevrer.scene import Scene
from substrate.domains.comphy.scene import TargetScene
from substrate.domains.gqa.format import read_scene_graphs
from substrate.log import EventLog
from substrate.rows import Row, decode

_ENOUGH = 3
_LOOKED_AT = 40


class Step(NamedTuple):
    """A step of a program: its token, what it took and gave, and the deltas behind that."""

    token: str
    took: str
    gave: str
    evidence: list[str]


class Part(NamedTuple):
    """A program's run: the choice it is for (empty for an open question), its steps, what was predicted and
    expected of it.
    """

    title: str
    steps: list[Step]
    predicted: str
    expected: str | None


class Worked(NamedTuple):
    """One explained question of a kind."""

    kind: str
    name: str
    question: str
    row: Row
    parts: list[Part]
    picture: Timeline | Boxes
    story: Sequence[tuple[int, str, bool]] = ()
    """Tick, sentence, and whether the answer rests on it; of a told story only."""

    @property
    def wrong(self) -> int:
        """In how many of its programs what was predicted is not what was expected."""
        return sum(part.predicted != part.expected for part in self.parts)


class Kind(NamedTuple):
    """A kind of question: where its rows are, how one is shown, and which of them makes an example."""

    title: str
    benchmark: str
    subset: str
    show: Callable[[Workspace, Kind, Row], Worked]
    telling: Callable[[Worked], bool]


def worked_examples(workspace: Workspace) -> Iterator[Worked]:
    """An example of each kind that this run has answers of: among the first of its rows the first that is
    telling, else the first.
    """
    for kind in KINDS:
        rows = islice(_rows(workspace.artifacts / kind.benchmark / "answers.jsonl", kind.subset), _LOOKED_AT)
        examples = [kind.show(workspace, kind, row) for row in islice(rows, 1)]
        examples += islice(
            (
                e
                for e in chain(examples, (kind.show(workspace, kind, row) for row in rows))
                if kind.telling(e)
            ),
            1,
        )
        yield from examples[-1:]


def _rows(answers: Path, subset: str) -> Iterator[Row]:
    """The rows of a subset that have an answer, in the file's order."""
    with answers.open("rb") as lines:
        yield from (row for row in map(decode, lines) if row.subset == subset and row.error is msgspec.UNSET)


def _scene_log(workspace: Workspace, row: Row) -> EventLog:
    return EventLog.read(workspace.artifacts / row.benchmark / "logs" / clevrer.log_name(int(row.scene)))


def _explained(workspace: Workspace, name: str) -> Mapping[str, Any]:
    return explain_answer(name, Input(opened=workspace)).record


def _show_scene(view: Callable[[EventLog], Scene]) -> Callable[[Workspace, Kind, Row], Worked]:
    def show(workspace: Workspace, kind: Kind, row: Row) -> Worked:
        name = f"{row.benchmark}/{row.scene}/{row.question}"
        record = _explained(workspace, name)
        explanations = record["explanations"]
        choices = list(row.choices or ())
        titles = [e["part"] for e in explanations] if choices else [""]
        answers = [(c.predicted, c.expected) for c in choices] or [(row.predicted, row.expected)]
        parts = [
            Part(title, _told_once(map(_step, e["steps"])), *answer)
            for title, e, answer in zip(titles, explanations, answers, strict=True)
        ]
        return Worked(
            kind.title,
            name,
            record["question"],
            row,
            parts,
            scene_timeline(view(_scene_log(workspace, row)), explanations),
        )

    return show


def _step(step: Mapping[str, Any]) -> Step:
    return Step(
        step["token"], _clipped(", ".join(step["took"])), _clipped(step["gave"]), _deltas(step["evidence"])
    )


def _deltas(evidence: Iterable[Mapping[str, Any]]) -> list[str]:
    """Deltas in words, those of one tick on one subject as one line."""
    split = [(f"tick {e['tick']} {e['op']}", *brief(e["triple"]).split(" ", 1)) for e in evidence]
    return [
        f"{when} {subject} {'; '.join(said for *_, said in group)}"
        for (when, subject), group in groupby(split, lambda delta: delta[:2])
    ]


def _told_once(steps: Iterable[Step]) -> list[Step]:
    """The steps, where one rests on the same deltas as an earlier one with a word of that instead of them."""
    kept: list[Step] = []
    for step in steps:
        earlier = next(
            (number for number, before in enumerate(kept) if before.evidence == step.evidence), None
        )
        kept.append(
            step
            if earlier is None or not step.evidence
            else step._replace(evidence=[f"the deltas of step {earlier}"])
        )
    return kept


def _clipped(text: str, most: int = 160) -> str:
    return text if len(text) <= most else f"{text[:most].rsplit(' ', 1)[0]} …"


def brief(triple: str) -> str:
    """A triple for a reader: no namespaces, no datatypes.

    >>> brief('<urn:clevrer:7:object:1> <urn:substrate:clevrer:number> "1"^^<http://www.w3.org/2001/XMLSchema#integer>')
    'object:1 number 1'
    """
    triple = re.sub(r'"([^"]*)"(\^\^<[^>]*>)?', r"\1", triple).replace(
        "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>", "a"
    )
    return re.sub(r"<urn:(?:substrate:)?\w+:(?:\d+:)?([^>]*)>", r"\1", triple)


def _show_story(workspace: Workspace, kind: Kind, row: Row) -> Worked:
    name = f"babi/{row.subset}/{row.scene}/{row.question}"
    record = _explained(workspace, name)
    story = next(
        s for s in read_tasks(workspace.data / "babi") if s.subset == row.subset and s.scene == row.scene
    )
    (part,) = record["parts"]
    used = {e["tick"] for step in part["steps"] for e in step["evidence"]}
    told = [(line.id, line.text, line.id in used) for line in story.statements if line.id < int(row.question)]
    steps = [
        Step(step["name"], ", ".join(step["took"]), step["gave"], _deltas(step["evidence"]))
        for step in part["steps"]
    ]
    log = EventLog.read(workspace.artifacts / "babi" / "logs" / babi.log_name(story))
    return Worked(
        kind.title,
        name,
        record["question"],
        row,
        [Part("", steps, row.predicted, row.expected)],
        story_timeline(log, told),
        told,
    )


def _show_image(workspace: Workspace, kind: Kind, row: Row) -> Worked:
    name = f"gqa/{row.subset}/{row.scene}/{row.question}"
    record = _explained(workspace, name)
    graph = read_scene_graphs(gqa.scene_graphs_of(workspace.data / "gqa"))[str(row.scene)]
    steps = _told_once(map(_image_step, record["steps"]))
    used = {
        found
        for step in record["steps"]
        for ground in step["grounds"]
        for found in re.findall(rf"<urn:gqa:{re.escape(str(row.scene))}:(\w+)>", ground["triple"])
    }
    return Worked(
        kind.title,
        name,
        record["question"],
        row,
        [Part("", steps, row.predicted, row.expected)],
        scene_boxes(graph, used),
    )


def _image_step(step: Mapping[str, Any]) -> Step:
    deltas = [f"tick {g['tick']} {brief(g['triple'])}" for g in step["grounds"]] + [
        f"not there: {brief(pattern)}" for pattern in step["missed"]
    ]
    took = ", ".join(filter(None, [step["argument"], *(f"step {number}" for number in step["dependencies"])]))
    return Step(step["operation"], took, step["result"], deltas)


def _eventful(example: Worked) -> bool:
    return example.picture.singled_out >= _ENOUGH


def _filmed(example: Worked) -> bool:
    """Whether a step found something by what a reference video showed."""
    return any(
        " video " in delta
        for part in example.parts
        for step in part.steps
        if step.gave != "[]"
        for delta in step.evidence
    )


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
