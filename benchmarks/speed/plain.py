"""bAbI and GQA beside the simplest code that answers the same: regular expressions, and dictionaries.

The peers keep no log, explain nothing and refuse nothing. They answer the kinds of questions that they were
written for; each bench first compares their answers with ours.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import msgspec

from benchmarks.speed.measure import Bench, Pair
from substrate.domains.babi.answers import answer_story
from substrate.domains.babi.deltas import story_log
from substrate.domains.babi.format import parse_stories
from substrate.domains.gqa.answers import answer_scene
from substrate.domains.gqa.deltas import scene_log
from substrate.domains.gqa.format import Question, decode_scene_graph
from substrate.domains.gqa.scene import Scene
from substrate.generators.babi import tell_task
from substrate.generators.gqa import AMBIGUOUS, QUESTIONS_PER_SCENE, sample

_TASKS = ("qa1", "qa2")
_GOES = re.compile(r"(\w+) (?:moved|went|went back|journeyed|travelled) to the (\w+)\.")
_TAKES = re.compile(r"(\w+) (?:got|grabbed|took|picked up) the (\w+)(?: there)?\.")
_DROPS = re.compile(r"(\w+) (?:dropped|put down|discarded|left) the (\w+)(?: there)?\.")
_WHERE = re.compile(r"Where is (?:the )?(\w+)\? *\t")


def by_regex(text: str) -> list[str]:
    """The answers to a task's questions: who is where, who has what, in two dictionaries."""
    at: dict[str, str] = {}
    held: dict[str, str] = {}
    answers: list[str] = []
    for line in text.splitlines():
        number, sentence = line.split(" ", 1)
        if number == "1":
            at, held = {}, {}
        if match := _WHERE.match(sentence):
            thing = match[1]
            answers.append(at[held.get(thing, thing)])
        elif match := _GOES.match(sentence):
            at[match[1]] = match[2]
        elif match := _TAKES.match(sentence):
            held[match[2]] = match[1]
        elif match := _DROPS.match(sentence):
            held.pop(match[2], None)
            if match[1] in at:
                at[match[2]] = at[match[1]]
    return answers


@contextmanager
def stories(size: int) -> Iterator[Pair]:
    """Questions of two tasks, from text to rows, beside regular expressions and two dictionaries."""
    texts = [(task, tell_task(task, questions=max(1, size // len(_TASKS)), seed=20)) for task in _TASKS]

    def ours() -> list[str]:
        return [
            row.predicted
            for task, text in texts
            for story in parse_stories(text, file=f"{task}.txt", subset=task)
            for row in answer_story(story, story_log(story), "")
        ]

    def theirs() -> list[str]:
        return [answer for _, text in texts for answer in by_regex(text)]

    assert ours() == theirs()
    yield Pair(ours, theirs)


_Node = Mapping[str, Any]
_IDS = re.compile(r"\(([\d,]+)\)")
_SKIPPED = ("hposition", "vposition", "weather", "location", "name")


def by_dictionary(graph: Mapping[str, Any], steps: Sequence[Mapping[str, Any]]) -> str:
    """The answer of a program by the ids it carries: lists of ids on a stack, attributes in a dictionary."""
    objects: Mapping[str, _Node] = graph["objects"]
    results: list[Any] = []
    for step in steps:
        operation, argument = step["operation"].split(" ")[0], step["argument"]
        given = [results[place] for place in step["dependencies"]]
        if operation == "select":
            ids = _IDS.search(argument)
            results.append(
                [object_id for object_id in (ids[1].split(",") if ids else ()) if object_id in objects]
            )
        elif operation == "filter":
            results.append([object_id for object_id in given[0] if _has(objects[object_id], argument)])
        elif operation == "exist":
            results.append(bool(given[0]))
        elif operation == "verify":
            results.append(any(_has(objects[object_id], argument) for object_id in given[0]))
        elif operation == "choose":
            options = argument.split("|")
            results.append(
                next(o for o in options if any(_has(objects[object_id], o) for object_id in given[0]))
            )
        else:
            results.append(all(given) if operation == "and" else any(given))
    last = results[-1]
    return last if isinstance(last, str) else "yes" if last else "no"


def _has(node: _Node, attribute: str) -> bool:
    """Tell whether a value, perhaps negated as "not(red)", is among an object's attributes."""
    value = attribute.strip()
    if value.startswith("not("):
        return value[4:-1].strip() not in node["attributes"]
    return value in node["attributes"]


def _simple(question: Mapping[str, Any]) -> bool:
    """Tell whether the plain interpreter was written for a question's program."""
    for step in question["semantic"]:
        operation, _, family = step["operation"].partition(" ")
        if operation not in ("select", "filter", "exist", "verify", "choose", "and", "or"):
            return False
        if family in (*_SKIPPED, "rel") or family.endswith("er") or "scene" in step["argument"]:
            return False
        if operation == "select" and not _IDS.search(step["argument"]):
            return False
    return True


@contextmanager
def images(size: int) -> Iterator[Pair]:
    """Images of scene graphs, from JSON to answers by id, beside a dictionary and a stack."""
    cases: list[tuple[str, bytes, bytes]] = []
    for number in range(size):
        drawn = sample(number, seed=20, questions=QUESTIONS_PER_SCENE, ambiguous=AMBIGUOUS)
        questions = msgspec.json.decode(msgspec.json.encode(drawn.questions))
        simple = {name: question for name, question in questions.items() if _simple(question)}
        cases.append((drawn.image_id, msgspec.json.encode(drawn.graph), msgspec.json.encode(simple)))

    def ours() -> list[str]:
        answers: list[str] = []
        for image, graph, encoded in cases:
            questions = msgspec.json.decode(encoded, type=dict[str, Question])
            scene = Scene(image, scene_log(image, decode_scene_graph("graphs", image, graph)))
            answers += [row.predicted for row in answer_scene(scene, questions, "", resolve="id")]
        return answers

    def theirs() -> list[str]:
        answers: list[str] = []
        for _, graph, encoded in cases:
            read = msgspec.json.decode(graph)
            questions = msgspec.json.decode(encoded)
            answers += [by_dictionary(read, questions[name]["semantic"]) for name in sorted(questions)]
        return answers

    assert sorted(ours()) == sorted(theirs())
    yield Pair(ours, theirs)


PLAIN = {
    "babi": Bench("bAbI, text to rows", "regular expressions", (100, 1_000), stories),
    "gqa": Bench("GQA, graphs to rows", "a dictionary and a stack", (10, 40), images),
}
"""Benches of bAbI and GQA by name."""
