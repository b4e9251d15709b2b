"""Scenes with questions, one per seed and number, and their files."""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import msgspec

from substrate.base.errors import ParameterError
from substrate.domains.gqa.format import QUESTIONS_FILE, SCENE_GRAPHS_FILE, Operation, Question, SceneGraph
from substrate.generators.gqa._phrases import Phrase, Speaker
from substrate.generators.gqa._questions import TEMPLATES, Draft
from substrate.generators.gqa._things import Thing, sample_room, scene_graph
from substrate.generators.layout import Listing

QUESTIONS_PER_SCENE = 13
"""The mean of the official balanced validation split: 132,062 questions on 10,234 images."""
AMBIGUOUS = 0.1
"""Share of the templates' draws whose words fit other things as well."""

RECORDS = Listing(b"{", b",\n", b"}\n")
"""The layout of the official files: an object with one record per line."""


class Sample(NamedTuple):
    """A scene with its questions by id, and the structural type of each."""

    image_id: str
    graph: SceneGraph
    questions: dict[str, Question]
    types: dict[str, str]


def sample(
    number: int, *, seed: int, questions: int = QUESTIONS_PER_SCENE, ambiguous: float = AMBIGUOUS
) -> Sample:
    """Sample the scene of a number, the same on every machine and after any other samples.

    Args:
        number: the scene's number, which is its image id.
        seed: the world's seed.
        questions: the most questions, drawn evenly from the templates.
        ambiguous: share of the templates' draws whose words fit other things too; then only the id gives the
            gold.

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
    pools: list[list[Draft]] = []
    for template in TEMPLATES:
        refer = partial(_ambiguous, speaker) if rng.random() < ambiguous else speaker.refer
        pools.append([*template(speaker, refer)])
        rng.shuffle(pools[-1])
    drawn: dict[tuple[str, tuple[str, ...]], Draft] = {}
    while len(drawn) < questions and any(pools):
        for pool in pools:
            if pool and len(drawn) < questions:
                draft = pool.pop()
                drawn.setdefault((draft.words, tuple(step.argument for step in draft.steps)), draft)
    numbered = {f"{number:06d}{index:02d}": draft for index, draft in enumerate(drawn.values())}
    image = str(number)
    by_id = {i: Question(image, d.words, list(d.steps), d.answer) for i, d in numbered.items()}
    types = {i: d.structural for i, d in numbered.items()}
    return Sample(image, scene_graph(room, ids), by_id, types)


def _ambiguous(speaker: Speaker, thing: Thing) -> Phrase | None:
    """The thing by its name, if other things have the name too."""
    phrase = speaker.bare(thing)
    return None if phrase.unique else phrase


def scene_records(number: int, *, seed: int, questions: int = QUESTIONS_PER_SCENE) -> bytes:
    """A scene's graph and questions, each as the text of its entry in an official file."""
    made = sample(number, seed=seed, questions=questions, ambiguous=AMBIGUOUS)
    graph = f"{json.dumps(made.image_id)}: {msgspec.json.encode(made.graph).decode()}"
    entries = [
        f"{json.dumps(i)}: {json.dumps(_official(i, question, made.types[i]))}"
        for i, question in made.questions.items()
    ]
    return msgspec.json.encode((graph, entries))


_records = msgspec.json.Decoder(tuple[str, list[str]])


def write_records(out: Path, scenes: Iterable[bytes], _seed: int = 0) -> None:
    """Write ``sceneGraphs.json`` and ``questions.json`` from the records of :func:`scene_records`."""
    out.mkdir(parents=True, exist_ok=True)
    with (out / SCENE_GRAPHS_FILE).open("wb") as graphs, (out / QUESTIONS_FILE).open("wb") as questions:
        before = {graphs: RECORDS.begin, questions: RECORDS.begin}
        for scene in scenes:
            graph, entries = _records.decode(scene)
            for file, record in ((graphs, graph), *((questions, question) for question in entries)):
                file.write(before[file] + record.encode())
                before[file] = RECORDS.between
        for file, written in before.items():
            file.write(RECORDS.end if written == RECORDS.between else RECORDS.begin + RECORDS.end)


def write(out: Path, *, scenes: int, seed: int, questions: int = QUESTIONS_PER_SCENE) -> tuple[Path, Path]:
    """Write ``scenes`` scenes, from number 0 on, in the official format.

    Returns:
        The paths of ``sceneGraphs.json`` and ``questions.json``.
    """
    write_records(out, (scene_records(n, seed=seed, questions=questions) for n in range(scenes)))
    return out / SCENE_GRAPHS_FILE, out / QUESTIONS_FILE


def _official(question_id: str, question: Question, structural: str) -> dict[str, Any]:
    """The record with every official key for which there is a true value."""
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


def _written(step: Operation) -> str:
    inputs = f" [{', '.join(map(str, step.dependencies))}]" if step.dependencies else ""
    return f"{step.operation}: {step.argument}{inputs}"
