"""Rows in the layout that CLEVRER's evaluation server takes: a list of scenes, each with its answers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from substrate.domains.rows import ChoiceRow, Row


def submitted(rows: Iterable[Row]) -> dict[str, Any]:
    """A scene's entry in a submission, from the rows of its questions.

    A choice that could not be judged is ``wrong``, since the layout has no third value. An open question that
    could not be answered keeps the answer ``error``, which is never right.

    >>> asked = {"benchmark": "clevrer", "split": "test", "scene": 15000, "log": "", "expected": None}
    >>> choice = ChoiceRow(0, "error", None)
    >>> submitted([Row(**asked, subset="predictive", question=2, predicted="error", correct=None,
    ...                choices=[choice])])["questions"]
    [{'question_id': 2, 'question_type': 'predictive', 'choices': [{'choice_id': 0, 'answer': 'wrong'}]}]
    """
    listed = list(rows)
    return {"scene_index": listed[0].scene, "questions": [_answered(row) for row in listed]}


def _answered(row: Row) -> dict[str, Any]:
    identity = {"question_id": row.question, "question_type": row.subset}
    if not row.choices:
        return {**identity, "answer": row.predicted}
    return {**identity, "choices": [_judged(choice) for choice in row.choices]}


def _judged(choice: ChoiceRow) -> dict[str, Any]:
    return {"choice_id": choice.choice, "answer": "correct" if choice.predicted == "correct" else "wrong"}
