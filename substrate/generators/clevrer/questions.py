"""All questions about a scene in the official format, with the mean numbers per kind of CLEVRER's validation
split.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from random import Random

from substrate.domains.clevrer.format import Annotation, Collision, Question, SceneQuestions, Subset
from substrate.generators.clevrer.choices import MultipleChoice, Pair, Wrong, explain, imagine, predict
from substrate.generators.clevrer.descriptive import Descriptive, ask
from substrate.generators.clevrer.events import Film
from substrate.generators.clevrer.phrases import Names

VALIDATION_SCENES = 5000
VALIDATION_QUESTIONS: dict[Subset, int] = {
    "descriptive": 54_990,
    "explanatory": 7_738,
    "predictive": 3_557,
    "counterfactual": 9_333,
}
FUTURES = 2_970
"""The number of these scenes with a collision after the video: 59 %, since in so many official scenes an
actor is still untouched at the end.
"""


def quota(scene_index: int) -> dict[Subset, int]:
    """A scene's number of questions of each kind; scenes 10000 to 14999 together get the official totals.

    Predictive questions are in :data:`FUTURES` of the scenes, one or two each.

    >>> sum(sum(quota(scene).values()) for scene in range(10_000, 15_000))
    75618
    """
    place = scene_index % VALIDATION_SCENES
    has_future = share(FUTURES, VALIDATION_SCENES, place)
    shares: dict[Subset, int] = {}
    for kind, total in VALIDATION_QUESTIONS.items():
        if kind != "predictive":
            shares[kind] = share(total, VALIDATION_SCENES, place)
        else:
            shares[kind] = has_future and share(total, FUTURES, place * FUTURES // VALIDATION_SCENES)
    return shares


def share(total: int, parts: int, place: int) -> int:
    """The part of a total at a place; all parts are within one of each other."""
    return (place + 1) * total // parts - place * total // parts


def write_down(
    annotation: Annotation,
    contacts: Sequence[Collision],
    without: Mapping[int, Sequence[Collision]],
    seed: int,
    *,
    wrong: Wrong = "any",
    misses: Mapping[Pair, float] | None = None,
) -> SceneQuestions:
    """Write the scene's questions, numbered from 0: descriptive, explanatory, predictive, counterfactual.

    Args:
        annotation: the visible part of the scene.
        contacts: every first contact of the simulation, hidden seconds included.
        without: for each object, every first contact of the simulation without it.
        seed: the world's seed.
        wrong: the kind of the wrong choices of predictive questions.
        misses: how near each pair comes to a collision after the video (units), if ``wrong`` needs it.
    """
    scene = annotation.scene_index
    film, names, wanted = Film(annotation), Names(tuple(annotation.object_property)), quota(scene)
    rng = {kind: Random(f"{seed}/{scene}/{kind}") for kind in wanted}
    numbered = _number(
        ask(film, names, rng["descriptive"], wanted["descriptive"]),
        {
            "explanatory": explain(film, names, rng["explanatory"], wanted["explanatory"]),
            "predictive": predict(
                contacts, names, rng["predictive"], wanted["predictive"], wrong=wrong, misses=misses
            ),
            "counterfactual": imagine(without, names, rng["counterfactual"], wanted["counterfactual"]),
        },
    )
    return SceneQuestions(scene, list(numbered), annotation.video_filename)


def _number(
    descriptive: Sequence[Descriptive], others: Mapping[Subset, Sequence[MultipleChoice]]
) -> Iterator[Question]:
    for number, question in enumerate(descriptive):
        yield Question(
            number, question.text, "descriptive", question.program.split(), question.subtype, question.answer
        )
    number = len(descriptive)
    for kind, questions in others.items():
        for question in questions:
            text, program = question.phrase.text, question.phrase.program.split()
            yield Question(number, text, kind, program, choices=question.numbered)
            number += 1
