"""A village drawn at random: who is there, what they plan, what they know."""

from __future__ import annotations

from random import Random
from typing import NamedTuple

from substrate.domains.smallville.format import Agent, Named, Plan, Village
from substrate.generators.smallville.cast import FACTS, HOMES, PERSONAS, PLACES, identifier

CONDITIONAL = 0.4
"""The number of plans that depend on a fact."""


class Size(NamedTuple):
    """Least and most of what a village has; plans are those of an agent.

    >>> VILLAGE.agents, TOWN.agents
    ((6, 8), (25, 25))
    """

    agents: tuple[int, int]
    places: tuple[int, int]
    facts: tuple[int, int]
    horizon: tuple[int, int]
    plans: tuple[int, int]


VILLAGE = Size(agents=(6, 8), places=(4, 6), facts=(2, 3), horizon=(10, 14), plans=(2, 4))
TOWN = Size(agents=(25, 25), places=(11, 11), facts=(7, 7), horizon=(40, 60), plans=(1, 3))
"""All 25 personas, all places and facts, over a day that is four times as long.

With as many plans as in a village everybody would soon know everything, whatever the intervention.
"""


def sample_village(rng: Random, size: Size = VILLAGE) -> Village:
    """A village: unless told otherwise of 6 to 8 agents, 4 to 6 places and 2 or 3 facts, over 10 to 14 ticks.

    >>> village = sample_village(Random(1))
    >>> 6 <= len(village.agents) <= 8 and 10 <= village.horizon <= 14
    True
    """
    horizon = rng.randint(*size.horizon)
    facts = rng.sample(sorted(FACTS), rng.randint(*size.facts))
    venues = list(dict.fromkeys(FACTS[fact].venue for fact in facts))
    places = venues + rng.sample(sorted(PLACES.keys() - set(venues)), rng.randint(*size.places) - len(venues))
    sources = {FACTS[fact].source for fact in facts} - {None}
    first = [persona for persona in PERSONAS if identifier(persona) in sources]
    others = [persona for persona in PERSONAS if persona not in first]
    personas = first + rng.sample(others, rng.randint(*size.agents) - len(first))
    rng.shuffle(places)
    rng.shuffle(personas)
    knows: dict[str, list[str]] = {identifier(persona): [] for persona in personas}
    for fact in facts:
        knows[FACTS[fact].source or rng.choice(list(knows))].append(fact)
    agents: list[Agent] = []
    for persona in personas:
        name, plans = identifier(persona), list[Plan]()
        home = next((house for house, family in HOMES.items() if name in family and house in places), None)
        here = at = home or rng.choice(places)
        for start in sorted(rng.sample(range(1, horizon + 1), rng.randint(*size.plans))):
            plans.append(sample_plan(rng, start, [place for place in places if place != here], facts))
            here = plans[-1].goal
        agents.append(Agent(name, persona, at, knows[name], plans))
    there = [Named(place, PLACES[place]) for place in places]
    return Village(horizon, there, [Named(fact, FACTS[fact].words) for fact in facts], agents)


def sample_plan(rng: Random, start: int, places: list[str], facts: list[str]) -> Plan:
    """A plan to go to one of some places, at times to a fact's place and only for who knows it.

    >>> sample_plan(Random(3), 5, ["park"], []).goal
    'park'
    """
    drawing = [fact for fact in facts if FACTS[fact].venue in places]
    if drawing and rng.random() < CONDITIONAL:
        fact = rng.choice(drawing)
        return Plan(start, FACTS[fact].venue, fact)
    return Plan(start, rng.choice(places))
