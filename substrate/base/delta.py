"""Deltas and the triples that they change (paper, section 2)."""

from __future__ import annotations

import enum
from collections.abc import Iterable
from typing import NamedTuple, Self

import pyoxigraph as ox

from substrate.base.arguments import require, require_tick
from substrate.base.errors import ParameterError

Term = ox.NamedNode | ox.BlankNode | ox.Literal | ox.Triple
# Subject, predicate, object. In RDF 1.2 an object may be a triple term: `<<( <urn:s> <urn:p> <urn:o> )>>`
Triple = tuple[ox.NamedNode | ox.BlankNode, ox.NamedNode, Term]

_SUBJECTS = (ox.NamedNode, ox.BlankNode)
_OBJECTS = (ox.NamedNode, ox.Literal, ox.BlankNode, ox.Triple)


class Op(enum.Enum):
    """The operation of a delta on its triple (paper, section 2); the value is its letter in RDF Patch.

    >>> Op("A") is Op.INSERT, Op("D") is Op.RETRACT
    (True, True)
    """

    INSERT = "A"
    RETRACT = "D"


class _Parts(NamedTuple):
    tick: int
    op: Op
    triple: Triple


class Delta(_Parts):
    """A typed change of the state (paper, section 2): at ``tick``, insert or retract ``triple``.

    Raises:
        ParameterError: the tick is not a whole number, the operation is not an :class:`Op`, or the triple is
            not three pyoxigraph terms (subject, predicate, object); the message says which.

    >>> from pyoxigraph import NamedNode
    >>> fact = (NamedNode("urn:ann"), NamedNode("urn:likes"), NamedNode("urn:bo"))
    >>> Delta(tick=3, op=Op.INSERT, triple=fact).op.value
    'A'
    >>> Delta(3, Op.INSERT, ("urn:ann", "urn:likes", "urn:bo"))
    Traceback (most recent call last):
    substrate.base.errors.ParameterError: triple: 'urn:ann' cannot be a subject. Give three pyoxigraph terms;
    triple() of substrate.base makes them.
    """

    __slots__ = ()

    def __new__(cls, tick: int, op: Op, triple: Triple) -> Self:
        """Check the parts; ``_make`` skips the checks, for deltas that are already in a log."""
        require_tick(tick, "tick")
        require(op, Op, "an operation", "op")
        _require_triple(triple)
        return cls._make((tick, op, triple))

    def __repr__(self) -> str:
        try:
            return f"<Delta: tick {self.tick}, {self.op.name.lower()} {triple_line(self.triple)}>"
        except (AttributeError, TypeError):  # `_make` may have taken parts of wrong types
            return tuple.__repr__(self)


def triple_line(triple: Iterable[object]) -> str:
    """The terms of a triple on one line.

    >>> triple_line(("<urn:a>", "<urn:p>", "<urn:b>"))
    '<urn:a> <urn:p> <urn:b>'
    """
    return " ".join(map(str, triple))


def _require_triple(triple: Triple) -> None:
    try:
        check_terms(triple)
    except (TypeError, ValueError) as error:
        hint = "Give three pyoxigraph terms; triple() of substrate.base makes them"
        raise ParameterError(str(error), where=("triple",), hint=hint) from None


class Spelled(NamedTuple):
    """A delta whose triple is a text in its one spelling (:func:`substrate.base.ntriples.text_of`).

    >>> Spelled(3, Op.INSERT, "<urn:ann> <urn:likes> <urn:bo>").tick
    3
    """

    tick: int
    op: Op
    text: str


def triple_of(quad: ox.Quad) -> Triple:
    """A quad of the default graph as a triple.

    >>> triple_of(ox.Quad(ox.NamedNode("urn:s"), ox.NamedNode("urn:p"), ox.Literal(1)))[2].value
    '1'
    """
    # No parser returns a triple as a subject
    return (quad.subject, quad.predicate, quad.object)  # pyright: ignore[reportReturnType]


def check_terms(triple: Triple) -> None:
    """Check that each of three terms is of a kind that its place in a triple allows.

    Raises:
        TypeError: a term cannot be the subject, predicate or object of a triple.
        ValueError: there are not three terms.
    """
    subject, predicate, object_ = triple
    if not isinstance(subject, _SUBJECTS):
        raise TypeError(f"{subject!r} cannot be a subject")
    if not isinstance(predicate, ox.NamedNode):
        raise TypeError(f"{predicate!r} cannot be a predicate")
    if not isinstance(object_, _OBJECTS):
        raise TypeError(f"{object_!r} cannot be an object")
