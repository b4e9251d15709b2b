"""Places: where someone or something is, was, or may be."""

from __future__ import annotations

from substrate.domains._facts import text_of_term
from substrate.domains.babi._reading import Reader
from substrate.domains.babi._terms import AT, MAY_BE_AT, iri, term

_LATEST = "ORDER BY DESC(?rank) DESC(?tick) DESC(?order) LIMIT 1"
_STAY = """?event (:agent|:thing|:brought) ?node ; a ?kind ; :agent ?agent ; :place ?place ; :tick ?tick ;
                :period/:rank ?rank .
                OPTIONAL { ?event :order ?later } BIND(COALESCE(?later, 1) AS ?order)"""


def where_is(reader: Reader, entity: str) -> str:
    """The place where someone or something is."""
    node, sparql = iri(entity), "SELECT ?place ?label { ?node :at ?place . ?place rdfs:label ?label . }"
    place, label = reader.first(f"where {entity} is", sparql, node=node)
    reader.rest_on_place(node, place)
    return label


def where_was(reader: Reader, entity: str, before: str) -> str:
    """The last other place of someone or something before it came to a place."""
    node, place = iri(entity), iri(before)
    later = reader.first(
        f"that {entity} was in the {before}",
        f"SELECT ?event ?kind ?agent ?tick ?rank ?order {{ {_STAY} }} {_LATEST}",
        node=node,
        place=place,
    )
    earlier = reader.first(
        f"where {entity} was before the {before}",
        f"""SELECT ?event ?kind ?agent ?tick ?place ?label {{ {_STAY} ?place rdfs:label ?label .
            FILTER(?place != ?before && (?rank < ?later_rank || ?rank = ?later_rank && (?tick < ?later_tick
                || ?tick = ?later_tick && ?order < ?later_order))) }} {_LATEST}""",
        node=node,
        before=place,
        **dict(zip(("later_tick", "later_rank", "later_order"), later[3:], strict=True)),
    )
    for (event, kind, agent, when, *_), where in ((later, place), (earlier, earlier[4])):
        if kind == term("Move"):
            reader.rest_on_event(event)
        else:
            reader.rest_on_presence(agent, where, at=int(text_of_term(when)))
    reader.rest_on_handling(node)
    return earlier[5]


_KNOWN_PLACES = """SELECT ?known ?where { VALUES (?known ?order) { (:at 0) (:mayBeAt 1) (:notAt 2) }
    ?node ?known ?where } ORDER BY ?order ?where"""


def is_in(reader: Reader, entity: str, place: str) -> str:
    """Answer yes or no if the story settles it, maybe if the story leaves it open."""
    node, sought = iri(entity), iri(place)
    known = reader.some(f"anything of where {entity} is", _KNOWN_PLACES, node=node)
    predicate, where = known[0]
    is_known = (predicate, sought) in known
    if predicate == AT:
        reader.rest_on_place(node, where)
        return "yes" if is_known else "no"
    for which, where in known:
        if which == MAY_BE_AT or where == sought or not is_known:
            reader.rest_on(node, which, where)
    # An alternative may be the place; so may any place but those where the entity is known not to be.
    return "maybe" if is_known is (predicate == MAY_BE_AT) else "no"
