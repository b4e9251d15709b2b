"""The tokens of SPARQL and Turtle: enough to tell a word from a string, an IRI or a comment, and to measure
how deep brackets nest.

A recursive parser crashes the process if brackets nest too deeply, so untrusted text is measured here before
it is parsed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from substrate.base.errors import SubstrateError
from substrate.base.limits import LIMITS

# The largest allowed depth of nested brackets
DEPTH = LIMITS.depth

# The body of a long string is greedy: before 3.11.5, Python mishandles a possessive group that backtracks.
_STRING = r"""(?P<string>\"{3}(?:[^"\\]|\\.|"(?!""))*\"{3} | '{3}(?:[^'\\]|\\.|'(?!''))*'{3}
              |"(?:[^"\\\n\r]|\\.)*+" | '(?:[^'\\\n\r]|\\.)*+')"""
_LEADING = r"""
    |(?P<iri><(?:[^<>"{}|^`\\\x00-\x20]|(?=\\u[0-9A-Fa-f]{4}|\\U[0-9A-Fa-f]{8})..)*+>)
    |(?P<comment>\#[^\n\r]*+)
    |(?P<variable>[?$]\w++)
    |(?P<name>[\w.-]*+:(?:[\w:.-]|(?=%[0-9A-Fa-f]{2})%|\\.)*+)
    |(?P<language>@[A-Za-z]++(?:-[A-Za-z0-9]++)*+)
"""
_NUMBER = r"|(?P<number>\d++(?:\.\d++)?(?:[eE][+-]?\d++)?)"
_WORD = r"|(?P<word>[^\W\d]\w*+)"
_RUN = r"|(?P<run>[\w.-]++)"
_LAST = r"|(?P<space>\s++) |(?P<mark>\|\||&&|\^\^|[!<>]=|<<|>>|.)"


def _compiled(*parts: str) -> re.Pattern[str]:
    return re.compile("".join(parts), re.VERBOSE | re.DOTALL)


_ALONE = r"(?![\w.:-])"
# Every token; a run without a colon after it is cut into numbers, words and marks
_TOKEN = _compiled(_STRING, _LEADING, _NUMBER, _ALONE, _WORD, _ALONE, _RUN, _LAST)
_IN_RUN = _compiled("(?!)", _NUMBER, _WORD, _LAST)
# Marks that open and close brackets
OPENING = frozenset({"(", "[", "{", "<<"})
CLOSING = frozenset({")", "]", "}", ">>"})


class Token(NamedTuple):
    """A piece of a text: its kind (``string``, ``iri``, ``word``, …), its text and its start."""

    kind: str
    text: str
    start: int


def tokens(text: str) -> Iterator[Token]:
    """The tokens of a query or of Turtle, without white space and comments.

    A string without an end is the last token, ``open``: a parser gets no further either.

    >>> [token.text for token in tokens('ASK { ?s :in "a # b" } # SERVICE')]
    ['ASK', '{', '?s', ':in', '"a # b"', '}']
    >>> [token.kind for token in tokens("ASK { ?s ?p 'a }")]
    ['word', 'mark', 'variable', 'variable', 'open']
    """
    # Each character is read a fixed number of times, whatever the text: no run is scanned again for a missing
    # colon, and no text again for a missing end of a string
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
            # An empty string followed by a third mark begins a long string
            if piece in ('"', "'") or (piece in ('""', "''") and text.startswith(piece[0], match.end())):
                yield Token("open", text[start:], start)
                return
            yield Token(kind, piece, start)
        else:
            return


def deepest(text: str) -> int:
    """The greatest depth of nested brackets; ``<<(`` counts as two.

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
    """Tell whether brackets nest deeper than :data:`DEPTH`; a text with fewer brackets is not scanned."""
    opening = text.count("(") + text.count("[") + text.count("{") + text.count("<<")
    return opening > DEPTH and deepest(text) > DEPTH


def require_shallow(text: str, error: type[SubstrateError], *where: object) -> None:
    """Refuse a text whose brackets nest too deeply for a parser.

    Raises:
        SubstrateError: an ``error`` at ``where``, if the brackets nest too deeply.
    """
    if nests_too_deeply(text):
        hint = "Write it flatter: a parser would run out of its stack"
        raise error(f"brackets stand more than {DEPTH} deep inside one another", where=where, hint=hint)
