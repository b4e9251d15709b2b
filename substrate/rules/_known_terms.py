"""Check that a TBox uses only known terms of the core."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import pyoxigraph as ox

from substrate.base import vocabulary
from substrate.base.errors import SubstrateError, TBoxError
from substrate.base.vocabulary import NAMESPACE, SHACL
from substrate.sparql.guard import checked
from substrate.sparql.tokens import tokens

CORE_TERMS = frozenset(
    {term.value for term in vars(vocabulary).values() if isinstance(term, ox.NamedNode)}
    | {
        NAMESPACE + name
        for name in ("tick", "position", "parent", "branch", "digest", "Insertion", "Retraction")
    }
)
"""The core's own terms."""
_OWN = re.compile(rf"{NAMESPACE}[^:/#]+$")
_QUERIES = {vocabulary.RETRACT.value, *(SHACL + name for name in ("construct", "select", "ask", "update"))}


def require_known_terms(name: str, quads: Sequence[ox.Quad], prefixes: Mapping[str, str]) -> None:
    """Refuse a TBox that uses an unknown ``core:`` term, or has a query that :func:`checked` refuses.

    Raises:
        TBoxError: a term is unknown (the error lists the known terms), or a query is refused.

    >>> from substrate.rules.tbox import TBox
    >>> TBox("t", "<urn:t:at> a <urn:substrate:locatoin> .")
    Traceback (most recent call last):
    substrate.base.errors.TBoxError: t: the core has no term 'locatoin'. Use one of awareOf, content,
    defeasible, exogenous, location, participant, recipient, retract, source, tick, Event.
    """
    named = {term.value for quad in quads for term in quad.triple if isinstance(term, ox.NamedNode)}
    for quad in quads:
        if quad.predicate.value in _QUERIES and isinstance(quad.object, ox.Literal):
            try:
                named |= iris(checked(quad.object.value, name), prefixes)
            except SubstrateError as error:
                raise TBoxError(error.what, where=error.where, hint=error.hint) from error
    # A TBox may use its own namespace as its name: urn:substrate:village.
    own = {iri.rstrip(":/#") for iri in prefixes.values()} | CORE_TERMS
    for unknown in sorted(iri for iri in named if _OWN.match(iri) and iri not in own):
        known = "awareOf, content, defeasible, exogenous, location, participant, recipient, retract, source"
        what = f"the core has no term {unknown.removeprefix(NAMESPACE)!r}"
        raise TBoxError(what, where=(name,), hint=f"Use one of {known}, tick, Event")


def iris(text: str, prefixes: Mapping[str, str]) -> set[str]:
    """The IRIs in a query, written with a prefix or in full."""
    named: set[str] = set()
    for kind, token, _ in tokens(text):
        if kind == "iri":
            named.add(token[1:-1])
        elif kind == "name":
            prefix, _, local = token.partition(":")
            if prefix in prefixes:
                named.add(prefixes[prefix] + local.rstrip("."))
    return named
