"""A village drawn at random: who is there, what they plan, what they know."""

from __future__ import annotations

from random import Random

from substrate.domains.smallville.format import Agent, Named, Plan, Village
from substrate.generators.smallville.cast import CAST, identifier

CONDITIONAL = 0.4
"""The probability that a plan depends on a fact."""


def sample_village(rng: Random) -> Village:
    """A village of 6 to 8 agents, 4 to 6 places and 2 or 3 facts, over 10 to 14 ticks.

    >>> village = sample_village(Random(1))
    >>> 6 <= len(village.agents) <= 8 and 10 <= village.horizon <= 14
    True
    """
    horizon = rng.randint(10, 14)
    facts = rng.sample(sorted(CAST.facts), rng.randint(2, 3))
    venues = list(dict.fromkeys(CAST.facts[fact].venue for fact in facts))
    places = venues + rng.sample(sorted(CAST.places.keys() - set(venues)), rng.randint(4, 6) - len(venues))
    sources = {CAST.facts[fact].source for fact in facts} - {None}
    first = [persona for persona in CAST.personas if identifier(persona) in sources]
    others = [persona for persona in CAST.personas if persona not in first]
    personas = first + rng.sample(others, rng.randint(6, 8) - len(first))
    rng.shuffle(places)
    rng.shuffle(personas)
    knows: dict[str, list[str]] = {identifier(persona): [] for persona in personas}
    for fact in facts:
        knows[CAST.facts[fact].source or rng.choice(list(knows))].append(fact)
    agents: list[Agent] = []
    for persona in personas:
        name, plans = identifier(persona), list[Plan]()
        home = next(
            (house for house, family in CAST.homes.items() if name in family and house in places), None
        )
        here = at = home or rng.choice(places)
        for start in sorted(rng.sample(range(1, horizon + 1), rng.randint(2, 4))):
            plans.append(sample_plan(rng, start, [place for place in places if place != here], facts))
            here = plans[-1].goal
        agents.append(Agent(name, persona, at, knows[name], plans))
    named = [Named(place, CAST.places[place]) for place in places]
    return Village(horizon, named, [Named(fact, CAST.facts[fact].words) for fact in facts], agents)


def sample_plan(rng: Random, start: int, places: list[str], facts: list[str]) -> Plan:
    """A plan to go to one of the places; some plans go to a fact's place, only if the agent knows the fact.

    >>> sample_plan(Random(3), 5, ["park"], []).goal
    'park'
    """
    drawing = [fact for fact in facts if CAST.facts[fact].venue in places]
    if drawing and rng.random() < CONDITIONAL:
        fact = rng.choice(drawing)
        return Plan(start, CAST.facts[fact].venue, fact)
    return Plan(start, rng.choice(places))
