"""The canonical spelling of a log's lines: a pattern recognizes most lines, the RDF library the rest."""

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
# Strings and tagged strings are spelled without their datatypes
_DATATYPE = rf"(?!<http://www\.w3\.org/(?:2001/XMLSchema\#string|1999/02/22-rdf-syntax-ns\#)){_IRI}"
# Writers escape the characters that this class excludes
_UNESCAPED = r'[^"\\\x00-\x1f\x7f\ud800-\udfff\ufffe\uffff]'
_LITERAL = rf'"{_UNESCAPED}*+(?:\\[tbnrf"\\]{_UNESCAPED}*+)*+"(?:@[a-z]{{2,3}}|\^\^{_DATATYPE})?+'
_SUBJECT_AND_PREDICATE = rf"(?:{_IRI}|{_BLANK}) {_IRI}"
_OBJECT = rf"{_IRI}|{_LITERAL}|{_BLANK}"
_TRIPLE_TERM = rf"<<\( {_SUBJECT_AND_PREDICATE} (?:{_OBJECT}) \)>>"
_LETTERS = ("A ", "D ")
_LETTER, _TRIPLE = itemgetter(0), itemgetter(slice(2, -2))
_IS_INSERT = bytes.maketrans(b"AD", b"\1\0")


@cache
def _plain() -> re.Pattern[str]:
    # Compiling takes 50 ms
    return re.compile(rf"(?:[AD] {_SUBJECT_AND_PREDICATE} (?:{_OBJECT}|{_TRIPLE_TERM}) \.\n)*+")


def is_plain(text: str) -> bool:
    """Tell whether the pattern proves that lines are valid and in their canonical spelling.

    The pattern does not cover characters beyond ASCII in IRIs, rarer language tags and nested triple terms.
    """
    return _plain().fullmatch(text) is not None


def require_spelled(text: str, *where: object) -> None:
    """Refuse lines of a log that are not in their canonical spelling.

    Args:
        text: the lines, each with its end.
        where: the place of the lines, for errors.

    Raises:
        LogError: a line is not a log's line, or is spelled differently.

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
        what = "its statements are not in their one spelling"
        raise LogError(what, where=where[:1], hint="Read it with EventLog.from_patch and save it")


def split_lines(text: str) -> tuple[bytearray, Iterator[str]]:
    """Split lines of a log into operations (1 for an insertion, 0 for a retraction) and triples.

    >>> inserts, triples = split_lines("A <urn:s> <urn:p> <urn:o> .\\nD <urn:s> <urn:p> <urn:o> .\\n")
    >>> list(inserts), list(triples)
    ([1, 0], ['<urn:s> <urn:p> <urn:o>', '<urn:s> <urn:p> <urn:o>'])
    """
    lines = text.split("\n")[:-1]
    return bytearray("".join(map(_LETTER, lines)).encode().translate(_IS_INSERT)), map(_TRIPLE, lines)
