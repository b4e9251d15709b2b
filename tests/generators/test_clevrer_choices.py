"""Options of explanatory questions name what official ones name."""

from __future__ import annotations

import pytest

from substrate.domains.clevrer.deltas import annotation_log
from substrate.domains.clevrer.interpreter import choice_program
from substrate.domains.clevrer.parameters import Parameters
from substrate.domains.clevrer.program import Step, World, run
from substrate.domains.clevrer.scene import Event, Scene
from substrate.generators.clevrer import generate_scene


@pytest.mark.parametrize("number", range(90_000, 90_004))
def test_no_option_names_an_entry_of_a_participant_of_what_is_explained(number: int) -> None:
    made = generate_scene(number, 9001)
    world = World(Scene(annotation_log(made.annotation)), Parameters())
    explanatory = [q for q in made.questions.questions if q.question_type == "explanatory"]
    for question, choice in ((q, choice) for q in explanatory for choice in q.choices or ()):
        steps: list[Step] = []
        run(choice_program(question.program, choice), world, steps.append)
        option = next(step.arguments[0] for step in steps if step.token == "belong_to")
        target = next(step.arguments[1] for step in steps if step.token == "filter_ancestor")
        if isinstance(option, Event) and option.kind == "Entry":
            assert option.objects.isdisjoint(target.objects), question.question
