"""Questions ► answers: each question's program run on its scene, one row a question."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from substrate.domains.clevrer.format import Choice, Question
from substrate.domains.clevrer.parameters import Parameters
from substrate.domains.clevrer.program import World, run
from substrate.domains.clevrer.scene import Scene
from substrate.errors import ProgramError
from substrate.log import EventLog
from substrate.rows import ChoiceRow, Row

_LABELS = {"yes": "correct", "no": "wrong"}


def answer_scene(log: EventLog, scene_index: int, questions: Iterable[Question], parameters: Parameters, split: str) -> Iterator[Row]:
    """A row for each question about a scene, in question order.

    Args:
        log: the scene's event log.
        scene_index: the scene's number in its split.
        split: the name of the split, for the rows.

    A question whose program cannot run is answered ``error`` with the reason, and counts as wrong.
    """
    world = World(Scene(log), parameters)
    digest = log.digest
    for question in sorted(questions, key=lambda q: q.question_id):
        predicted, error, choices = _answer(question, world)
        if choices is msgspec.UNSET:
            expected, correct = question.answer, None if question.answer is None else predicted == question.answer
        else:
            expected, correct = _joined([c.expected for c in choices]), _all_equal(choices)
        yield Row(
            benchmark="clevrer",
            split=split,
            subset=question.question_type,
            scene=scene_index,
            question=question.question_id,
            predicted=predicted,
            expected=expected,
            correct=correct,
            choices=choices,
            log=digest,
            error=error,
        )


def _answer(question: Question, world: World) -> tuple[str, str | msgspec.UnsetType, list[ChoiceRow] | msgspec.UnsetType]:
    if not question.choices:
        predicted, error = _run(question.program, world)
        return predicted, error, msgspec.UNSET
    choices, first_error = [], msgspec.UNSET
    for choice in sorted(question.choices, key=lambda c: c.choice_id):
        predicted, error = _run(choice_program(question, choice), world)
        choices.append(ChoiceRow(choice.choice_id, _LABELS.get(predicted, "error"), choice.answer))
        if first_error is msgspec.UNSET and error is not msgspec.UNSET:
            first_error = f"choice {choice.choice_id}: {error}"
    return "error" if first_error is not msgspec.UNSET else _joined([c.predicted for c in choices]) or "", first_error, choices


def choice_program(question: Question, choice: Choice) -> list[str]:
    """The program that says whether a choice is right: the choice's, then the question's."""
    return choice.program + question.program


def _run(program: list[str], world: World) -> tuple[str, str | msgspec.UnsetType]:
    try:
        return run(program, world), msgspec.UNSET
    except ProgramError as error:
        return "error", str(error)


def _joined(labels: list[str | None]) -> str | None:
    known = [label for label in labels if label is not None]
    return ",".join(known) if len(known) == len(labels) else None


def _all_equal(choices: list[ChoiceRow]) -> bool | None:
    if any(c.expected is None for c in choices):
        return None
    return all(c.predicted == c.expected for c in choices)
