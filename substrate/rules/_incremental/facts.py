"""Triples of some predicates, indexed; and what SPARQL makes of their terms, where it is plain."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from operator import eq, ge, gt, le, lt, ne
from typing import Any

Fact = tuple[str, str, str]
"""A triple as its three terms in N-Triples."""

_INTEGER = re.compile(r'"(0|-?[1-9]\d{0,17})"\^\^<http://www\.w3\.org/2001/XMLSchema#integer>')
_BOOLEAN = re.compile(r'"(true|false)"\^\^<http://www\.w3\.org/2001/XMLSchema#boolean>')
_IRI = re.compile(
    r"(?:urn:|https?://[a-z0-9.-]+/)(?:[A-Za-z0-9._~!$&'()*+,;=:@-]|%[0-9A-Fa-f]{2})"
    r"(?:[A-Za-z0-9._~!$&'()*+,;=:@/-]|%[0-9A-Fa-f]{2})*"
)


class BeyondError(Exception):
    """A value came up that only Oxigraph can judge."""


class Facts:
    """Triples by predicate, to be found by subject and by object.

    >>> facts = Facts(("<urn:in>",))
    >>> facts.add(("<urn:a>", "<urn:in>", "<urn:b>"))
    >>> list(facts.objects["<urn:in>"]["<urn:a>"])
    ['<urn:b>']
    """

    def __init__(self, predicates: Iterable[str]) -> None:
        self.objects: dict[str, dict[str, dict[str, None]]] = {predicate: {} for predicate in predicates}
        self.subjects: dict[str, dict[str, dict[str, None]]] = {predicate: {} for predicate in self.objects}

    def add(self, fact: Fact) -> None:
        """Take a triple in; its predicate is one of those that were named."""
        subject, predicate, object_ = fact
        objects, subjects = self.objects[predicate], self.subjects[predicate]
        if subject in objects:
            objects[subject][object_] = None
        else:
            objects[subject] = {object_: None}
        if object_ in subjects:
            subjects[object_][subject] = None
        else:
            subjects[object_] = {subject: None}

    def remove(self, fact: Fact) -> None:
        """Let go of a triple that is there."""
        subject, predicate, object_ = fact
        _without(self.objects[predicate], subject, object_)
        _without(self.subjects[predicate], object_, subject)


def _without(ends: dict[str, dict[str, None]], near: str, far: str) -> None:
    del ends[near][far]
    if not ends[near]:
        del ends[near]


def is_plain(term: str) -> bool:
    """Tell whether a term, as in N-Triples, is the same to SPARQL only where it is spelled the same.

    >>> is_plain('"7"^^<http://www.w3.org/2001/XMLSchema#integer>')
    True
    >>> is_plain('"07"^^<http://www.w3.org/2001/XMLSchema#integer>')
    False
    """
    if term[0] == "<":
        return term[1] != "<"
    return _is_plain_literal(term)


@lru_cache(maxsize=1 << 14)
def _is_plain_literal(term: str) -> bool:
    if term[0] != '"':
        return False
    return "^^<" not in term or bool(_INTEGER.fullmatch(term) or _BOOLEAN.fullmatch(term))


def compared(sign: str, left: str, right: str) -> bool:
    """Two terms held against each other, where both are integers, or IRIs that are equal or not.

    >>> compared("<", *(f'"{n}"^^<http://www.w3.org/2001/XMLSchema#integer>' for n in (9, 10)))
    True

    Raises:
        BeyondError: they are anything else.
    """
    one, other = _integer(left), _integer(right)
    if one is not None and other is not None:
        return COMPARE[sign](one, other)
    if sign in ("=", "!=") and left[0] == right[0] == "<":
        return COMPARE[sign](left, right)
    raise BeyondError


@lru_cache(maxsize=1 << 12)
def _integer(term: str) -> int | None:
    found = _INTEGER.fullmatch(term)
    return int(found[1]) if found else None


COMPARE: Mapping[str, Callable[[Any, Any], bool]] = {
    "=": eq, "!=": ne, "<": lt, "<=": le, ">": gt, ">=": ge,
}  # fmt: skip
"""The comparisons, by their signs in SPARQL."""


def text_of_term(term: str) -> str:
    """SPARQL's ``STR``.

    >>> text_of_term("<urn:a>"), text_of_term('"7"^^<http://www.w3.org/2001/XMLSchema#integer>')
    ('urn:a', '7')

    Raises:
        BeyondError: the term is no IRI, plain string or integer.
    """
    if term[0] == "<":
        return term[1:-1]
    if term[-1] == '"' and "\\" not in term:
        return term[1:-1]
    if integer := _INTEGER.fullmatch(term):
        return integer[1]
    raise BeyondError


def text_after(whole: str, mark: str) -> str:
    """SPARQL's ``STRAFTER``.

    >>> text_after("urn:a:b", ":"), text_after("urn:a:b", "/"), text_after("urn", "")
    ('a:b', '', 'urn')
    """
    place = whole.find(mark)
    return whole[place + len(mark) :] if place >= 0 else ""


def iri_of_text(text: str) -> str:
    """SPARQL's ``IRI``.

    >>> iri_of_text("urn:village:visit:3:ann")
    '<urn:village:visit:3:ann>'

    Raises:
        BeyondError: the text is more than a plain absolute IRI.
    """
    if not _IRI.fullmatch(text):
        raise BeyondError
    return f"<{text}>"
