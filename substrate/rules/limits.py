"""The most objects that a property may have at a time, as the active shapes of a TBox limit it.

Only limits that hold without a condition count; :func:`limits` says which these are.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

import pyoxigraph as ox

from substrate.base.delta import Term
from substrate.base.errors import TBoxError
from substrate.base.vocabulary import RDF_TYPE
from substrate.rules._shacl import Target, deactivated, owner, sh, targets

_FUNCTIONAL = ox.NamedNode("http://www.w3.org/2002/07/owl#FunctionalProperty")
_LIMITS = """
PREFIX rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#>
PREFIX sh: <http://www.w3.org/ns/shacl#>
SELECT DISTINCT ?root ?property ?most ?shape {
  ?shape sh:path ?property ; sh:maxCount ?most FILTER isIRI(?property)
  ?root (sh:node|(sh:and/rdf:rest*/rdf:first))*/sh:property? ?shape
}"""


class Limit(NamedTuple):
    """The most objects that a property has at a time, for the targets; without targets, for all subjects."""

    property: ox.NamedNode
    most: int
    targets: tuple[Target, ...]


def read_limit(name: str, store: ox.Store, node: Term, word: str, given: Term) -> int:
    """Read the limit of a shape or restriction.

    Raises:
        TBoxError: the limit is not a whole number from 0; names the shape.
    """
    text = given.value if isinstance(given, ox.Literal) else ""
    if text.isascii() and text.removeprefix("+").isdigit() and len(text) < 19:
        return int(text)
    what, where = f"{word} {given} is no whole number from 0", (name, f"shape {owner(store, node)}")
    raise TBoxError(what, where=where, hint="Correct the shape")


def limits(name: str, store: ox.Store, classes: Collection[Term]) -> list[Limit]:
    """The limits of functional properties, and the unconditional limits of active shapes with a target.

    ``sh:maxCount`` counts in a property shape of the shape itself, of the shapes of its ``sh:node``, and of
    the members of its ``sh:and``. Inside ``sh:not``, ``sh:or``, ``sh:xone``, a qualified shape, or a shape of
    a property's values, it is a condition and sets no limit.

    Raises:
        TBoxError: a limit is no whole number; names the shape.
    """
    quads = list(store)
    off, paths = deactivated(quads), {quad.subject for quad in quads if quad.predicate == sh("path")}
    parts = {sh("node"), sh("and"), sh("property")}
    active = ox.Store()
    # The parts of a property shape are about the property's values
    active.extend(
        q for q in quads if q.subject not in off and not (q.predicate in parts and q.subject in paths)
    )
    single = (quad.subject for quad in quads if quad.predicate == RDF_TYPE and quad.object == _FUNCTIONAL)
    all_limits = [Limit(subject, 1, ()) for subject in single if isinstance(subject, ox.NamedNode)]
    for root, property_, most, shape in active.query(_LIMITS):  # type: ignore[union-attr]
        if targeted := tuple(sorted(targets(active, classes, root), key=str)):
            all_limits.append(Limit(property_, read_limit(name, store, shape, "sh:maxCount", most), targeted))
    return all_limits
