"""The cast of a village: personas and places of Generative Agents (Park et al., 2023).

Their names and relations are from there, as are the party and the mayor's race; the other facts are made for
the benchmark, so that several can spread at once.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

PERSONAS = (
    "Abigail Chen",
    "Adam Smith",
    "Arthur Burton",
    "Ayesha Khan",
    "Carlos Gomez",
    "Carmen Ortiz",
    "Eddy Lin",
    "Francisco Lopez",
    "Giorgio Rossi",
    "Hailey Johnson",
    "Isabella Rodriguez",
    "Jane Moreno",
    "Jennifer Moore",
    "John Lin",
    "Klaus Mueller",
    "Latoya Williams",
    "Maria Lopez",
    "Mei Lin",
    "Rajiv Patel",
    "Ryan Park",
    "Sam Moore",
    "Tamara Taylor",
    "Tom Moreno",
    "Wolfgang Schulz",
    "Yuriko Yamamoto",
)
"""The 25 personas; first names differ, so each is an identifier."""

PLACES: Mapping[str, str] = {
    "cafe": "Hobbs Cafe",
    "pub": "The Rose and Crown Pub",
    "market": "The Willows Market and Pharmacy",
    "store": "Harvey Oak Supply Store",
    "park": "Johnson Park",
    "college": "Oak Hill College",
    "dorm": "the dorm of Oak Hill College",
    "studio": "the artists' co-living space",
    "lin_house": "the Lin family's house",
    "moore_house": "the Moore family's house",
    "moreno_house": "the Moreno family's house",
}

HOMES = {
    "lin_house": ("eddy", "john", "mei"),
    "moore_house": ("jennifer", "sam"),
    "moreno_house": ("jane", "tom"),
}
"""The personas who start the day at a house, if both are in the village."""


class News(NamedTuple):
    """A fact: its words, the place of those who plan for it, and who knows it first (anyone if ``None``)."""

    words: str
    venue: str
    source: str | None = None


FACTS: Mapping[str, News] = {
    "party": News("Isabella Rodriguez is giving a Valentine's party at Hobbs Cafe", "cafe", "isabella"),
    "race": News("Sam Moore is running for mayor", "park", "sam"),
    "sale": News("Harvey Oak Supply Store has a sale", "store"),
    "lecture": News("there is a public lecture at Oak Hill College", "college"),
    "quiz": News("there is a quiz night at The Rose and Crown Pub", "pub"),
    "exhibition": News("there is an exhibition at the artists' co-living space", "studio"),
    "oranges": News("The Willows Market and Pharmacy has fresh oranges", "market"),
}


def identifier(persona: str) -> str:
    """A persona's identifier.

    >>> identifier("Isabella Rodriguez")
    'isabella'
    """
    return persona.partition(" ")[0].lower()
