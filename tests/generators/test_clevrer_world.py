"""The CLEVRER world: reproducible, physically plausible, in the official format, with gold that its own truth
bears out.
"""

from __future__ import annotations

import math
from collections import Counter
from pathlib import Path
from random import Random
from typing import Literal

import pytest

from substrate.base.numbered import sources_in
from substrate.domains.clevrer.format import (
    FRAMES,
    Annotation,
    Collision,
    MotionState,
    ObjectProperty,
    Question,
    annotation_names,
    decode_annotation,
    read_questions,
)
from substrate.generators.clevrer import WorldScene, generate_scene, predictive_questions, scene_files
from substrate.generators.clevrer.choices import imagine
from substrate.generators.clevrer.events import Film, WorldEvent
from substrate.generators.clevrer.phrases import Names
from substrate.generators.clevrer.physics import Body, simulate
from substrate.generators.clevrer.questions import VALIDATION_QUESTIONS, quota
from substrate.generators.layout import encode_scene, write_release

SEED = 11
SCENES = range(10_000, 10_014)


@pytest.fixture(scope="module")
def scenes() -> list[WorldScene]:
    return [generate_scene(index, SEED) for index in SCENES]


def bodies_of(scene: WorldScene) -> list[Body]:
    """The world's bodies, rebuilt from nothing but frame 0 of the annotation and the masses."""
    start, masses = scene.annotation.motion_trajectory[0].objects, scene.truth.masses
    return [
        Body(o.object_id, o.shape, s.location[:2], s.orientation[2], s.velocity[:2], masses[o.object_id])
        for o, s in zip(scene.annotation.object_property, start, strict=True)
    ]


def ground_speed(state: MotionState) -> float:
    return math.hypot(*state.velocity[:2])


def pairs(collisions: list) -> set[tuple[int, ...]]:
    return {tuple(sorted(c.object_ids)) for c in collisions}


# --- scenes


def test_scenes_look_like_the_official_ones(scenes: list[WorldScene]) -> None:
    for scene in scenes:
        looks = [(o.color, o.material, o.shape) for o in scene.annotation.object_property]
        assert 3 <= len(looks) == len(set(looks)) <= 6
        assert 1 <= len(scene.annotation.collision) <= 6
        for states in zip(*(frame.objects for frame in scene.annotation.motion_trajectory), strict=True):
            assert any(state.inside_camera_view for state in states)
            assert ground_speed(states[0]) == 0 or 2.6 < ground_speed(states[0]) < 3.1
    collisions = Counter(len(scene.annotation.collision) for scene in scenes)
    entries = sum(event.type == "in" for scene in scenes for event in scene.truth.events)
    assert collisions[2] + collisions[3] > len(scenes) / 2
    assert 1 < entries / len(scenes) < 3


def test_no_pair_collides_twice(scenes: list[WorldScene]) -> None:
    for scene in scenes:
        contacts = [*scene.annotation.collision, *scene.truth.future_collisions]
        assert len(pairs(contacts)) == len(contacts)


def test_the_future_holds_collisions_exactly_where_it_is_asked_about(scenes: list[WorldScene]) -> None:
    for scene in scenes:
        assert bool(scene.truth.future_collisions) == bool(quota(scene.annotation.scene_index)["predictive"])


def test_entries_and_exits_are_visibility_flips(scenes: list[WorldScene]) -> None:
    for scene in scenes:
        flips = set()
        for number in range(len(scene.annotation.object_property)):
            views = [frame.objects[number].inside_camera_view for frame in scene.annotation.motion_trajectory]
            changes = (f for f in range(1, FRAMES) if views[f] != views[f - 1])
            flips |= {("in" if views[f] else "out", (number,), f) for f in changes}
        assert {(e.type, e.objects, e.frame) for e in scene.truth.events if e.type != "collision"} == flips


# --- format


def test_files_read_back_as_official_ones(tmp_path: Path, scenes: list[WorldScene]) -> None:
    made = (encode_scene(scene_files(index, SEED)) for index in (10_000, 10_001))
    assert write_release(tmp_path, made) == sum(len(scene.questions.questions) for scene in scenes[:2])
    annotations = tmp_path / "annotation.zip"
    names = annotation_names(annotations)
    assert [*names.values()] == [f"annotation_10000-11000/annotation_{n}.json" for n in (10_000, 10_001)]
    for source, scene in zip(sources_in(annotations, names.values()), scenes[:2], strict=True):
        assert decode_annotation(source) == scene.annotation
    assert read_questions(tmp_path / "questions.json") == {
        scene.annotation.scene_index: scene.questions for scene in scenes[:2]
    }
    assert not list(tmp_path.rglob(".*"))


# --- truth


def test_the_annotation_and_the_masses_reproduce_the_world(scenes: list[WorldScene]) -> None:
    scene = scenes[0]
    run = simulate(bodies_of(scene))
    assert run.frames[:FRAMES] == scene.annotation.motion_trajectory
    assert list(run.contacts) == [*scene.annotation.collision, *scene.truth.future_collisions]


def test_counterfactual_truth_agrees_with_a_rerun(scenes: list[WorldScene]) -> None:
    for scene in scenes[:6]:
        touched = {name for c in simulate(bodies_of(scene)).contacts for name in c.object_ids}
        for removed, collisions in scene.truth.counterfactual_collisions.items():
            rerun = simulate([body for body in bodies_of(scene) if body.object_id != removed])
            assert pairs(list(rerun.contacts)) == pairs(collisions)
            # Without an object that touches nothing, the truth is the film; a rerun may differ by rounding.
            assert list(rerun.contacts) == collisions or removed not in touched


# --- questions


def named_objects(annotation: Annotation, program: list[str]) -> list[int]:
    """The objects that a program names, each by ``objects … unique``; only filters by look are evaluated."""
    numbers, candidates = [], []
    for place, token in enumerate(program):
        if token == "objects":
            candidates = list(annotation.object_property)
        elif token in ("filter_color", "filter_material", "filter_shape"):
            look = token.removeprefix("filter_")
            candidates = [o for o in candidates if getattr(o, look) == program[place - 1]]
        elif token == "unique" and candidates:
            assert len(candidates) == 1, program
            numbers.append(candidates[0].object_id)
            candidates = []
        elif token.startswith(("filter", "get")):
            candidates = []
    return numbers


def questions_of(scene: WorldScene, kind: str) -> list[Question]:
    """The questions of one kind about a scene."""
    return [question for question in scene.questions.questions if question.question_type == kind]


def test_objects_are_named_without_ambiguity(scenes: list[WorldScene]) -> None:
    for scene in scenes:
        for question in scene.questions.questions:
            for program in [question.program, *(choice.program for choice in question.choices or ())]:
                named_objects(scene.annotation, program)


def test_questions_number_from_zero_in_official_order_and_proportion(scenes: list[WorldScene]) -> None:
    order: list[str] = list(VALIDATION_QUESTIONS)
    for scene in scenes:
        kinds = [question.question_type for question in scene.questions.questions]
        assert [question.question_id for question in scene.questions.questions] == list(range(len(kinds)))
        assert kinds == sorted(kinds, key=order.index)
        assert Counter(kinds) == Counter(quota(scene.annotation.scene_index))
        descriptive = questions_of(scene, "descriptive")
        assert len({tuple(question.program) for question in descriptive}) == len(descriptive)
        subtypes = Counter((question.question_subtype or "").partition("_")[0] for question in descriptive)
        assert subtypes == {"count": 4, "exist": 2, "query": 5} or len(descriptive) < 11
    totals = sum((Counter(quota(index)) for index in range(10_000, 15_000)), Counter())
    assert totals == VALIDATION_QUESTIONS


def test_predictive_gold_is_the_hidden_future(scenes: list[WorldScene]) -> None:
    wrong_and_filmed = set[bool]()
    for scene in scenes:
        for question in questions_of(scene, "predictive"):
            assert sorted(choice.answer or "" for choice in question.choices or ()) == ["correct", "wrong"]
            for choice in question.choices or ():
                pair = tuple(sorted(named_objects(scene.annotation, choice.program)))
                assert (choice.answer == "correct") == (pair in pairs(scene.truth.future_collisions))
                filmed = pair in pairs(scene.annotation.collision)
                if choice.answer == "wrong":
                    wrong_and_filmed.add(filmed)
                assert not filmed or choice.answer == "wrong"
    assert wrong_and_filmed == {True, False}


@pytest.mark.parametrize("wrong", ["near", "met"])
def test_hard_wrong_choices_come_under_the_numbers_of_the_plain_ones(
    scenes: list[WorldScene], wrong: Literal["near", "met"]
) -> None:
    checked = 0
    for scene, number in zip(scenes, SCENES, strict=True):
        plain = questions_of(scene, "predictive")
        made = predictive_questions(number, SEED, wrong, "any")
        assert made["any"] == plain
        seen, future = pairs(scene.annotation.collision), pairs(scene.truth.future_collisions)
        for question in made[wrong]:
            assert question.question_id in {other.question_id for other in plain}
            for choice in question.choices or ():
                pair = tuple(sorted(named_objects(scene.annotation, choice.program)))
                assert (choice.answer == "correct") == (pair in future)
                assert choice.answer == "correct" or (pair in seen) == (wrong == "met")
                checked += 1
    assert checked


def test_counterfactual_gold_is_the_world_without_the_object(scenes: list[WorldScene]) -> None:
    for scene in scenes:
        for question in questions_of(scene, "counterfactual"):
            (removed,) = named_objects(scene.annotation, question.program)
            happens = pairs(scene.truth.counterfactual_collisions[removed])
            right = sum(choice.answer == "correct" for choice in question.choices or ())
            assert right < 4
            if len(scene.annotation.object_property) > 4:
                assert len(question.choices or ()) == 4
                assert right
            for choice in question.choices or ():
                pair = tuple(sorted(named_objects(scene.annotation, choice.program)))
                assert removed not in pair
                assert (choice.answer == "correct") == ((pair in happens) != ("negate" in question.program))


def test_explanatory_gold_is_the_causes(scenes: list[WorldScene]) -> None:
    kinds = {"filter_in": "in", "filter_out": "out", "filter_collision": "collision"}
    for scene in scenes:
        film = Film(scene.annotation)

        def event(program: list[str], scene: WorldScene = scene, film: Film = film) -> WorldEvent | None:
            kind = next((kinds[token] for token in program if token in kinds), None)
            objects = tuple(sorted(named_objects(scene.annotation, program)))
            return next((e for e in film.events if (e.type, e.objects) == (kind, objects)), None)

        for question in questions_of(scene, "explanatory"):
            effect = event(question.program)
            assert effect is not None
            causes = film.causes[effect]
            for choice in question.choices or ():
                cause = event(choice.program)
                (first, *_) = named_objects(scene.annotation, choice.program)
                true = cause in causes if cause else any(first in e.objects for e in causes)
                assert (choice.answer == "correct") == (true != ("negate" in question.program))


def test_descriptive_gold_of_states_follows_the_annotation(scenes: list[WorldScene]) -> None:
    frames = {"start": 0, "end": FRAMES - 1}
    moving = {"filter_moving": True, "filter_stationary": False}
    answer = {"count": lambda objects: str(len(objects)), "exist": lambda objects: "yes" if objects else "no"}
    checked = 0
    for scene, question in [(world, question) for world in scenes for question in world.questions.questions]:
        if len(question.program) <= 4:
            continue
        *group, anchor, _, state, ending = question.program
        if group[0] != "objects" or anchor not in frames or ending not in answer:
            continue
        states = scene.annotation.motion_trajectory[frames[anchor]].objects
        looks = [
            (opcode.removeprefix("filter_"), value)
            for value, opcode in zip(group[1::2], group[2::2], strict=True)
        ]
        matching = [
            o
            for o, s in zip(scene.annotation.object_property, states, strict=True)
            if all(getattr(o, attribute) == value for attribute, value in looks)
            if s.inside_camera_view and (ground_speed(s) > 0.02) == moving[state]
        ]
        assert question.answer == answer[ending](matching)
        checked += 1
    assert checked


def test_a_collision_after_the_last_frame_counts_as_happening() -> None:
    objects = tuple(
        ObjectProperty(number, color, "metal", "cube")
        for number, color in enumerate(("red", "blue", "green"))
    )
    late = Collision((1, 2), FRAMES + 5, (0.0, 0.0, 0.2))
    for seed in range(20):
        questions = imagine({0: [late], 1: [], 2: []}, Names(objects), Random(seed), 6)
        assert len(questions) == 6
        for question in questions:
            ((_, correct),) = question.choices
            assert correct == (("red" in question.phrase.program) != ("negate" in question.phrase.program))
