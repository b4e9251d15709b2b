"""The declaration of the paper's claims: relations over numbers, read from ``claims.yaml``.

:mod:`.relations` says what the paper prints of a relation and what is measured, :mod:`.verdict` what follows.
"""

from __future__ import annotations

import importlib.resources
from functools import cache
from typing import Literal, get_args

import msgspec

from orchestration.scoring.published import published

FILE = "orchestration/scoring/claims.yaml"
Relation = Literal["margin", "order", "same_bytes", "statement"]


class Judged(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A judge's word on a statement, in short and with its reason; the evidence read, and its digest."""

    verdict: Literal["proven", "refuted", "repaired"]
    here: str
    reason: str
    evidence: tuple[str, ...]
    digest: str


class Claim(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A claim in plain words, the paper's words with the line of its source, and one relation.

    ``also`` is a benchmark of other official questions, whose answers by the same methods are added.
    """

    claim: str
    words: str
    line: int
    where: str
    margin: tuple[str, ...] = ()
    order: tuple[str, ...] = ()
    same_bytes: tuple[str, ...] = ()
    statement: Judged | None = None
    also: str = ""

    @property
    def relation(self) -> Relation:
        """The claim's relation."""
        return next(relation for relation in get_args(Relation) if getattr(self, relation))

    @property
    def names(self) -> tuple[str, ...]:
        """The numbers, and perhaps a published system, of the relation."""
        return self.margin or self.order or self.same_bytes

    @property
    def rival(self) -> str:
        """The published system of a margin; empty if there is none."""
        return next((name for name in self.names if name in published().systems), "")

    @property
    def numbers(self) -> list[str]:
        """The numbers of the relation."""
        return [name for name in self.names if name != self.rival]


class Claims(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """All claims by name, and the names of numbers on official files.

    ``plot`` has the rows of the report's plot: by number a label, and the number with the figures beside it.
    """

    official: dict[str, str | None]
    claims: dict[str, Claim]
    plot: dict[str, tuple[str, str]]

    def on_official(self, number: str) -> str | None:
        """The number that measures the same on official files."""
        return self.official.get(number, number)


@cache
def claims() -> Claims:
    """Read the claims.

    >>> claims().claims["kinematics_order"].relation
    'order'
    """
    file = importlib.resources.files("orchestration.scoring") / "claims.yaml"
    return msgspec.yaml.decode(file.read_bytes(), type=Claims)
