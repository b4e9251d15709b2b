"""The tokens of SPARQL and Turtle: enough to tell a word from a string, an IRI or a comment, and how deep
brackets nest.

A parser that descends into brackets by calling itself ends the process where they nest too deeply; what
comes from a stranger is therefore measured here before it is parsed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from substrate.base.errors import SubstrateError

DEPTH = 64
"""Brackets that may stand inside one another, in a query, a TBox or a triple."""

_TOKEN = re.compile(
    r"""
    (?P<string>\"{3}(?:[^"\\]|\\.|"(?!""))*+\"{3} | '{3}(?:[^'\\]|\\.|'(?!''))*+'{3}
              |"(?:[^"\\\n\r]|\\.)*+" | '(?:[^'\\\n\r]|\\.)*+')
    |(?P<iri><(?:[^<>"{}|^`\\\x00-\x20]|\\u[0-9A-Fa-f]{4}|\\U[0-9A-Fa-f]{8})*+>)
    |(?P<comment>\#[^\n\r]*+)
    |(?P<variable>[?$]\w++)
    |(?P<name>[\w.-]*+:(?:[\w:.-]|%[0-9A-Fa-f]{2}|\\.)*+)
    |(?P<language>@[A-Za-z]++(?:-[A-Za-z0-9]++)*+)
    |(?P<number>\d++(?:\.\d++)?(?:[eE][+-]?\d++)?)
    |(?P<word>[^\W\d]\w*+)
    |(?P<space>\s++)
    |(?P<mark>\|\||&&|\^\^|[!<>]=|<<|>>|.)
    """,
    re.VERBOSE | re.DOTALL,
)
_OPENING = frozenset({"(", "[", "{", "<<"})
_CLOSING = frozenset({")", "]", "}", ">>"})


class Token(NamedTuple):
    """A piece of a text: its kind (``string``, ``iri``, ``word``, …), and how it is written."""

    kind: str
    text: str


def tokens(text: str) -> Iterator[Token]:
    """The tokens of a query or of Turtle, without white space and comments.

    >>> [token.text for token in tokens('ASK { ?s :in "a # b" } # SERVICE')]
    ['ASK', '{', '?s', ':in', '"a # b"', '}']
    """
    for match in _TOKEN.finditer(text):
        kind = match.lastgroup or ""
        if kind not in ("space", "comment"):
            yield Token(kind, match[0])


def deepest(text: str) -> int:
    """How many brackets stand inside one another at the deepest place; ``<<(`` counts as two.

    >>> deepest('ASK { { ?s ?p "((((" } }')
    2
    """
    depth = most = 0
    for _, mark in tokens(text):
        if mark in _OPENING:
            depth += 1
            most = max(most, depth)
        elif mark in _CLOSING:
            depth = max(0, depth - 1)
    return most


def nests_too_deeply(text: str) -> bool:
    """Whether brackets nest deeper than :data:`DEPTH`; a text with fewer brackets is not read."""
    opening = text.count("(") + text.count("[") + text.count("{") + text.count("<<")
    return opening > DEPTH and deepest(text) > DEPTH


def require_shallow(text: str, error: type[SubstrateError], *where: object) -> None:
    """Refuse a text whose brackets nest too deeply for a parser.

    Raises:
        SubstrateError: of the kind ``error``, at ``where``.
    """
    if nests_too_deeply(text):
        raise error(
            f"brackets stand more than {DEPTH} deep inside one another",
            where=where,
            hint="Write it flatter: a parser would run out of its stack",
        )
