"""A log up to a tick, indexed by subject and by object, without a store; terms keep their spelling."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import count

import pyoxigraph as ox

from substrate.base.delta import Term
from substrate.base.ntriples import quads_of
from substrate.log.event_log import EventLog

Fact = tuple[str, str, str]
"""A triple as its three terms in N-Triples."""
# One end of each triple ► its predicate ► the other ends, in the order of their insertion, with its position.
_Ends = dict[str, dict[str, dict[str, int]]]
_NONE: Mapping[str, dict[str, int]] = {}
_NOWHERE = -1


class Facts:
    """Triples that change; look-ups give them in the order of their insertion.

    >>> facts = Facts()
    >>> facts.change("A", "<urn:ann> <urn:in> <urn:cafe>")
    >>> list(facts.objects("<urn:ann>", "<urn:in>")), list(facts.subjects("<urn:in>", "<urn:cafe>"))
    (['<urn:cafe>'], ['<urn:ann>'])
    >>> facts.change("D", "<urn:ann> <urn:in> <urn:cafe>")
    >>> ("<urn:ann>", "<urn:in>", "<urn:cafe>") in facts
    False
    """

    def __init__(self) -> None:
        self._objects: _Ends = {}
        self._subjects: _Ends = {}

    def change(self, op: str, text: str, position: int = _NOWHERE) -> None:
        """Take in a delta: its letter in RDF Patch, its triple as spelled, its position in a log if any."""
        subject, predicate, object_ = text.split(" ", 2)
        if op == "A":
            self._objects.setdefault(subject, {}).setdefault(predicate, {}).setdefault(object_, position)
            self._subjects.setdefault(object_, {}).setdefault(predicate, {}).setdefault(subject, position)
        elif (subject, predicate, object_) in self:
            del self._objects[subject][predicate][object_]
            del self._subjects[object_][predicate][subject]

    def follow(self, log: EventLog, start: int, stop: int) -> None:
        """Take in a log's deltas from position ``start`` to before ``stop``."""
        positions = count(start)
        for columns, a, b in log.segments(start, stop):
            texts = log.triples.texts(columns.numbers[a:b])
            for insert, text, position in zip(columns.inserts[a:b], texts, positions, strict=False):
                self.change("A" if insert else "D", text, position)

    def objects(self, subject: str, predicate: str) -> Iterable[str]:
        """The objects that a subject has by a predicate."""
        return self._objects.get(subject, _NONE).get(predicate, ())

    def subjects(self, predicate: str, object_: str) -> Iterable[str]:
        """The subjects that have an object by a predicate."""
        return self._subjects.get(object_, _NONE).get(predicate, ())

    def about(self, subject: str) -> Iterator[Fact]:
        """The facts about a subject."""
        for predicate, objects in self._objects.get(subject, _NONE).items():
            for object_ in objects:
                yield subject, predicate, object_

    def position(self, fact: Fact) -> int:
        """The position in the followed log of the delta that made a standing fact true."""
        subject, predicate, object_ = fact
        return self._objects[subject][predicate][object_]

    def __contains__(self, fact: Fact) -> bool:
        subject, predicate, object_ = fact
        return object_ in self._objects.get(subject, _NONE).get(predicate, ())


def term_of(spelled: str) -> Term:
    """A term from its spelling in N-Triples.

    >>> term_of('"7"').value
    '7'
    """
    return quads_of([f"<urn:s> <urn:p> {spelled}"])[0].object


@lru_cache(maxsize=1 << 14)
def text_of_term(spelled: str) -> str:
    """The text of a literal, and any other term as it is spelled.

    >>> text_of_term('"a cup"'), text_of_term('"7"^^<http://www.w3.org/2001/XMLSchema#integer>')
    ('a cup', '7')
    """
    if spelled[0] != '"':
        return spelled
    if "\\" in spelled:
        return str(term_of(spelled).value)  # pyright: ignore[reportAttributeAccessIssue]
    return spelled[1 : spelled.rindex('"')]


@lru_cache(maxsize=1 << 14)
def literal(text: str) -> str:
    """The spelling of a plain literal.

    >>> literal("a cup")
    '"a cup"'
    """
    return str(ox.Literal(text))
