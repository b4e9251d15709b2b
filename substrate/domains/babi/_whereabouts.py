"""Places: where someone or something is, was, or may be."""

from __future__ import annotations

from substrate.domains.babi._reading import Reader, labelled
from substrate.domains.babi.deltas import AT, MAY_BE_AT, entity, term
from substrate.domains.babi.queries import IsIn, WhereIs, WhereWas

_INVOLVES = "(:agent|:thing|:brought)"
_LATEST = "ORDER BY DESC(?rank) DESC(?tick) DESC(?order) LIMIT 1"
_STAY = f"""?event {_INVOLVES} ?node ; a ?kind ; :agent ?agent ; :place ?place ; :tick ?tick ;
                :period/:rank ?rank .
                OPTIONAL {{ ?event :order ?later }} BIND(COALESCE(?later, 1) AS ?order)"""


def where_is(reader: Reader, query: WhereIs) -> str:
    """The place where someone or something is."""
    node = entity(query.entity)
    found = reader.first(f"SELECT ?place ?label {{ ?node :at ?place . {labelled('?place')} }}", node=node)
    if not found:
        return reader.unknown(f"where {query.entity} is")
    place, label = found
    reader.rest_on_place(node, place)
    return label.value


def where_was(reader: Reader, query: WhereWas) -> str:
    """The other place where someone or something was last before it came to a place."""
    node, before = entity(query.entity), entity(query.before)
    later = reader.first(
        f"SELECT ?event ?kind ?agent ?tick ?rank ?order {{ {_STAY} }} {_LATEST}", node=node, place=before
    )
    if not later:
        return reader.unknown(f"that {query.entity} was in the {query.before}")
    *_, tick, rank, order = later
    earlier = reader.first(
        f"""SELECT ?event ?kind ?agent ?tick ?place ?label {{ {_STAY} {labelled("?place")}
            FILTER(?place != ?before && (?rank < ?then || ?rank = ?then && (?tick < ?when
                || ?tick = ?when && ?order < ?place_in_sentence))) }} {_LATEST}""",
        node=node,
        before=before,
        then=rank,
        when=tick,
        place_in_sentence=order,
    )
    if not earlier:
        return reader.unknown(f"where {query.entity} was before the {query.before}")
    for (event, kind, agent, when, *_), place in ((later, before), (earlier, earlier[4])):
        if kind == term("Move"):
            reader.rest_on_event(event)
        else:
            reader.rest_on_presence(agent, place, at=int(when.value))
    reader.rest_on_handling(node)
    return earlier[5].value


_KNOWN_PLACES = """SELECT ?known ?where { VALUES (?known ?order) { (:at 0) (:mayBeAt 1) (:notAt 2) }
    ?node ?known ?where } ORDER BY ?order ?where"""


def is_in(reader: Reader, query: IsIn) -> str:
    """Yes or no where it is settled, maybe where the story leaves it open."""
    node, place = entity(query.entity), entity(query.place)
    known = list(reader.rows(_KNOWN_PLACES, node=node))
    if not known:
        return reader.unknown(f"anything of where {query.entity} is")
    predicate = known[0][0]
    here = (predicate, place) in known
    if predicate == AT:
        reader.rest_on_place(node, known[0][1])
        return "yes" if here else "no"
    for which, where in known:
        if which == MAY_BE_AT or where == place or not here:
            reader.rest_on(node, which, where)
    return "maybe" if here is (predicate == MAY_BE_AT) else "no"
