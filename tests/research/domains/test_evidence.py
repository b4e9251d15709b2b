"""Evidence of an answer about a video: a recorded event, none, a rule of the paper, or a simulation."""

from __future__ import annotations

from collections import Counter

import pytest
from clevrer_scenes import filmed_log

from research.domains.evidence import ABSENT, FACTS, IMAGINED, RECORDED, RULED, Decider
from research.domains.evidence import rests_on_video as rests_on
from substrate.domains.clevrer.deltas import annotation_log
from substrate.domains.clevrer.explain import explain
from substrate.domains.clevrer.format import Choice, Question
from substrate.domains.clevrer.parameters import Counterfactual, Parameters, Predictive
from substrate.domains.clevrer.scene import Scene
from substrate.generators.clevrer import generate_scene

CUBE, BALL, CAN = range(3)
FILTERS = ("cube filter_shape", "blue filter_color", "green filter_color")


def rests(scene: Scene, program: str, choice: str = "", parameters: Parameters | None = None) -> Decider:
    choices = [Choice(0, "", choice.split(), None)] if choice else None
    kind = "counterfactual" if choice else "descriptive"
    why = explain(
        scene.log, 7, Question(0, "?", kind, program.split(), choices=choices), parameters or Parameters()
    )
    return rests_on(why, why.parts[0])


MEETS = "objects {} unique filter_collision"
PAIR = f"all_events {MEETS} {MEETS} unique"
GONE = "all_events objects {} unique get_counterfact belong_to"


@pytest.mark.parametrize("negated", ["", " negate"])
def test_a_choice_about_an_imagined_world_rests_on_its_event_where_that_happens(negated: str) -> None:
    scene = Scene(filmed_log([(CUBE, BALL, 20), (BALL, CAN, 60)]))
    cube, ball, can = FILTERS
    first, second = (event.iri for event in scene.events if event.kind == "Collision")
    # Without the can the first collision stands as filmed; without the cube the second is prevented.
    assert rests(scene, GONE.format(can) + negated, PAIR.format(cube, ball)) == Decider(RECORDED, first)
    assert rests(scene, GONE.format(cube) + negated, PAIR.format(ball, can)) == Decider(RECORDED, second)
    # Nobody filmed a meeting of cube and can; without the ball, whom both met, the partner rule sees one.
    duality = Parameters(counterfactual=Counterfactual("duality"))
    assert rests(scene, GONE.format(ball) + negated, PAIR.format(cube, can), duality) == Decider(ABSENT)
    assert rests(scene, GONE.format(ball) + negated, PAIR.format(cube, can)).kind == RULED


def test_other_answers_rest_on_the_last_event_named_or_on_none() -> None:
    scene = Scene(filmed_log([(CUBE, BALL, 20)]))
    cube, _, can = FILTERS
    met = next(event.iri for event in scene.events if event.kind == "Collision")
    program = "events objects {} unique filter_collision count"
    assert rests(scene, program.format(cube)) == Decider(RECORDED, met)
    assert rests(scene, program.format(can)).kind == ABSENT
    assert rests(scene, "objects count").kind == FACTS


def test_a_simulated_future_is_distinguished_from_straight_lines() -> None:
    grounds: Counter[str] = Counter()
    for number in range(10_000, 10_006):
        generated = generate_scene(number, 20)
        log = annotation_log(generated.annotation)
        for question in generated.questions.questions:
            if question.question_type == "predictive":
                for name in ("C", "S"):
                    why = explain(log, number, question, Parameters(predictive=Predictive(name)))
                    grounds.update(
                        f"{name}: {rests_on(why, part).kind}" for part in why.parts if part.answer == "yes"
                    )
    assert set(grounds) == {f"C: {RULED}", f"S: {IMAGINED}"}
