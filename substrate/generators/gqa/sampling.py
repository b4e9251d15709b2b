"""Scenes with questions, one from each seed and number, and their files."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import msgspec

from substrate.base.errors import ParameterError
from substrate.domains.gqa.format import QUESTIONS_FILE, SCENE_GRAPHS_FILE, Question, SceneGraph, Step
from substrate.generators.gqa._phrases import Phrase, Speaker
from substrate.generators.gqa._questions import TEMPLATES, Draft
from substrate.generators.gqa._things import Thing, sample_room, scene_graph
from substrate.generators.layout import Listing

QUESTIONS_PER_SCENE = 13
"""The size of the official balanced validation split: 132,062 questions on 10,234 images."""
AMBIGUOUS = 0.1
"""Share of the templates' draws that name things only by words that fit others as well."""

RECORDS = Listing(b"{", b",\n", b"}\n")
"""The layout of the official files: an object with a record a line."""


class Sample(NamedTuple):
    """A scene with its questions by id, and the structural type of each."""

    image_id: str
    graph: SceneGraph
    questions: dict[str, Question]
    types: dict[str, str]


def sample(
    number: int, *, seed: int, questions: int = QUESTIONS_PER_SCENE, ambiguous: float = AMBIGUOUS
) -> Sample:
    """The scene of a number: the same on every machine and whatever was sampled before.

    Args:
        number: number of the scene; its image id.
        seed: seed of the world.
        questions: how many questions at most, drawn evenly from the templates.
        ambiguous: share of the templates' draws that name things by words that fit others too; the gold
            is then known from the id alone.

    >>> sample(3, seed=1) == sample(3, seed=1), len(sample(3, seed=1).questions)
    (True, 13)

    Raises:
        ParameterError: a number is out of range.
    """
    if number < 0 or questions < 1 or not 0 <= ambiguous <= 1:
        given = f"number {number}, questions {questions}, ambiguous {ambiguous}"
        raise ParameterError(given, hint="Give a number from 0, at least one question, a share from 0 to 1")
    rng = Random(f"gqa:{seed}:{number}")
    room = sample_room(rng)
    ids = dict(enumerate(map(str, sorted(rng.sample(range(100_000, 1_000_000), len(room.things))))))
    speaker = Speaker(room, ids, rng)
    drawn: list[Draft] = []
    pools: list[list[Draft]] = []
    for template in TEMPLATES:
        refer = partial(_vaguely, speaker) if rng.random() < ambiguous else speaker.refer
        pool = [*template(speaker, refer)]
        rng.shuffle(pool)
        pools.append(pool)
    asked: set[tuple[str, tuple[str, ...]]] = set()
    while len(drawn) < questions and any(pools):
        for pool in pools:
            if pool and len(drawn) < questions:
                draft = pool.pop()
                key = (draft.words, tuple(step.argument for step in draft.steps))
                if key not in asked:
                    asked.add(key)
                    drawn.append(draft)
    image_id = str(number)
    numbered = {f"{number:06d}{index:02d}": draft for index, draft in enumerate(drawn)}
    return Sample(
        image_id,
        scene_graph(room, ids),
        {
            question_id: Question(image_id, d.words, list(d.steps), d.answer)
            for question_id, d in numbered.items()
        },
        {question_id: d.structural for question_id, d in numbered.items()},
    )


def _vaguely(speaker: Speaker, thing: Thing) -> Phrase | None:
    """The thing by its name, where others bear it too."""
    phrase = speaker.bare(thing)
    return None if phrase.unique else phrase


def generate(
    scenes: int,
    *,
    seed: int,
    first: int = 0,
    questions: int = QUESTIONS_PER_SCENE,
    ambiguous: float = AMBIGUOUS,
) -> Iterator[Sample]:
    """So many scenes, from a number on; errors as :func:`sample`."""
    for number in range(first, first + scenes):
        yield sample(number, seed=seed, questions=questions, ambiguous=ambiguous)


def scene_records(number: int, *, seed: int, questions: int = QUESTIONS_PER_SCENE) -> bytes:
    """A scene's graph and questions, each as the text of its entry in an official file."""
    made = sample(number, seed=seed, questions=questions, ambiguous=AMBIGUOUS)
    graph = f"{json.dumps(made.image_id)}: {msgspec.json.encode(made.graph).decode()}"
    asked = [
        f"{json.dumps(i)}: {json.dumps(_official(i, question, made.types[i]))}"
        for i, question in made.questions.items()
    ]
    return msgspec.json.encode((graph, asked))


_records = msgspec.json.Decoder(tuple[str, list[str]])


def write_records(out: Path, scenes: Iterable[bytes]) -> int:
    """Write ``sceneGraphs.json`` and ``questions.json`` of scenes that :func:`scene_records` gave.

    Returns:
        How many questions there are.
    """
    out.mkdir(parents=True, exist_ok=True)
    number = 0
    with (
        (out / SCENE_GRAPHS_FILE).open("w", encoding="utf-8") as graphs,
        (out / QUESTIONS_FILE).open("w", encoding="utf-8") as questions,
    ):
        graphs.write("{")
        questions.write("{")
        for place, scene in enumerate(scenes):
            graph, asked = _records.decode(scene)
            graphs.write((",\n" if place else "") + graph)
            for question in asked:
                questions.write((",\n" if number else "") + question)
                number += 1
        graphs.write("}\n")
        questions.write("}\n")
    return number


def write(out: Path, *, scenes: int, seed: int, questions: int = QUESTIONS_PER_SCENE) -> tuple[Path, Path]:
    """Write so many scenes, from number 0 on, in the official format.

    Returns:
        The paths of ``sceneGraphs.json`` and ``questions.json``.
    """
    write_records(out, (scene_records(n, seed=seed, questions=questions) for n in range(scenes)))
    return out / SCENE_GRAPHS_FILE, out / QUESTIONS_FILE


def _official(question_id: str, question: Question, structural: str) -> dict[str, Any]:
    """The record with the keys an official one has that can be filled truly."""
    return {
        "imageId": question.image_id,
        "question": question.question,
        "answer": question.answer,
        "semantic": msgspec.to_builtins(question.semantic),
        "semanticStr": "->".join(_written(step) for step in question.semantic),
        "types": {"structural": structural},
        "isBalanced": False,
        "entailed": [],
        "equivalent": [question_id],
    }


def _written(step: Step) -> str:
    inputs = f" [{', '.join(map(str, step.dependencies))}]" if step.dependencies else ""
    return f"{step.operation}: {step.argument}{inputs}"
