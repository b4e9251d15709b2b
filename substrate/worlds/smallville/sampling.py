"""Specifications, each by rejection: villages, interventions and questions until one fits what its number
asks for.

What a linkage means, exactly, in terms of the asked (the one or two agents that the question names) and of
their histories (where they are and what they know, tick by tick, from the branch on):

- control: the intervention's agent is not asked, and the asked have the same history in both arms, although
  somebody has not;
- direct: the intervention's agent is asked, and their history or that of the other asked one differs;
- propagation: the intervention's agent is not asked, and yet the history of an asked one differs: the effect
  came through at least one agent who is not.

In direct and propagation three of four questions have different answers in the two arms, as many from yes to
no as the other way; the fourth has the same answer twice although the history changed. So neither the
linkage nor the seeing of some difference gives the answer away.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations, count, permutations
from random import Random
from typing import NamedTuple

import msgspec

from substrate.domains.smallville.format import (
    INTERVENTIONS,
    LINKAGES,
    QUERIES,
    Gold,
    Intervention,
    InterventionType,
    Linkage,
    Query,
    QueryType,
    Spec,
    Village,
)
from substrate.errors import ParameterError
from substrate.worlds.smallville.oracle import History, answer, history
from substrate.worlds.smallville.villages import TOWN, VILLAGE, Size, sample_plan, sample_village


class Level(NamedTuple):
    """How hard specifications are: the size of their villages, and what is asked."""

    size: Size
    queries: tuple[QueryType, ...]

    @property
    def cells(self) -> list[tuple[Linkage, QueryType]]:
        """Linkage and query of the specifications, in turn."""
        return [(linkage, query) for linkage in LINKAGES for query in self.queries]


LEVELS: Mapping[str, Level] = {
    "village": Level(VILLAGE, QUERIES),
    "belief": Level(VILLAGE, ("knows_that",)),
    "town": Level(TOWN, (*QUERIES, "knows_that")),
}
"""``village`` is the benchmark; ``belief`` asks what one knows of another; ``town`` has everybody."""

CELLS: list[tuple[Linkage, QueryType]] = LEVELS["village"].cells
"""A specification's cell is its number modulo nine: with 500, five cells have 56 and four have 55."""

_SAME = [Gold("yes", "yes"), Gold("no", "no")]
_TURNS = [Gold("yes", "no"), Gold("no", "yes")]
OUTCOMES: dict[Linkage, list[Gold]] = {
    "control": _SAME,
    "direct": [*_TURNS, _SAME[0], *_TURNS, _SAME[1], *_TURNS],
}
OUTCOMES["propagation"] = OUTCOMES["direct"]
"""The answers that a cell's specifications go through in turn."""

PATIENCE = 8
"""Villages that are tried with the type of intervention whose turn it is, before any type will do."""

_ACTS = 4

_OF_ANOTHER = (
    "One knows it of another from the first tick on at whose end the two share a place and the other knows "
    "the fact; what others know is not told on, and not forgotten."
)


class Graded(Spec, frozen=True):
    """A specification with its gold, as it is written."""

    gold: Gold


def generate(number: int, seed: int, level: str = "village") -> Graded:
    """The specification of a number: it depends on the number, the seed and the level alone.

    Args:
        number: of the specification; its remainder decides the cell.
        seed: any whole number.
        level: one of :data:`LEVELS`.

    Raises:
        ParameterError: there is no such level.

    >>> generate(3, seed=20).linkage
    'direct'
    """
    if level not in LEVELS:
        raise ParameterError(f"no level {level!r}", hint=f"Choose among {', '.join(LEVELS)}")
    cells = LEVELS[level].cells
    linkage, query = cells[number % len(cells)]
    turn = number // len(cells)
    outcome = OUTCOMES[linkage][turn % len(OUTCOMES[linkage])]
    rng = Random(f"{seed} twin {number}" if level == "village" else f"{seed} twin {level} {number}")
    for attempt in count():
        village = sample_village(rng, LEVELS[level].size)
        branch = rng.randint(village.horizon // 4, 2 * village.horizon // 3)
        type_ = (
            INTERVENTIONS[(turn + number % len(cells)) % len(INTERVENTIONS)]
            if attempt < PATIENCE
            else rng.choice(INTERVENTIONS)
        )
        a = history(village)
        acts = list(_interventions(rng, village, branch, type_, a))
        for act in rng.sample(acts, min(_ACTS, len(acts))):
            b = history(village, branch, act)
            fitting = [
                asked
                for asked in _queries(village, branch, query)
                if _fits(asked, act, village, branch, a, b, linkage, outcome)
            ]
            if fitting:
                return Graded(number, linkage, village, branch, act, rng.choice(fitting), outcome)
    raise AssertionError("villages are drawn until one fits")


def spec_line(number: int, seed: int, level: str = "village") -> str:
    """The specification of a number as a line of JSON; arguments and errors as :func:`generate`."""
    return msgspec.json.encode(generate(number, seed, level)).decode()


def _interventions(
    rng: Random, village: Village, branch: int, type_: InterventionType, a: History
) -> Iterator[Intervention]:
    """Interventions of a type whose pre-condition holds in arm A just before the branch."""
    places, facts = [place.id for place in village.places], [fact.id for fact in village.facts]
    for agent in village.agents:
        here, known = a.places[agent.id][branch - 1], a.knowledge[agent.id][branch - 1]
        if type_ == "assert":
            free = sorted(set(range(branch, village.horizon + 1)) - {plan.start for plan in agent.plans})
            if free:
                yield Intervention(type_, agent.id, plan=sample_plan(rng, rng.choice(free), places, facts))
        elif type_ == "retract":
            yield from (
                Intervention(type_, agent.id, plan=plan) for plan in agent.plans if plan.start >= branch
            )
        elif type_ == "override_location":
            yield Intervention(
                type_, agent.id, place=rng.choice([place for place in places if place != here])
            )
        else:
            yield from (
                Intervention(type_, agent.id, fact=fact)
                for fact in facts
                if (fact in known) is (type_ == "retract_awareness")
            )


def _queries(village: Village, branch: int, type_: QueryType) -> Iterator[Query]:
    """Every question of a type that can be asked in a village."""
    span = f"at any tick from {branch} to {village.horizon}"
    if type_ == "did_meet":
        for one, other in combinations(village.agents, 2):
            yield Query(
                "did_meet",
                f"Do {one.name} and {other.name} meet, that is, share a place, {span}?",
                one.id,
                other=other.id,
            )
    elif type_ == "knows_that":
        for one, other in permutations(village.agents, 2):
            for fact in village.facts:
                known = f"that {other.name} knows that {fact.name}"
                text = f"Does {one.name} know by tick {village.horizon} {known}? {_OF_ANOTHER}"
                yield Query("knows_that", text, one.id, other=other.id, fact=fact.id)
    elif type_ == "learned_fact":
        for agent in village.agents:
            for fact in village.facts:
                yield Query(
                    "learned_fact",
                    f"Does {agent.name} know by tick {village.horizon} that {fact.name}?",
                    agent.id,
                    fact=fact.id,
                )
    else:
        for agent in village.agents:
            for place in village.places:
                yield Query(
                    "visited_location", f"Is {agent.name} at {place.name} {span}?", agent.id, place=place.id
                )


def _fits(
    query: Query,
    act: Intervention,
    village: Village,
    branch: int,
    a: History,
    b: History,
    linkage: Linkage,
    outcome: Gold,
) -> bool:
    """Whether a question has the answers asked for, for the reason asked for."""
    if Gold(answer(a, query, branch), answer(b, query, branch)) != outcome:
        return False
    asked = {query.agent, query.other or query.agent}
    reached = any(a.of(agent, branch) != b.of(agent, branch) for agent in asked)
    if linkage == "control":
        return act.agent not in asked and not reached and a != b
    return reached and (act.agent in asked) is (linkage == "direct")
