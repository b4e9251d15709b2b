"""Who carries what, and who gave what to whom."""

from __future__ import annotations

from substrate.domains.babi.deltas import entity
from substrate.domains.babi.grammar import CountCarried, Transfer, WhatCarries
from substrate.domains.babi.reading import Reader, labelled, unknown

NUMBERS = ("none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")

# A list keeps the order in which its things first came into the agent's hands.
_CARRIED = """SELECT ?label { ?agent :carries ?node . ?node rdfs:label ?label .
    ?event :thing ?node ; (:agent|:receiver) ?agent ; :tick ?tick
} GROUP BY ?node ?label ORDER BY MIN(?tick) ?label"""


def what_carries(reader: Reader, query: WhatCarries) -> str:
    """The things that someone carries, joined by commas."""
    agent = entity(query.agent)
    reader.rest_on_hands(agent)
    return ",".join(label.value for (label,) in reader.rows(_CARRIED, agent=agent)) or "nothing"


def count_carried(reader: Reader, query: CountCarried) -> str:
    """How many things someone carries, as a word."""
    agent = entity(query.agent)
    reader.rest_on_hands(agent)
    found = reader.first("SELECT (COUNT(DISTINCT ?thing) AS ?number) { ?agent :carries ?thing }", agent=agent)
    number = int(found[0].value) if found else 0
    return NUMBERS[number] if number < len(NUMBERS) else str(number)


def transfer(reader: Reader, query: Transfer) -> str:
    """The open role of the latest gift that fits."""
    told = {role: entity(name) for role in ("agent", "thing", "receiver") if (name := getattr(query, role))}
    found = reader.first(
        f"""SELECT ?event ?label {{
            ?event a :Give ; :agent ?agent ; :thing ?thing ; :receiver ?receiver ; :tick ?tick .
            {labelled("?" + query.asked)} }} ORDER BY DESC(?tick) LIMIT 1""",
        **told,
    )
    if not found:
        raise unknown("such a gift")
    reader.rest_on_event(found[0])
    return found[1].value
