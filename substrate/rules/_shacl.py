"""SHACL's words in a TBox: its terms, a shape's targets, and the parts that are switched off."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import NamedTuple

import pyoxigraph as ox

from substrate.base.delta import Term
from substrate.base.vocabulary import SHACL

_KINDS = ("targetClass", "targetNode", "targetSubjectsOf", "targetObjectsOf")


class Target(NamedTuple):
    """A target of a shape: its kind, such as ``targetClass``, and the term that the kind is about."""

    kind: str
    term: Term


def sh(name: str) -> ox.NamedNode:
    """A term of SHACL."""
    return ox.NamedNode(SHACL + name)


def sh_terms(names: str) -> frozenset[ox.NamedNode]:
    """The terms of SHACL whose names are given, with spaces between them."""
    return frozenset(map(sh, names.split()))


def deactivated(quads: Iterable[ox.Quad]) -> set[Term]:
    """The shapes and rules that ``sh:deactivated`` switches off."""
    word = sh("deactivated")
    off = (quad for quad in quads if quad.predicate == word)
    return {quad.subject for quad in off if quad.object.value in ("true", "1")}  # type: ignore[union-attr]


def targets(store: ox.Store, classes: Collection[Term], shape: Term) -> Iterator[Target]:
    """The targets of a shape. A shape that is a class targets its members."""
    for kind in _KINDS:
        yield from (Target(kind, quad.object) for quad in store.quads_for_pattern(shape, sh(kind), None))  # type: ignore[arg-type]
    if shape in classes:
        yield Target("targetClass", shape)


def owner(quads: Iterable[ox.Quad], node: Term) -> Term:
    """The node with an IRI to which a blank node of a TBox belongs; the blank node if there is none."""
    above: dict[Term, Term] = {
        quad.object: quad.subject for quad in quads if isinstance(quad.object, ox.BlankNode)
    }
    seen = set[Term]()
    while node in above and node not in seen:
        seen.add(node)
        node = above[node]
    return node
