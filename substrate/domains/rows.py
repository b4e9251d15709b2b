"""The rows that record answers: one per question, the same bytes for the same input."""

from __future__ import annotations

from collections.abc import Callable
from operator import eq
from typing import Any

import msgspec


class ChoiceRow(msgspec.Struct, frozen=True):
    """An option of a multiple-choice question; ``expected`` is ``None`` without gold."""

    choice: int
    predicted: str
    expected: str | None
    probability: float | msgspec.UnsetType = msgspec.UNSET


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """A question: its predicted and expected answer, and the log that the prediction was computed from.

    ``expected`` and ``correct`` are ``None`` without gold. Keys are written in this order; ``choices``,
    ``error``, the supporting facts, probabilities and the note only if present.
    """

    benchmark: str
    split: str
    subset: str
    scene: int | str
    question: int | str
    predicted: str
    expected: str | None
    correct: bool | None
    choices: list[ChoiceRow] | msgspec.UnsetType = msgspec.UNSET
    log: str
    error: str | msgspec.UnsetType = msgspec.UNSET
    supporting: tuple[int, ...] | msgspec.UnsetType = msgspec.UNSET
    """Ticks of the facts that the answer rests on."""
    expected_supporting: tuple[int, ...] | msgspec.UnsetType = msgspec.UNSET
    probability: float | msgspec.UnsetType = msgspec.UNSET
    """The answer's probability, given the question's presuppositions."""
    note: str | msgspec.UnsetType = msgspec.UNSET
    """A lack of the input that the answer makes up for by a weaker rule."""


SameAnswer = Callable[[str, str], bool]
"""A test of whether two answers are the same."""


def graded(
    predicted: str, expected: str | None, error: str | None = None, same: SameAnswer = eq, **fields: Any
) -> Row:
    """The row of an open question; with an error its answer is ``error``, which is wrong.

    Args:
        predicted: the answer.
        expected: the gold, if any.
        error: the reason, if the question could not be answered.
        same: whether two answers are the same.
        fields: the row's other fields.

    >>> place = {"benchmark": "babi", "split": "train", "subset": "qa1", "scene": 1, "question": 2, "log": ""}
    >>> [graded(answer, "hall", **place).correct for answer in ("hall", "park")]
    [True, False]
    """
    correct = None if expected is None else not error and same(predicted, expected)
    answer, reason = ("error", error) if error else (predicted, msgspec.UNSET)
    return Row(predicted=answer, expected=expected, correct=correct, error=reason, **fields)


_encoder = msgspec.json.Encoder()


def encode(row: Row) -> bytes:
    """A row as one line of JSON, without the line's end.

    >>> asked = {"benchmark": "babi", "split": "train", "subset": "qa1", "scene": 1, "question": 2}
    >>> row = Row(**asked, predicted="hall", expected="hall", correct=True, log="sha256:aa")
    >>> encode(row)[:47]
    b'{"benchmark": "babi", "split": "train", "subset'
    """
    return msgspec.json.format(_encoder.encode(row), indent=0)


decode = msgspec.json.Decoder(Row).decode
"""Decodes a row from its line."""
