"""Inferences from kinds, colours and motives."""

from __future__ import annotations

from substrate.domains.babi._reading import Reader, labelled
from substrate.domains.babi.deltas import entity, term
from substrate.domains.babi.queries import WhatColor, WhatFears, WhereWill, WhyMoved, WhyTook


def what_fears(reader: Reader, query: WhatFears) -> str:
    """Name what an individual's kind is afraid of, joined by commas where there are several."""
    one = entity(query.individual)
    found = list(
        reader.rows(
            f"""SELECT ?kind ?feared ?label {{
                    ?one :isA ?kind . ?kind :fears ?feared . {labelled("?feared")}
                }} ORDER BY ?label""",
            one=one,
        )
    )
    if not found:
        return reader.unknown(f"what {query.individual} is afraid of")
    for kind, feared, _ in found:
        reader.rest_on(one, term("isA"), kind)
        reader.rest_on(kind, term("fears"), feared)
    return ",".join(dict.fromkeys(label.value for _, _, label in found))


def what_color(reader: Reader, query: WhatColor) -> str:
    """An individual's own colour, else that of the one of its kind that was told of last."""
    one = entity(query.individual)
    own = reader.first(
        f"""SELECT ?color ?label {{ ?one :quality ?color . ?color a :Color . {labelled("?color")} }}
            ORDER BY ?label LIMIT 1""",
        one=one,
    )
    if own:
        reader.rest_on(one, term("quality"), own[0])
        return own[1].value
    peer = reader.first(
        f"""SELECT ?kind ?peer ?color ?label {{
            ?one :isA ?kind . ?peer :isA ?kind ; :quality ?color . ?color a :Color . {labelled("?color")}
            ?event :described ?peer ; :as ?kind ; :tick ?tick }} ORDER BY DESC(?tick) ?label LIMIT 1""",
        one=one,
    )
    if not peer:
        return reader.unknown(f"the colour of {query.individual} or of its kind")
    kind, other, color, label = peer
    for triple in ((one, term("isA"), kind), (other, term("isA"), kind), (other, term("quality"), color)):
        reader.rest_on(*triple)
    return label.value


_MOTIVE = "?event :described ?agent ; :as ?motive ; :tick ?tick . ?motive a :Motive"


def where_will(reader: Reader, query: WhereWill) -> str:
    """Name the place where someone's latest motive leads; unknown once the story has told that way."""
    found = reader.first(
        f"""SELECT ?event ?motive ?place ?label {{ {_MOTIVE} ; :leadsTo ?place . {labelled("?place")}
            FILTER NOT EXISTS {{
                ?move a :Move ; :agent ?agent ; :place ?place ; :tick ?gone FILTER(?gone > ?tick) }}
            }} ORDER BY DESC(?tick) LIMIT 1""",
        agent=entity(query.agent),
    )
    if not found:
        return reader.unknown(f"what moves {query.agent}")
    event, motive, place, label = found
    reader.rest_on_event(event)
    reader.rest_on(motive, term("leadsTo"), place)
    return label.value


def why_moved(reader: Reader, query: WhyMoved) -> str:
    """Why someone went to a place."""
    return _why(reader, query.agent, "Move", "place", query.place)


def why_took(reader: Reader, query: WhyTook) -> str:
    """Why someone took a thing."""
    return _why(reader, query.agent, "Take", "thing", query.thing)


def _why(reader: Reader, agent: str, kind: str, role: str, filler: str) -> str:
    """The motive told last before the latest such act of the agent."""
    found = reader.first(
        f"""SELECT ?event ?label {{ ?act a :{kind} ; :agent ?agent ; :{role} ?filler ; :tick ?when .
            {_MOTIVE} ; rdfs:label ?label FILTER(?tick < ?when)
            }} ORDER BY DESC(?when) DESC(?tick) LIMIT 1""",
        agent=entity(agent),
        filler=entity(filler),
    )
    if not found:
        return reader.unknown(f"why {agent} did so")
    reader.rest_on_event(found[0])
    return found[1].value
