"""Carrying and giving: what people carry, and who gave what to whom."""

from __future__ import annotations

from substrate.domains._facts import text_of_term
from substrate.domains.babi._reading import Reader, UnknownError
from substrate.domains.babi._terms import iri

NUMBERS = ("none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")

# The list has its things in the order in which they first came into the agent's hands.
_CARRIED = """SELECT ?label { ?agent :carries ?node . ?node rdfs:label ?label .
    ?event :thing ?node ; (:agent|:receiver) ?agent ; :tick ?tick . OPTIONAL { ?event :order ?later }
    BIND(?tick + COALESCE(?later, 1) / 1000 AS ?when)
} GROUP BY ?node ?label ORDER BY MIN(?when) ?label"""
_COUNTED = "SELECT (COUNT(DISTINCT ?thing) AS ?number) { ?agent :carries ?thing }"


def what_carries(reader: Reader, agent: str) -> str:
    """The things that someone carries, joined by commas.

    ``nothing`` if the story names the person but no taking; unknown if it does not name the person.
    """
    return ",".join(_in_hands(reader, agent, _CARRIED)) or "nothing"


def count_carried(reader: Reader, agent: str) -> str:
    """The number of things that someone carries, as a word."""
    number = int(text_of_term(_in_hands(reader, agent, _COUNTED)[0]))
    return NUMBERS[number] if number < len(NUMBERS) else str(number)


def _in_hands(reader: Reader, agent: str, sparql: str) -> list[str]:
    node = iri(agent)
    if not reader.ask("ASK { ?agent rdfs:label ?name }", agent=node):
        raise UnknownError(f"{agent} in the story")
    reader.rest_on_hands(node)
    return [word for (word,) in reader.rows(sparql, agent=node)]


def transfer(reader: Reader, asked: str, agent: str | None, thing: str | None, receiver: str | None) -> str:
    """The open role of the latest gift that fits; if several were given at once, all, joined by commas."""
    roles = {"agent": agent, "thing": thing, "receiver": receiver}
    gifts = reader.some(
        "such a gift",
        f"""SELECT ?event ?tick ?label {{
            ?event a :Give ; :agent ?agent ; :thing ?thing ; :receiver ?receiver ; :tick ?tick .
            OPTIONAL {{ ?event :order ?order }} ?{asked} rdfs:label ?label .
            }} ORDER BY DESC(?tick) ?order""",
        **{role: iri(name) for role, name in roles.items() if name},
    )
    latest = {event: label for event, tick, label in gifts if tick == gifts[0][1]}
    for event in latest:
        reader.rest_on_event(event)
    return ",".join(dict.fromkeys(latest.values()))
