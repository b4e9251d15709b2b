"""Test the duality against keys: how often is a "responsible" object not needed for its collision?

By Proposition 1 an event needs every object among its ancestors. A video's key (its questions' gold) may
judge an object Z and a collision of X and Y twice: is Z responsible for it, and do X and Y collide without
Z? If it says yes to both, the key itself contradicts the duality, whose condition C4
(docs/ancestor-duality.md) fails there. This module reads only gold; no answer is computed from it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from typing import NamedTuple

from substrate.base.errors import ProgramError
from substrate.domains.clevrer.answers import choice_program
from substrate.domains.clevrer.format import Question
from substrate.domains.clevrer.parameters import Parameters
from substrate.domains.clevrer.program import REMOVALS, ProgramStep, World, run
from substrate.domains.clevrer.scene import Scene, SceneEvent


class ObjectAndPair(NamedTuple):
    """An object, and the two participants of a collision without it."""

    object: int
    pair: tuple[int, int]


class Trial(NamedTuple):
    """An object, a collision without it, and a key's two verdicts on them.

    Attributes:
        responsible: the object's presence is responsible for the collision.
        collides: the two participants collide in the world without the object.
    """

    object: int
    pair: tuple[int, int]
    responsible: bool
    collides: bool


def trials(scene: Scene, questions: Iterable[Question]) -> list[Trial]:
    """The objects and collisions on which a video's key gives both verdicts, sorted, without repeats.

    Args:
        scene: the video, which resolves the questions' descriptions to objects.
        questions: questions about the video, with gold.
    """
    responsible, collides = dict[ObjectAndPair, bool](), dict[ObjectAndPair, bool]()
    world = World(scene, Parameters())
    for question in questions:
        if question.question_type == "explanatory":
            responsible.update(verdicts(question, world, "filter_ancestor"))
        elif question.question_type == "counterfactual":
            collides.update(verdicts(question, world, *REMOVALS))
    return [
        Trial(*key, responsible[key], collides[key]) for key in sorted(responsible.keys() & collides.keys())
    ]


def verdicts(question: Question, world: World, *opcodes: str) -> Iterator[tuple[ObjectAndPair, bool]]:
    """The key's verdict on each object and collision that a choice asks about by one of the opcodes."""
    for choice in question.choices or ():
        steps: list[ProgramStep] = []
        try:
            run(choice_program(question.program, choice), world, steps.append)
        except ProgramError:
            continue
        object_and_pair = _object_and_pair(steps, opcodes)
        if object_and_pair is not None and choice.answer is not None:
            yield object_and_pair, (choice.answer == "correct") != ("negate" in question.program)


def _object_and_pair(steps: Sequence[ProgramStep], opcodes: Sequence[str]) -> ObjectAndPair | None:
    """The object and the collision that a choice asks about, if any.

    One of them is the last argument of an opcode, the other is sought among that opcode's events.
    """
    arguments = [step.arguments[-1] for step in steps if step.token in opcodes]
    sought = [step.arguments[0] for step in steps if step.token == "belong_to"]
    for number, event in (pair for both in product(arguments, sought) for pair in (both, both[::-1])):
        if isinstance(number, int) and isinstance(event, SceneEvent) and event.kind == "Collision":
            a, b = sorted(event.objects)
            return None if number in (a, b) else ObjectAndPair(number, (a, b))
    return None
