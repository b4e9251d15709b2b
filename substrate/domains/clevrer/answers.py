"""The answers to a scene's questions, as rows; ``program.py`` runs the programs behind them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol, TypedDict, TypeVar

import msgspec
from msgspec.structs import replace

from substrate.base.errors import ProgramError
from substrate.domains.clevrer._chances import lacking_positions
from substrate.domains.clevrer.format import Choice, Question
from substrate.domains.clevrer.parameters import Parameters
from substrate.domains.clevrer.program import World, run, run_choices
from substrate.domains.clevrer.scene import Scene
from substrate.domains.rows import ChoiceRow, Row, SameAnswer, graded
from substrate.log.event_log import EventLog

_LABELS = {"yes": "correct", "no": "wrong"}


def answer_scene(
    log: EventLog, scene_index: int, questions: Iterable[Question], parameters: Parameters, split: str
) -> Iterator[Row]:
    """Answer each question about a scene with one row, in question order.

    Args:
        log: the scene's event log.
        scene_index: the scene's number in its split.
        split: the name of the split, for the rows.

    If a program cannot run, its row has the answer ``error`` with the reason, and counts as wrong.
    """
    common = {"benchmark": "clevrer", "split": split, "scene": scene_index, "log": log.digest}
    world = World.of(Scene.of(log), parameters)
    ordered = sorted(questions, key=lambda question: question.question_id)
    answered = rows(ordered, world, LANGUAGE, lambda question: question.question_type, common)
    for question, row in zip(ordered, answered, strict=True):
        note = lacking_positions(question.program, world.scene)
        yield replace(row, note=note) if note else row


class Language(NamedTuple):
    """The functions that run a benchmark's programs, and its test of whether two answers are the same."""

    run: Callable[[Sequence[str], World], str]
    run_choices: Callable[[Sequence[str], Sequence[Sequence[str]], World], Iterable[str | ProgramError]]
    same: SameAnswer


LANGUAGE = Language(run, run_choices, str.__eq__)
"""CLEVRER's programs."""


class Asked(Protocol):
    """The parts of a question that answering and explaining need."""

    @property
    def question_id(self) -> int:
        """The question's number in the scene."""
        ...

    @property
    def question(self) -> str:
        """The question in words."""
        ...

    @property
    def program(self) -> list[str]:
        """The question's program."""
        ...

    @property
    def answer(self) -> str | None:
        """The gold of an open question, if any."""
        ...

    @property
    def choices(self) -> list[Choice] | None:
        """The choices of a multiple-choice question."""
        ...


Q = TypeVar("Q", bound=Asked)


def rows(
    questions: Iterable[Q],
    world: World,
    language: Language,
    subset: Callable[[Q], str],
    common: Mapping[str, Any],
) -> Iterator[Row]:
    """Answer each question with one row, in question order.

    Args:
        subset: gives the subset that a question belongs to.
        common: the fields that all rows of the scene share.
    """
    for question in sorted(questions, key=lambda q: q.question_id):
        place = {"subset": subset(question), "question": question.question_id, **common}
        if question.choices:
            choices = in_order(question.choices)
            programs = [choice.program for choice in choices]
            yield Row(
                **place, **judged_choices(choices, language.run_choices(question.program, programs, world))
            )
            continue
        try:
            predicted, error = language.run(question.program, world), None
        except ProgramError as reason:
            predicted, error = "error", str(reason)
        yield graded(predicted, question.answer, error, same=language.same, **place)


def in_order(choices: Iterable[Choice]) -> list[Choice]:
    """A question's choices by number."""
    return sorted(choices, key=lambda choice: choice.choice_id)


class JudgedChoices(TypedDict):
    """The fields of a multiple-choice question's row that its choices decide."""

    predicted: str
    expected: str | None
    correct: bool | None
    choices: list[ChoiceRow]
    error: str | msgspec.UnsetType


def judged_choices(choices: Sequence[Choice], outcomes: Iterable[str | ProgramError]) -> JudgedChoices:
    """The fields of a multiple-choice question's row: right only if all of its choices are right.

    Args:
        choices: the choices, in order.
        outcomes: per choice ``yes``, ``no`` or the error of its program.
    """
    rows: list[ChoiceRow] = []
    errors: list[str] = []
    for choice, outcome in zip(choices, outcomes, strict=True):
        predicted = "error" if isinstance(outcome, ProgramError) else _LABELS.get(outcome, "error")
        rows.append(ChoiceRow(choice.choice_id, predicted, choice.answer))
        if predicted == "error":
            reason = outcome if isinstance(outcome, ProgramError) else f"answers {outcome}, not yes or no"
            errors.append(f"choice {choice.choice_id}: {reason}")
    gold = [row.expected for row in rows if row.expected is not None]
    has_gold = len(gold) == len(rows)
    return {
        "predicted": "error" if errors else ",".join(row.predicted for row in rows),
        "expected": ",".join(gold) if has_gold else None,
        "correct": all(row.predicted == row.expected for row in rows) if has_gold else None,
        "choices": rows,
        "error": errors[0] if errors else msgspec.UNSET,
    }


def choice_program(program: Sequence[str], choice: Choice) -> list[str]:
    """The program that judges a choice: the choice's program, then the question's."""
    return [*choice.program, *program]
