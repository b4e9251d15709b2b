"""Carrying and giving: who carries what, and who gave what to whom."""

from __future__ import annotations

import pyoxigraph as ox

from substrate.domains.babi._reading import Reader, labelled
from substrate.domains.babi.deltas import entity
from substrate.domains.babi.queries import CountCarried, Transfer, WhatCarries

NUMBERS = ("none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")

# A list keeps the order in which its things first came into the agent's hands.
_CARRIED = """SELECT ?label { ?agent :carries ?node . ?node rdfs:label ?label .
    ?event :thing ?node ; (:agent|:receiver) ?agent ; :tick ?tick . OPTIONAL { ?event :order ?later }
    BIND(?tick + COALESCE(?later, 1) / 1000 AS ?when)
} GROUP BY ?node ?label ORDER BY MIN(?when) ?label"""


def what_carries(reader: Reader, query: WhatCarries) -> str:
    """The things that someone carries, joined by commas; nothing where the story names the person and tells
    of no taking, unknown where it does not name the person.
    """
    agent = entity(query.agent)
    if not _is_named(reader, agent):
        return reader.unknown(f"{query.agent} in the story")
    reader.rest_on_hands(agent)
    return ",".join(label.value for (label,) in reader.rows(_CARRIED, agent=agent)) or "nothing"


def count_carried(reader: Reader, query: CountCarried) -> str:
    """The number of things that someone carries, as a word."""
    agent = entity(query.agent)
    if not _is_named(reader, agent):
        return reader.unknown(f"{query.agent} in the story")
    reader.rest_on_hands(agent)
    found = reader.first("SELECT (COUNT(DISTINCT ?thing) AS ?number) { ?agent :carries ?thing }", agent=agent)
    number = int(found[0].value) if found else 0
    return NUMBERS[number] if number < len(NUMBERS) else str(number)


def _is_named(reader: Reader, agent: ox.NamedNode) -> bool:
    """Tell whether a story has named someone."""
    return reader.ask("ASK { ?agent rdfs:label ?name }", agent=agent)


def transfer(reader: Reader, query: Transfer) -> str:
    """The open role of the latest gift that fits; of things given at once, all, joined by commas."""
    told = {role: entity(name) for role in ("agent", "thing", "receiver") if (name := getattr(query, role))}
    gifts = reader.rows(
        f"""SELECT ?event ?tick ?label {{
            ?event a :Give ; :agent ?agent ; :thing ?thing ; :receiver ?receiver ; :tick ?tick .
            OPTIONAL {{ ?event :order ?order }} {labelled("?" + query.asked)}
            }} ORDER BY DESC(?tick) ?order""",
        **told,
    )
    found = list(gifts)
    if not found:
        return reader.unknown("such a gift")
    latest = [(event, label.value) for event, tick, label in found if tick == found[0][1]]
    for event, _ in latest:
        reader.rest_on_event(event)
    return ",".join(dict.fromkeys(label for _, label in latest))
