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
from substrate.base.limits import LIMITS

DEPTH = LIMITS.depth
"""Brackets that may stand inside one another."""

_STRING = r"""(?P<string>\"{3}(?:[^"\\]|\\.|"(?!""))*+\"{3} | '{3}(?:[^'\\]|\\.|'(?!''))*+'{3}
              |"(?:[^"\\\n\r]|\\.)*+" | '(?:[^'\\\n\r]|\\.)*+')"""
_LEADING = r"""
    |(?P<iri><(?:[^<>"{}|^`\\\x00-\x20]|\\u[0-9A-Fa-f]{4}|\\U[0-9A-Fa-f]{8})*+>)
    |(?P<comment>\#[^\n\r]*+)
    |(?P<variable>[?$]\w++)
    |(?P<name>[\w.-]*+:(?:[\w:.-]|%[0-9A-Fa-f]{2}|\\.)*+)
    |(?P<language>@[A-Za-z]++(?:-[A-Za-z0-9]++)*+)
"""
_NUMBER = r"|(?P<number>\d++(?:\.\d++)?(?:[eE][+-]?\d++)?)"
_WORD = r"|(?P<word>[^\W\d]\w*+)"
_RUN = r"|(?P<run>[\w.-]++)"
_LAST = r"|(?P<space>\s++) |(?P<mark>\|\||&&|\^\^|[!<>]=|<<|>>|.)"


def _compiled(*parts: str) -> re.Pattern[str]:
    return re.compile("".join(parts), re.VERBOSE | re.DOTALL)


_ALONE = r"(?![\w.:-])"
_TOKEN = _compiled(_STRING, _LEADING, _NUMBER, _ALONE, _WORD, _ALONE, _RUN, _LAST)
"""Every token; a run is cut into numbers, words and marks, once no colon is found behind it."""
_IN_RUN = _compiled("(?!)", _NUMBER, _WORD, _LAST)
OPENING = frozenset({"(", "[", "{", "<<"})
CLOSING = frozenset({")", "]", "}", ">>"})
"""Marks that begin and end what stands inside of brackets."""


class Token(NamedTuple):
    """A piece of a text: its kind (``string``, ``iri``, ``word``, …), how it is written, where it begins."""

    kind: str
    text: str
    start: int


def tokens(text: str) -> Iterator[Token]:
    """The tokens of a query or of Turtle, without white space and comments.

    A string that has no end is the last token, ``open``: a parser comes no further either.

    >>> [token.text for token in tokens('ASK { ?s :in "a # b" } # SERVICE')]
    ['ASK', '{', '?s', ':in', '"a # b"', '}']
    >>> [token.kind for token in tokens("ASK { ?s ?p 'a }")]
    ['word', 'mark', 'variable', 'variable', 'open']
    """
    # Each character is looked at a fixed number of times, whatever the text: no run is scanned again for the
    # colon that it lacks, and no text for the end of a string that has none
    place = 0
    while place < len(text):
        for match in _TOKEN.finditer(text, place):
            kind, piece, start = match.lastgroup or "", match[0], match.start()
            if kind == "space" or kind == "comment":
                continue
            if kind == "run":
                place = start
                while place < match.end() and (part := _IN_RUN.match(text, place)):
                    yield Token(part.lastgroup or "", part[0], place)
                    place = part.end()
                break
            # An empty string with a third mark behind it begins a long one
            if piece in ('"', "'") or (piece in ('""', "''") and text.startswith(piece[0], match.end())):
                yield Token("open", text[start:], start)
                return
            yield Token(kind, piece, start)
        else:
            return


def deepest(text: str) -> int:
    """The depth of the brackets at the deepest place; ``<<(`` counts as two.

    >>> deepest('ASK { { ?s ?p "((((" } }')
    2
    """
    depth = most = 0
    for _, mark, _ in tokens(text):
        if mark in OPENING:
            depth += 1
            most = max(most, depth)
        elif mark in CLOSING:
            depth = max(0, depth - 1)
    return most


def nests_too_deeply(text: str) -> bool:
    """Tell whether brackets nest deeper than :data:`DEPTH`; a text with fewer brackets is not read."""
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
