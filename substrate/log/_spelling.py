"""The one spelling of a log's lines: most are told by a pattern, the rest by the RDF library."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from operator import itemgetter

import pyoxigraph as ox

from substrate.base.errors import LogError
from substrate.log.patch import require_flat

_PATH = r"[A-Za-z0-9._~!$&'()*+,;=:@/-]"
_IRI = (
    r"<[A-Za-z][A-Za-z0-9+.-]*+:(?:(?!//)|//[A-Za-z0-9.-]*+(?=[/?#>]))"
    rf"{_PATH}*+(?:\?(?:{_PATH}|\?)*+)?+(?:\#(?:{_PATH}|\?)*+)?+>"
)
_BLANK = r"_:[A-Za-z][A-Za-z0-9]*+"
# Strings and tagged strings are not spelled with their datatypes; who writes them escapes these characters
_DATATYPE = rf"(?!<http://www\.w3\.org/(?:2001/XMLSchema\#string|1999/02/22-rdf-syntax-ns\#)){_IRI}"
_UNESCAPED = r'[^"\\\x00-\x1f\x7f\ud800-\udfff\ufffe\uffff]'
_LITERAL = rf'"{_UNESCAPED}*+(?:\\[tbnrf"\\]{_UNESCAPED}*+)*+"(?:@[a-z]{{2,3}}|\^\^{_DATATYPE})?+'
_SUBJECT_AND_PREDICATE = rf"(?:{_IRI}|{_BLANK}) {_IRI}"
_OBJECT = rf"{_IRI}|{_LITERAL}|{_BLANK}"
_SAID = rf"<<\( {_SUBJECT_AND_PREDICATE} (?:{_OBJECT}) \)>>"
_LETTERS = ("A ", "D ")
_LETTER, _TRIPLE = itemgetter(0), itemgetter(slice(2, -2))
_IS_INSERT = bytes.maketrans(b"AD", b"\1\0")


@cache
def _plain() -> re.Pattern[str]:
    return re.compile(rf"(?:[AD] {_SUBJECT_AND_PREDICATE} (?:{_OBJECT}|{_SAID}) \.\n)*+")  # takes 50 ms


def is_plain(text: str) -> bool:
    """Tell lines of a log in their one spelling: no parser would find fault with them, nor write them
    otherwise.

    Some lines in their one spelling are not among them: those with characters beyond ASCII in IRIs, rarer
    language tags, or triple terms inside one another.
    """
    return _plain().fullmatch(text) is not None


def require_spelled(text: str, *where: object) -> None:
    """Refuse lines of a log that are not in their one spelling.

    Args:
        text: the lines, each with its end.
        where: where they stand.

    Raises:
        LogError: a line is not one that a log has, or is spelled otherwise.

    >>> require_spelled('A <urn:s> <urn:p> "a"@EN .\\n', "a.rdfp")
    Traceback (most recent call last):
    substrate.base.errors.LogError: a.rdfp: its statements are not in their one spelling. Read it with ...
    """
    if is_plain(text):
        return
    require_flat(text, *where)
    lines = text.split("\n")[:-1]
    if wrong := next((line for line in lines if not line.startswith(_LETTERS)), None):
        raise LogError(f"not a line of RDF Patch ({wrong[:2]!r})")
    statements = "".join([f"{statement}\n" for statement in dict.fromkeys(line[2:] for line in lines)])
    if ox.serialize(ox.parse(statements, ox.RdfFormat.N_TRIPLES), format=ox.RdfFormat.N_TRIPLES) != (
        statements.encode()
    ):
        raise LogError(
            "its statements are not in their one spelling",
            where=where[:1],
            hint="Read it with EventLog.from_patch and save it",
        )


def apart(text: str) -> tuple[bytearray, Iterator[str]]:
    """The operations of lines of a log, 1 for an insertion and 0 for a retraction, and their triples.

    >>> inserts, triples = apart("A <urn:s> <urn:p> <urn:o> .\\nD <urn:s> <urn:p> <urn:o> .\\n")
    >>> list(inserts), list(triples)
    ([1, 0], ['<urn:s> <urn:p> <urn:o>', '<urn:s> <urn:p> <urn:o>'])
    """
    lines = text.split("\n")[:-1]
    return bytearray("".join(map(_LETTER, lines)).encode().translate(_IS_INSERT)), map(_TRIPLE, lines)
