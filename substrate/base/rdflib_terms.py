"""Terms of pyoxigraph as terms of rdflib; nothing here loads rdflib before it is asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyoxigraph as ox

from substrate.base.delta import Term
from substrate.base.extras import needed

if TYPE_CHECKING:
    from rdflib.term import Node


def rdflib_term(term: Term) -> Node | None:
    """A term for rdflib, its text kept (``"01"`` stays beside ``"1"``); ``None`` for a triple term.

    A text direction is left out: rdflib has none.

    Raises:
        MissingExtraError: rdflib is not installed.

    >>> rdflib_term(ox.Literal("01", datatype=ox.NamedNode("http://www.w3.org/2001/XMLSchema#integer"))).n3()
    '"01"^^<http://www.w3.org/2001/XMLSchema#integer>'
    """
    library = needed("rdflib")
    if isinstance(term, ox.NamedNode):
        return library.URIRef(term.value)
    if isinstance(term, ox.BlankNode):
        return library.BNode(term.value)
    if not isinstance(term, ox.Literal):
        return None
    if term.language:
        return library.Literal(term.value, lang=term.language)
    datatype = None if term.datatype.value.endswith("#string") else library.URIRef(term.datatype.value)
    return library.Literal(term.value, datatype=datatype, normalize=False)
