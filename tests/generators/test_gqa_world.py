"""The world of everyday scenes: official files, reproducible, truth that the interpreter has no part in."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import msgspec
import pytest

from substrate.domains.gqa.answers import Resolve, Scene, answer_scene
from substrate.domains.gqa.format import VERBS, read_questions, read_scene_graphs
from substrate.domains.rows import Row
from substrate.generators.gqa import sample, write
from substrate.generators.gqa.sampling import Sample


def generate(scenes: int, *, seed: int, ambiguous: float = 0.1) -> list[Sample]:
    return [sample(number, seed=seed, ambiguous=ambiguous) for number in range(scenes)]


@pytest.fixture(scope="module")
def plain() -> list[Sample]:
    return generate(60, seed=11, ambiguous=0)


def scene_of(made: Sample) -> Scene:
    return Scene.of(made.image_id, made.graph)


def answers(samples: list[Sample], resolve: Resolve) -> list[Row]:
    return [
        row
        for made in samples
        for row in answer_scene(scene_of(made), made.questions, "test", resolve=resolve)
    ]


@pytest.mark.parametrize("resolve", ["name", "id"])
def test_where_words_are_unique_every_gold_is_found(plain: list[Sample], resolve: Resolve) -> None:
    wrong = [row for row in answers(plain, resolve) if not row.correct]
    assert wrong == []


def test_where_words_fit_several_things_only_ids_tell_which_is_meant() -> None:
    vague = generate(40, seed=5, ambiguous=1)
    by_name, by_id = (answers(vague, resolve) for resolve in ("name", "id"))
    assert all(row.correct for row in by_id)
    assert 0.5 < sum(bool(row.correct) for row in by_name) / len(by_name) < 1


def test_the_gold_is_about_the_scene(plain: list[Sample]) -> None:
    """On another scene's graph many answers are wrong: the gold cannot be guessed from the program."""
    others = [
        answer_scene(Scene.of(sample.image_id, neighbour.graph), sample.questions, "test", resolve="name")
        for sample, neighbour in pairwise(plain)
    ]
    assert sum(bool(row.correct) for of_scene in others for row in of_scene) < 0.7 * sum(map(len, others))


def test_every_verb_of_the_language_occurs() -> None:
    operations = {
        step.operation
        for made in generate(150, seed=2)
        for question in made.questions.values()
        for step in question.semantic
    }
    assert {operation.split()[0] for operation in operations} == set(VERBS)
    assert {
        "verify rel",
        "choose rel",
        "choose name",
        "choose younger",
        "same color",
        "different color",
        "filter hposition",
        "choose location",
    } <= operations


def test_the_files_are_official_and_the_same_every_time(tmp_path: Path) -> None:
    first, second = (write(tmp_path / name, scenes=8, seed=4) for name in "ab")
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in second]
    graphs, questions = read_scene_graphs(first[0]), read_questions(first[1])
    made = generate(8, seed=4)
    assert {image: graphs[image] for image in graphs} == {m.image_id: m.graph for m in made}
    assert questions == {m.image_id: m.questions for m in made}
    record = next(iter(msgspec.json.decode(first[1].read_bytes()).values()))
    assert {"imageId", "question", "answer", "semantic", "semanticStr", "types"} <= set(record)
