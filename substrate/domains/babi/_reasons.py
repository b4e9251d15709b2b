"""Inferences from kinds, colours and motives."""

from __future__ import annotations

from substrate.domains.babi._reading import Reader
from substrate.domains.babi._terms import iri, term

_IS_A, _FEARS, _QUALITY, _LEADS_TO = map(term, ("isA", "fears", "quality", "leadsTo"))
_LABELLED = "?color rdfs:label ?label ."
_MOTIVE = "?event :described ?agent ; :as ?motive ; :tick ?tick . ?motive a :Motive"


def what_fears(reader: Reader, individual: str) -> str:
    """Name what an individual's kind is afraid of, joined by commas."""
    node = iri(individual)
    rows = reader.some(
        f"what {individual} is afraid of",
        """SELECT ?kind ?feared ?label {
                    ?individual :isA ?kind . ?kind :fears ?feared . ?feared rdfs:label ?label .
                } ORDER BY ?label""",
        individual=node,
    )
    for kind, feared, _ in rows:
        reader.rest_on(node, _IS_A, kind)
        reader.rest_on(kind, _FEARS, feared)
    return ",".join(dict.fromkeys(label for _, _, label in rows))


def what_color(reader: Reader, individual: str) -> str:
    """An individual's own colour, else the colour of the individual of its kind described last."""
    node = iri(individual)
    own = reader.rows(
        f"""SELECT ?color ?label {{ ?individual :quality ?color . ?color a :Color . {_LABELLED} }}
            ORDER BY ?label LIMIT 1""",
        individual=node,
    )
    if own:
        reader.rest_on(node, _QUALITY, own[0][0])
        return own[0][1]
    kind, peer, color, label = reader.first(
        f"the colour of {individual} or of its kind",
        f"""SELECT ?kind ?peer ?color ?label {{
            ?individual :isA ?kind . ?peer :isA ?kind ; :quality ?color . ?color a :Color . {_LABELLED}
            ?event :described ?peer ; :as ?kind ; :tick ?tick }} ORDER BY DESC(?tick) ?label LIMIT 1""",
        individual=node,
    )
    for triple in ((node, _IS_A, kind), (peer, _IS_A, kind), (peer, _QUALITY, color)):
        reader.rest_on(*triple)
    return label


def where_will(reader: Reader, agent: str) -> str:
    """Name the place where someone's latest motive leads; unknown once the person has gone there."""
    event, motive, place, label = reader.first(
        f"what moves {agent}",
        f"""SELECT ?event ?motive ?place ?label {{ {_MOTIVE} ; :leadsTo ?place . ?place rdfs:label ?label .
            FILTER NOT EXISTS {{
                ?move a :Move ; :agent ?agent ; :place ?place ; :tick ?gone FILTER(?gone > ?tick) }}
            }} ORDER BY DESC(?tick) LIMIT 1""",
        agent=iri(agent),
    )
    reader.rest_on_event(event)
    reader.rest_on(motive, _LEADS_TO, place)
    return label


def why_moved(reader: Reader, agent: str, place: str) -> str:
    """The motive for which someone went to a place."""
    return _why(reader, agent, "Move", "place", place)


def why_took(reader: Reader, agent: str, thing: str) -> str:
    """The motive for which someone took a thing."""
    return _why(reader, agent, "Take", "thing", thing)


def _why(reader: Reader, agent: str, kind: str, role: str, filler: str) -> str:
    """The last motive told before the latest such act of the agent."""
    event, label = reader.first(
        f"why {agent} did so",
        f"""SELECT ?event ?label {{ ?act a :{kind} ; :agent ?agent ; :{role} ?filler ; :tick ?when .
            {_MOTIVE} ; rdfs:label ?label FILTER(?tick < ?when)
            }} ORDER BY DESC(?when) DESC(?tick) LIMIT 1""",
        agent=iri(agent),
        filler=iri(filler),
    )
    reader.rest_on_event(event)
    return label
