"""Python values as RDF terms: namespaces, and one rule for literals.

The rule in both directions:

=============================  =======================  ==============================================
Python                         RDF                      back to Python
=============================  =======================  ==============================================
``str``                        ``xsd:string``           ``str``; with a language tag it stays a literal
``bool``                       ``xsd:boolean``          ``bool``
``int``                        ``xsd:integer``          ``int``
``float``                      ``xsd:double``           ``float``
``decimal.Decimal``            ``xsd:decimal``          ``decimal.Decimal``
``datetime.datetime``          ``xsd:dateTime``         ``datetime.datetime``, its time zone kept
``datetime.date``              ``xsd:date``             ``datetime.date``
three values                   a triple term            stays a term
a term of pyoxigraph           itself                   itself
=============================  =======================  ==============================================

A ``str`` is always a text, never an IRI: an IRI is a ``NamedNode``, or comes from a :class:`Namespace`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import date, datetime
from decimal import Decimal, InvalidOperation
from typing import Any

import pyoxigraph as ox

from substrate.base.delta import Term, Triple
from substrate.base.errors import ParameterError
from substrate.base.times import read_date, read_time

Value = Any
"""The types that :func:`term` takes: a term of pyoxigraph, or a Python value of the table above."""

_XSD = "http://www.w3.org/2001/XMLSchema#"


class Namespace:
    """IRIs that share a beginning, written as attributes or items.

    >>> V = Namespace("https://example.org/village#")
    >>> V.ann.value, V["two words".replace(" ", "-")].value, V.ann in V
    ('https://example.org/village#ann', 'https://example.org/village#two-words', True)

    Raises:
        ParameterError: the beginning is not a text, or a name in the namespace gives no valid IRI.
    """

    __slots__ = ("_iri",)
    _iri: str

    def __init__(self, iri: str) -> None:
        if not isinstance(iri, str):
            what = f"a namespace is a text, not {type(iri).__name__}"
            raise ParameterError(what, hint='Write Namespace("https://…#")')
        object.__setattr__(self, "_iri", iri)
        _ = self["name"]  # raises the error if the beginning cannot begin an IRI

    def __getattr__(self, name: str) -> ox.NamedNode:
        if name.startswith("__"):
            raise AttributeError(name)
        return self[name]

    def __getitem__(self, name: str) -> ox.NamedNode:
        try:
            return ox.NamedNode(self._iri + name)
        except ValueError as error:
            what = f"{self._iri + name!r} is not an IRI ({error})"
            raise ParameterError(what, hint="Write an absolute IRI; escape spaces as %20") from error

    def __contains__(self, term: object) -> bool:
        return isinstance(term, ox.NamedNode) and term.value.startswith(self._iri)

    def __setattr__(self, name: str, value: object) -> None:
        raise ParameterError("a namespace does not change", hint="Make another one")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Namespace) and other._iri == self._iri

    def __hash__(self) -> int:
        return hash((Namespace, self._iri))

    def __reduce__(self) -> tuple[type[Namespace], tuple[str]]:
        return Namespace, (self._iri,)

    def __str__(self) -> str:
        return self._iri

    def __repr__(self) -> str:
        return f"Namespace({self._iri!r})"


def term(value: Value) -> Term:
    """Convert a value to an RDF term, by the rule of this module.

    >>> print(term(3), term(True), term("three"), term(datetime(2026, 2, 14, 17)))
    "3"^^<http://www.w3.org/2001/XMLSchema#integer> "true"^^<http://www.w3.org/2001/XMLSchema#boolean>
    "three" "2026-02-14T17:00:00"^^<http://www.w3.org/2001/XMLSchema#dateTime>

    Raises:
        ParameterError: the rule does not cover this type of value.
    """
    if isinstance(value, ox.NamedNode | ox.BlankNode | ox.Literal | ox.Triple):
        return value
    # In Python a bool is an int, which pyoxigraph knows, and a datetime is a date, so it is tested first.
    if isinstance(value, str | bool | int | float):
        try:
            return ox.Literal(value)
        except ValueError:  # an integer of more than 64 bits, or half a character
            if isinstance(value, int):
                return ox.Literal(str(value), datatype=ox.NamedNode(f"{_XSD}integer"))
    if isinstance(value, Decimal) and value.is_finite():
        return ox.Literal(f"{value:f}", datatype=ox.NamedNode(f"{_XSD}decimal"))
    if isinstance(value, datetime):
        return ox.Literal(value.isoformat().replace("+00:00", "Z"), datatype=ox.NamedNode(f"{_XSD}dateTime"))
    if isinstance(value, date):
        return ox.Literal(value.isoformat(), datatype=ox.NamedNode(f"{_XSD}date"))
    if isinstance(value, tuple) and len(value) == 3:
        return ox.Triple(*triple(*value))
    hint = "Give a pyoxigraph term, Unicode text, a bool, number, datetime or date, or three of these"
    raise ParameterError(f"no RDF term for {value!r} of type {type(value).__name__}", hint=hint)


def triple(subject: Value, predicate: Value, object: Value) -> Triple:
    """Convert three values to a triple.

    >>> V = Namespace("urn:v:")
    >>> triple(V.ann, V.age, 7)[2].value
    '7'

    Raises:
        ParameterError: the subject is no node, the predicate no IRI, or the object no value; says which.
    """
    if not isinstance(subject, ox.NamedNode | ox.BlankNode):
        raise _not("subject", subject, "an IRI or a blank node")
    if not isinstance(predicate, ox.NamedNode):
        raise _not("predicate", predicate, "an IRI")
    try:
        return subject, predicate, term(object)
    except ParameterError as error:
        raise error.within("object") from None


def _not(place: str, value: Value, wanted: str) -> ParameterError:
    hint = "Write NamedNode(…), or a name of a Namespace; a str is a text, never an IRI"
    return ParameterError(f"{value!r} is not {wanted}", where=(place,), hint=hint)


def value(term: Term) -> Value:
    """Convert a term to a Python value if the rule of this module has one; else return the term.

    A literal stays a literal if its text does not fit its datatype, or is a time that Python cannot hold.

    >>> value(ox.Literal(7)), value(ox.NamedNode("urn:v:ann")).value
    (7, 'urn:v:ann')
    """
    if not isinstance(term, ox.Literal) or term.language:
        return term
    read = _READERS.get(term.datatype.value)
    try:
        return read(term.value) if read else term
    except (ValueError, InvalidOperation, KeyError):
        return term


def _reading(kind: Callable[[str], Value], letters: str, words: Iterable[str] = ()) -> Callable[[str], Value]:
    """A reader of numbers in XSD's notation: Python's own readers accept more, such as underscores."""

    def read(text: str) -> Value:
        if text not in words and not set(text) <= set(letters):
            raise ValueError(text)
        return kind(text)

    return read


_BOOLEANS = {"true": True, "1": True, "false": False, "0": False}
_READERS: Mapping[str, Callable[[str], Value]] = {
    f"{_XSD}string": str,
    f"{_XSD}boolean": _BOOLEANS.__getitem__,
    f"{_XSD}integer": _reading(int, "0123456789+-"),
    f"{_XSD}double": _reading(float, "0123456789+-.eE", ("INF", "+INF", "-INF", "NaN")),
    f"{_XSD}decimal": _reading(Decimal, "0123456789+-."),
    f"{_XSD}dateTime": read_time,
    f"{_XSD}date": read_date,
}
