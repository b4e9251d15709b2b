"""The records of an episode to remember."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import msgspec

Kind = Literal["update", "cascade", "absence", "deletion", "temporal"]
UNKNOWN = "unknown"
"""The answer where nothing is known."""
KINDS: Sequence[Kind] = ("update", "cascade", "absence", "deletion", "temporal")


class Step(msgspec.Struct, frozen=True, omit_defaults=True):
    """Something told, ended or forgotten; terms are IRIs, and a step's tick is its number.

    Attributes:
        kind: what is done.
        because: the number of the step from which this follows.
        author: who says so; who takes back what was said, for ``forget``.
    """

    kind: Literal["tell", "end", "forget"]
    person: str
    relation: str
    value: str
    because: int | None = None
    author: str = ""


class Question(msgspec.Struct, frozen=True):
    """What is known of a person by a relation after a step?"""

    kind: Kind
    person: str
    relation: str
    at: int
    expected: str


class Episode(msgspec.Struct, frozen=True):
    """Steps, and questions with their gold."""

    name: str
    steps: list[Step]
    questions: list[Question]
