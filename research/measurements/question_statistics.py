"""The things that a question of CLEVRER asks about, statistics of them, and their shares among all questions.

Only an object's part in the video and the sort of a choice are counted. A key is read for the number of
right choices, never by code that answers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from substrate.domains.clevrer import format
from substrate.domains.clevrer.answers import choice_program
from substrate.domains.clevrer.parameters import Parameters
from substrate.domains.clevrer.program import ProgramStep, World, run
from substrate.domains.clevrer.scene import Scene, SceneEvent

PARTNERS: Mapping[int, float] = {0: 0.467, 1: 0.339, 2: 0.194}
"""The objects that all 9,333 validation questions remove, by the number of their partners; 2 is two or more.

CRCG releases the texts of these questions without choices and gold (github.com/azreasoners/CRCG).
"""
ANCESTORS: Mapping[bool, float] = {True: 0.150, False: 0.850}
"""The same objects, by whether a collision of others depends on them."""
SORTS = (
    "filmed, no ancestor",
    "filmed, an ancestor",
    *(f"unfilmed, {who} touched it" for who in ("both", "one", "neither")),
)
"""The sorts of counterfactual choices. Is the pair's collision filmed? If so, does it depend on the removed
object? If not, how many of the pair touched the removed object?
"""
ALL: Mapping[str, float] = {
    "descriptive: count": 40_000 / 109_952,
    "descriptive: exist": 20_000 / 109_952,
    "descriptive: query_color": 18_454 / 109_952,
    "descriptive: query_material": 14_614 / 109_952,
    "descriptive: query_shape": 16_884 / 109_952,
    "descriptive: null": 10_251 / 109_952,
    "descriptive: start": 11_432 / 109_952,
    "descriptive: end": 12_606 / 109_952,
    "descriptive: filter_moving": 25_245 / 109_952,
    "descriptive: filter_stationary": 24_707 / 109_952,
    "descriptive: get_col_partner": 22_301 / 109_952,
    "descriptive: filter_order": 19_502 / 109_952,
    **{f"count: {n}": k / 40_000 for n, k in enumerate((9_862, 11_079, 9_292, 6_525, 3_173, 69))},
    "exist: yes": 10_026 / 20_000,
    **{f"explanatory: {n} right": k / 16_799 for n, k in enumerate((2_743, 3_428, 5_541, 4_320, 767))},
    **{f"counterfactual: {n} right": k / 18_642 for n, k in enumerate((169, 7_947, 6_406, 4_120, 0))},
    "counterfactual: negated": 0.496,
    "counterfactual: removes what touches nothing": PARTNERS[0],
    "counterfactual: removes an ancestor of others' collision": ANCESTORS[True],
    "counterfactual: removes what has two partners or more": PARTNERS[2],
    "predictive: 1 right": 1.0,
}
"""Shares of all official training questions, and of the objects that all validation questions remove."""


class Removed(NamedTuple):
    """The kind of a removed object: its partners, 2 for two or more; whether others' collisions need it."""

    partners: int
    ancestor: bool


def removed_kind(scene: Scene, removed: int) -> Removed:
    """The kind of an object that a question removes."""
    partners = len(scene.partners.get(removed, {removed})) - 1
    return Removed(min(partners, 2), any(_dependence(scene, removed).values()))


def _dependence(scene: Scene, removed: int) -> dict[frozenset[int], bool]:
    """By pair that collides in the video, whether its last collision depends on an object of neither."""
    ancestry = scene.ancestry("event")
    others = (e for e in scene.events if e.kind == "Collision" and removed not in e.objects)
    return {event.objects: removed in ancestry[event.iri].objects for event in others}


def choice_steps(question: format.Question, choice: format.Choice, scene: Scene) -> list[ProgramStep]:
    """The steps of a choice's program together with its question's, on the video alone."""
    steps: list[ProgramStep] = []
    run(choice_program(question.program, choice), World(scene, Parameters()), steps.append)
    return steps


def sought(steps: Sequence[ProgramStep]) -> SceneEvent | int:
    """The event or the object that a choice names."""
    return next(step.arguments[0] for step in steps if step.token == "belong_to")


def statistics(scene: Scene, question: format.Question) -> Iterator[tuple[str, bool]]:
    """For each statistic of a question's kind, its name and whether the question counts in it."""
    if question.question_type == "descriptive":
        yield from _descriptive(question)
        return
    kind, choices = question.question_type, question.choices or []
    right = sum(choice.answer == "correct" for choice in choices)
    for number in range(5):
        yield f"{kind}: {number} right", right == number
        yield f"{kind}: {number} choices", len(choices) == number
    if kind == "predictive":
        yield from _predictive(scene, question)
    elif kind == "counterfactual":
        yield from _counterfactual(scene, question)


def _descriptive(question: format.Question) -> Iterator[tuple[str, bool]]:
    last, tokens = question.program[-1], question.program
    for subtype in ("count", "exist", "query_color", "query_material", "query_shape"):
        yield f"descriptive: {subtype}", last == subtype
    moments = ("null", "start", "end", "filter_moving", "filter_stationary")
    for token in (*moments, "get_col_partner", "filter_order"):
        yield f"descriptive: {token}", token in tokens
    for answer in map(str, range(6)) if last == "count" else ():
        yield f"count: {answer}", question.answer == answer
    if last == "exist":
        yield "exist: yes", question.answer == "yes"


def _predictive(scene: Scene, question: format.Question) -> Iterator[tuple[str, bool]]:
    hits = [event.objects for event in scene.events if event.kind == "Collision"]
    for choice in question.choices or ():
        steps: list[ProgramStep] = []
        # Among the video's events: only the pair is of interest, and needs no prediction.
        run([*choice.program, "events", "belong_to"], World(scene, Parameters()), steps.append)
        pair = _pair(steps)
        if choice.answer == "wrong":
            yield "predictive: the wrong pair was filmed", pair in hits
        else:
            met = all(any(number in objects for objects in hits) for number in pair)
            yield "predictive: both of the right pair were hit before", met


def _counterfactual(scene: Scene, question: format.Question) -> Iterator[tuple[str, bool]]:
    of_choices = [choice_steps(question, choice, scene) for choice in question.choices or ()]
    removed = next(
        (step.arguments[-1] for steps in of_choices for step in steps if step.token == "get_counterfact"), -1
    )
    kind, depends = removed_kind(scene, removed), _dependence(scene, removed)
    partners, negated = scene.partners.get(removed, set()) - {removed}, "negate" in question.program
    yield "counterfactual: negated", negated
    yield "counterfactual: removes what touches nothing", kind.partners == 0
    yield "counterfactual: removes an ancestor of others' collision", kind.ancestor
    yield "counterfactual: removes what has two partners or more", kind.partners == 2
    for choice, steps in zip(question.choices or (), of_choices, strict=True):
        pair = _pair(steps)
        if pair in depends:
            sort = SORTS[depends[pair]]
        else:
            sort = f"unfilmed, {('neither', 'one', 'both')[len(pair & partners)]} touched it"
        for name in SORTS:
            yield f"option: {name}", name == sort
        yield f"option: {sort} (happens)", (choice.answer == "correct") != negated


def _pair(steps: Sequence[ProgramStep]) -> frozenset[int]:
    """The objects of the collision that a choice names."""
    event = sought(steps)
    assert isinstance(event, SceneEvent)
    return event.objects
