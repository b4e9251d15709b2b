"""The words of bAbI's logs, spelled as in N-Triples: the TBox's terms, a story's entities and its events.

The log's writer and its readers share only these spellings.
"""

from __future__ import annotations

from functools import lru_cache
from urllib.parse import quote

from substrate.base.vocabulary import RDF_TYPE

NAMESPACE = "urn:substrate:babi:"
ENTITY = "urn:babi:"


@lru_cache(maxsize=1 << 10)
def term(name: str) -> str:
    """A class, predicate or individual of the TBox."""
    return f"<{NAMESPACE}{quote(name)}>"


@lru_cache(maxsize=1 << 12)
def iri(name: str) -> str:
    """The IRI of a named person, thing or place, whatever the case of its letters.

    >>> iri("box of chocolates")
    '<urn:babi:box_of_chocolates>'
    """
    return f"<{ENTITY}{quote(name.lower().replace(' ', '_'))}>"


def event(tick: int, order: int = 1) -> str:
    """The IRI of an event in the sentence at a tick; no entity's IRI has a colon after its prefix.

    >>> event(3), event(3, 2)
    ('<urn:babi:event:3>', '<urn:babi:event:3:2>')
    """
    return f"<{ENTITY}event:{tick}" + (f":{order}>" if order > 1 else ">")


def bare(node: str) -> str:
    """An IRI without its brackets, as SPARQL sorts it."""
    return node[1:-1]


def local(node: str) -> str:
    """The name of a term, or of an entity.

    >>> local(term("at")), local(iri("box of chocolates"))
    ('at', 'box_of_chocolates')
    """
    return bare(node).rpartition(":")[2]


TYPE = str(RDF_TYPE)
AT, NOT_AT, MAY_BE_AT, CARRIES, TICK = map(term, ("at", "notAt", "mayBeAt", "carries", "tick"))
