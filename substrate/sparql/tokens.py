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
_UNQUOTED = _compiled("(?P<quote>[\"'])", _LEADING, _NUMBER, _ALONE, _WORD, _ALONE, _RUN, _LAST)
_IN_RUN = _compiled("(?!)", _NUMBER, _WORD, _LAST)
_QUOTES = frozenset({'"', "'", '""', "''"})
_SHORT = {
    '"': re.compile(r'"(?:[^"\\\n\r]|\\.)*+', re.DOTALL),
    "'": re.compile(r"'(?:[^'\\\n\r]|\\.)*+", re.DOTALL),
}
"""A short string up to, not including, the mark that closes it."""
_LONG = {
    '"': re.compile(r'"{3}(?:[^"\\]|\\.|"(?!""))*+"{3}', re.DOTALL),
    "'": re.compile(r"'{3}(?:[^'\\]|\\.|'(?!''))*+'{3}", re.DOTALL),
}
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

    >>> [token.text for token in tokens('ASK { ?s :in "a # b" } # SERVICE')]
    ['ASK', '{', '?s', ':in', '"a # b"', '}']
    """
    # Each character is looked at a fixed number of times, whatever the text: no run is scanned again for the
    # colon that it lacks, and no quotation mark for the one that would close it
    place, strings = 0, None
    while place < len(text):
        for match in (_UNQUOTED if strings else _TOKEN).finditer(text, place):
            kind = match.lastgroup
            if kind == "space" or kind == "comment":
                continue
            piece = match[0]
            if kind == "run":
                place = match.start()
                while place < match.end() and (part := _IN_RUN.match(text, place)):
                    yield Token(part.lastgroup or "", part[0], place)
                    place = part.end()
                break
            if kind == "quote" and strings:
                kind, place = strings.at(match.start())
                yield Token(kind, text[match.start() : place], match.start())
                break
            if piece in _QUOTES and (kind == "mark" or text.startswith(piece[0], match.end())):
                # A string has no end: from here on what is known of the marks is kept
                strings, place = _Strings(text), match.start()
                break
            yield Token(kind or "", piece, match.start())
        else:
            return


class _Strings:
    """The strings of a text in which one string has no end; they are asked for in their order."""

    def __init__(self, text: str) -> None:
        self._text = text
        # Per mark: no long string begins from here on, no short one ends before there
        self._endless: set[str] = set()
        self._open = {'"': 0, "'": 0}

    def at(self, place: int) -> tuple[str, int]:
        """The string that begins at a quotation mark, or the mark alone, and where it ends."""
        text, mark = self._text, self._text[place]
        if mark not in self._endless and text.startswith(mark * 3, place):
            if match := _LONG[mark].match(text, place):
                return "string", match.end()
            self._endless.add(mark)
        if place >= self._open[mark]:
            match = _SHORT[mark].match(text, place)
            end = match.end() if match else place + 1
            if text.startswith(mark, end):
                return "string", end + 1
            self._open[mark] = end
        return "mark", place + 1


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
