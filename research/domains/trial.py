"""The duality on trial: how often a key that says "responsible" also says "would happen all the same".

Proposition 1 takes an event to need every object among its ancestors. A key of a video may ask both about an
object Z and a collision of X and Y: whether Z is responsible for it, and whether X and Y collide without Z.
Where it says yes twice, the duality fails by the key's own word: its condition C4 (docs/ancestor-duality.md)
does not hold there. This module reads gold and nothing else; no answer is computed from it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from typing import NamedTuple

from substrate.base.errors import ProgramError
from substrate.domains.clevrer._chances import REMOVALS
from substrate.domains.clevrer.format import Question
from substrate.domains.clevrer.interpreter import choice_program
from substrate.domains.clevrer.parameters import Parameters
from substrate.domains.clevrer.program import Step, World, run
from substrate.domains.clevrer.scene import Event, Scene

Asked = tuple[int, tuple[int, int]]
"""An object and the two of a collision."""


class Trial(NamedTuple):
    """An object and a collision that it takes no part in, and what a key says of the two.

    Attributes:
        responsible: the object's presence is responsible for the collision.
        collides: the two collide in the world without the object.
    """

    object: int
    pair: tuple[int, int]
    responsible: bool
    collides: bool


def trials(scene: Scene, questions: Iterable[Question]) -> list[Trial]:
    """The objects and collisions that a video's key says both of, sorted, each once.

    Args:
        scene: the video, which says whom the questions' words name.
        questions: about the video, with gold.
    """
    responsible, collides = (
        dict[tuple[int, tuple[int, int]], bool](),
        dict[tuple[int, tuple[int, int]], bool](),
    )
    world = World(scene, Parameters())
    for question in questions:
        if question.question_type == "explanatory":
            responsible.update(_said(question, world, "filter_ancestor"))
        elif question.question_type == "counterfactual":
            collides.update(_said(question, world, *REMOVALS))
    return [
        Trial(*key, responsible[key], collides[key]) for key in sorted(responsible.keys() & collides.keys())
    ]


def _said(question: Question, world: World, *opcodes: str) -> Iterator[tuple[Asked, bool]]:
    """The key's verdicts on an object and a collision, by the two; a choice about others says nothing."""
    for choice in question.choices or ():
        steps: list[Step] = []
        try:
            run(choice_program(question.program, choice), world, steps.append)
        except ProgramError:
            continue
        object_and_pair = _object_and_pair(steps, opcodes)
        if object_and_pair is not None and choice.answer is not None:
            yield object_and_pair, (choice.answer == "correct") != ("negate" in question.program)


def _object_and_pair(steps: Sequence[Step], opcodes: Sequence[str]) -> Asked | None:
    """The object and the collision that a choice sets beside each other: one is looked for among the events
    that the other leads to.
    """
    led = [step.arguments[-1] for step in steps if step.token in opcodes]
    sought = [step.arguments[0] for step in steps if step.token == "belong_to"]
    for number, event in (pair for both in product(led, sought) for pair in (both, both[::-1])):
        if isinstance(number, int) and isinstance(event, Event) and event.kind == "Collision":
            a, b = sorted(event.objects)
            return None if number in (a, b) else (number, (a, b))
    return None
