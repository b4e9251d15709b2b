"""Check a growing branch against the shapes of classes, but only the triples that have changed.

The check covers the counts, classes and datatypes of a property's values (``sh:minCount``, ``sh:maxCount``,
``sh:class``, ``sh:datatype``). For an intervention it covers a property's ``rdfs:domain`` and ``rdfs:range``.
:meth:`substrate.rules.tbox.TBox.validate` checks a whole state against all of SHACL.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from math import inf
from typing import NamedTuple

import pyoxigraph as ox

from substrate.base.delta import Term
from substrate.base.vocabulary import RDF_TYPE
from substrate.rules.tbox import TBox

_RDFS = "http://www.w3.org/2000/01/rdf-schema#"
_ENDS = (ox.NamedNode(_RDFS + "domain"), ox.NamedNode(_RDFS + "range"))
_SHAPES = """
PREFIX sh: <http://www.w3.org/ns/shacl#>
SELECT DISTINCT ?shape ?target ?path ?most ?least ?class ?datatype ?message {
  ?shape sh:targetClass ?target ; sh:property ?property . ?property sh:path ?path FILTER isIRI(?path)
  FILTER NOT EXISTS { ?shape sh:deactivated true }
  OPTIONAL { ?property sh:maxCount ?most } OPTIONAL { ?property sh:minCount ?least }
  OPTIONAL { ?property sh:class ?class } OPTIONAL { ?property sh:datatype ?datatype }
  OPTIONAL { ?property sh:message ?message }
} ORDER BY ?shape ?path"""


class Shape(NamedTuple):
    """A shape's constraints on the values of one property, for the nodes of its target classes.

    >>> {shape.most for shape in shapes(TBox.load("village")) if shape.path.value.endswith(":at")}
    {1.0}
    """

    name: str
    targets: frozenset[ox.NamedNode]
    path: ox.NamedNode
    most: float
    least: float
    classes: frozenset[ox.NamedNode]
    datatype: ox.NamedNode | None
    message: str

    def violated(self, store: ox.Store, focus: Term) -> str:
        """A node's triples that break the shape, in words; empty if there are none."""
        if not _is_of(store, focus, self.targets):
            return ""
        values = [quad.object for quad in store.quads_for_pattern(focus, self.path, None)]  # pyright: ignore
        counted = self.least <= len(values) <= self.most
        wrong = values if not counted else [value for value in values if not self._allows(store, value)]
        if counted and not wrong:
            return ""
        wrong_values = ", ".join(sorted(map(str, wrong))) or "nothing"
        return f"{focus} {self.path} {wrong_values}: {self.message} (shape {self.name})"

    def _allows(self, store: ox.Store, value: Term) -> bool:
        fits = self.datatype is None or getattr(value, "datatype", None) == self.datatype
        return fits and (not self.classes or _is_of(store, value, self.classes))


@lru_cache(16)
def shapes(tbox: TBox) -> tuple[Shape, ...]:
    """The shapes of a TBox that a branch is checked against."""
    all_shapes: list[Shape] = []
    for row in tbox.store.query(_SHAPES):  # pyright: ignore[reportGeneralTypeIssues]  # a SELECT query
        name, target, path, most, least, kind, datatype, message_term = row  # pyright: ignore
        bounds = float(most.value) if most else inf, float(least.value) if least else 0.0
        below, classes = tbox.below(target), tbox.below(kind) if kind else frozenset[ox.NamedNode]()
        message = message_term.value if message_term else "breaks a shape"
        all_shapes.append(Shape(str(name), below, path, *bounds, classes, datatype, message))
    return tuple(all_shapes)


@lru_cache(16)
def _by_term(tbox: TBox) -> dict[Term, list[Shape]]:
    """The shapes by each term that they name: their property, target classes and required classes."""
    by_term: dict[Term, list[Shape]] = {}
    for shape in shapes(tbox):
        for term in {shape.path, *shape.targets, *shape.classes}:
            by_term.setdefault(term, []).append(shape)
    return by_term


def broken(tbox: TBox, store: ox.Store, changed: Iterable[ox.Quad]) -> list[str]:
    """The shapes that some changed triples break, each with the triples, in words."""
    pairs: dict[tuple[Shape, Term], None] = {}
    for quad in changed:
        kind = quad.object if quad.predicate == RDF_TYPE else None
        for shape in _by_term(tbox).get(kind or quad.predicate, ()):
            if kind is None or kind in shape.targets:
                pairs[shape, quad.subject] = None
            if kind in shape.classes:
                quads = store.quads_for_pattern(None, shape.path, quad.subject)
                pairs.update(((shape, other.subject), None) for other in quads)
    return list(filter(None, (shape.violated(store, focus) for shape, focus in pairs)))


def misplaced(tbox: TBox, store: ox.Store, quads: Iterable[ox.Quad]) -> list[str]:
    """The triples whose subject or object does not have the class that their property requires, in words."""
    faults: list[str] = []
    for quad in quads:
        for which, end in zip(_ENDS, (quad.subject, quad.object), strict=True):
            for declared in tbox.store.quads_for_pattern(quad.predicate, which, None):
                class_ = declared.object
                if not isinstance(class_, ox.NamedNode) or class_ not in tbox.classes:
                    continue
                if not _is_of(store, end, tbox.below(class_)):
                    faults.append(f"{quad}: {end} is no {tbox.label(class_)} ({which})")
    return faults


def _is_of(store: ox.Store, node: Term, classes: frozenset[ox.NamedNode]) -> bool:
    if not isinstance(node, ox.NamedNode | ox.BlankNode):
        return False
    return not classes.isdisjoint(quad.object for quad in store.quads_for_pattern(node, RDF_TYPE, None))
