"""Questions ► answers: each question's program run on its scene, one row a question."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from substrate.domains.clevrer.format import Choice, Question
from substrate.domains.clevrer.parameters import Parameters
from substrate.domains.clevrer.program import World, run, run_choices
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
            gold = [choice.expected for choice in choices if choice.expected is not None]
            graded = len(gold) == len(choices)
            expected, correct = (_joined(gold), all(c.predicted == c.expected for c in choices)) if graded else (None, None)
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
        try:
            return run(question.program, world), msgspec.UNSET, msgspec.UNSET
        except ProgramError as error:
            return "error", str(error), msgspec.UNSET
    rows: list[ChoiceRow] = []
    first_error: str | msgspec.UnsetType = msgspec.UNSET
    choices = sorted(question.choices, key=lambda c: c.choice_id)
    for choice, outcome in zip(choices, run_choices(question.program, [c.program for c in choices], world), strict=True):
        predicted = "error" if isinstance(outcome, ProgramError) else _LABELS.get(outcome, "error")
        rows.append(ChoiceRow(choice.choice_id, predicted, choice.answer))
        if predicted == "error" and first_error is msgspec.UNSET:
            first_error = f"choice {choice.choice_id}: {outcome if isinstance(outcome, ProgramError) else f'answers {outcome}, not yes or no'}"
    return _joined([row.predicted for row in rows]) if first_error is msgspec.UNSET else "error", first_error, rows


def choice_program(question: Question, choice: Choice) -> list[str]:
    """The program that says whether a choice is right: the choice's, then the question's."""
    return choice.program + question.program


def _joined(labels: list[str]) -> str:
    return ",".join(labels)
