"""Convert pyoxigraph terms to rdflib terms; rdflib is loaded on first use."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyoxigraph as ox

from substrate.base.delta import Term
from substrate.base.extras import import_extra

if TYPE_CHECKING:
    from rdflib.term import Node


def rdflib_term(term: Term) -> Node | None:
    """The same term in rdflib, with its exact text (``"01"`` does not become ``"1"``).

    A triple term gives ``None``. A text direction is dropped, because rdflib has none.

    Raises:
        MissingExtraError: rdflib is not installed.

    >>> rdflib_term(ox.Literal("01", datatype=ox.NamedNode("http://www.w3.org/2001/XMLSchema#integer"))).n3()
    '"01"^^<http://www.w3.org/2001/XMLSchema#integer>'
    >>> rdflib_term(ox.Literal("a", datatype=ox.NamedNode("urn:types#string"))).n3()
    '"a"^^<urn:types#string>'
    """
    library = import_extra("rdflib")
    if isinstance(term, ox.NamedNode):
        return library.URIRef(term.value)
    if isinstance(term, ox.BlankNode):
        return library.BNode(term.value)
    if not isinstance(term, ox.Literal):
        return None
    if term.language:
        return library.Literal(term.value, lang=term.language)
    datatype = None if term == ox.Literal(term.value) else library.URIRef(term.datatype.value)
    return library.Literal(term.value, datatype=datatype, normalize=False)
