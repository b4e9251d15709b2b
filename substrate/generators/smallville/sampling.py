"""Specifications, each by rejection: villages, interventions and questions until one fits what its number
asks for.

What a linkage means, exactly, in terms of the asked (the one or two agents that the question names) and of
their histories (where they are and what they know, tick by tick, from the branch on):

- control: the intervention's agent is not asked, and the asked have the same history in both arms, although
  somebody has not;
- direct: the intervention's agent is asked, and their history or that of the other asked one differs;
- propagation: the intervention's agent is not asked, and yet the history of an asked one differs: the effect
  came through at least one agent who is not.

Where it is asked what one knows of another, since when they know it is part of their history. Of three arms,
both interventions have the linkage, each beside arm A, and make different histories.

In direct and propagation three of four questions have different answers in the two arms, as many from yes to
no as the other way; the fourth has the same answer twice although the history changed. So neither the
linkage nor the seeing of some difference gives the answer away.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import combinations, count, permutations
from random import Random
from typing import NamedTuple

import msgspec

from substrate.base.errors import ParameterError
from substrate.domains.smallville.format import (
    INTERVENTIONS,
    LINKAGES,
    QUERIES,
    ArmIntervention,
    Gold,
    InterventionType,
    Linkage,
    Query,
    QueryType,
    Spec,
    Village,
)
from substrate.generators.smallville._villages import TOWN, VILLAGE, Size, sample_plan, sample_village
from substrate.generators.smallville.oracle import History, answer, history


class Level(NamedTuple):
    """The difficulty of specifications: the size of their villages, what is asked, and of how many arms."""

    size: Size
    queries: tuple[QueryType, ...]
    arms: int = 2

    @property
    def cells(self) -> list[tuple[Linkage, QueryType]]:
        """Linkage and query of the specifications, in turn."""
        return [(linkage, query) for linkage in LINKAGES for query in self.queries]


LEVELS: Mapping[str, Level] = {
    "village": Level(VILLAGE, QUERIES),
    "belief": Level(VILLAGE, ("knows_that",)),
    "town": Level(TOWN, (*QUERIES, "knows_that")),
    "three_arms": Level(VILLAGE, QUERIES, arms=3),
}
"""``village`` is the benchmark; ``belief`` asks what one knows of another; ``town`` has everybody;
``three_arms`` has a second intervention in the same village.
"""

CELLS: list[tuple[Linkage, QueryType]] = LEVELS["village"].cells
"""A specification's cell is its number modulo nine: with 500, five cells have 56 and four have 55."""

_SAME = [Gold("yes", "yes"), Gold("no", "no")]
_TURNS = [Gold("yes", "no"), Gold("no", "yes")]
OUTCOMES: dict[Linkage, list[Gold]] = {
    "control": _SAME,
    "direct": [*_TURNS, _SAME[0], *_TURNS, _SAME[1], *_TURNS],
}
OUTCOMES["propagation"] = OUTCOMES["direct"]
"""The answers that a cell's specifications go through in turn, where there are two arms."""

_SAME_OF_THREE = [Gold("yes", "yes", "yes"), Gold("no", "no", "no")]
OUTCOMES_OF_THREE: dict[Linkage, list[Gold]] = {
    "control": _SAME_OF_THREE,
    "direct": [
        Gold("yes", "no", "no"),
        Gold("no", "yes", "yes"),
        Gold("yes", "no", "yes"),
        _SAME_OF_THREE[0],
        Gold("no", "yes", "no"),
        Gold("yes", "yes", "no"),
        Gold("no", "no", "yes"),
        _SAME_OF_THREE[1],
    ],
}
OUTCOMES_OF_THREE["propagation"] = OUTCOMES_OF_THREE["direct"]
"""The same for three arms: beside control each is yes half the time, and each pair differs half the time."""

PATIENCE = 8
"""Villages that are tried with the type of intervention whose turn it is, before any type will do."""

_ACTS = 4
"""The number of interventions that are tried in a village of two arms; of three, all are."""

_OF_ANOTHER = (
    "Who shares a place at the end of a tick with another who then knows the fact knows it of them from then "
    "on, and tells it to everyone with whom they share a place then or later, but not to the one whom it is "
    "about; those tell it on in the same way. Nobody forgets it, and nobody comes to know the fact by it."
)


class Graded(Spec, frozen=True, kw_only=True):
    """A specification with its gold, as it is written."""

    gold: Gold


def cell_of(number: int, level: str = "village") -> tuple[Linkage, QueryType, Gold]:
    """The linkage, the query and the answers that the specification of a number is drawn for; errors as
    :func:`generate`.

    >>> cell_of(9)[2].answers
    ('no', 'no')
    """
    if level not in LEVELS:
        raise ParameterError(f"no level {level!r}", hint=f"Choose among {', '.join(LEVELS)}")
    cells = LEVELS[level].cells
    linkage, query = cells[number % len(cells)]
    outcomes = (OUTCOMES if LEVELS[level].arms == 2 else OUTCOMES_OF_THREE)[linkage]
    return linkage, query, outcomes[number // len(cells) % len(outcomes)]


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
    linkage, query, outcome = cell_of(number, level)
    size, _, arms = LEVELS[level]
    cells = LEVELS[level].cells
    turn = number // len(cells)
    rng = Random(f"{seed} twin {number}" if level == "village" else f"{seed} twin {level} {number}")
    for attempt in count():
        village = sample_village(rng, size)
        branch = rng.randint(village.horizon // 4, 2 * village.horizon // 3)
        type_ = (
            INTERVENTIONS[(turn + number % len(cells)) % len(INTERVENTIONS)]
            if attempt < PATIENCE
            else rng.choice(INTERVENTIONS)
        )
        noted = query == "knows_that"
        day = Day(village, branch, history(village, noted=noted), noted)
        found = (_two_arms if arms == 2 else _three_arms)(rng, day, type_, query, linkage, outcome)
        if found:
            b, c, asked = found
            return Graded(number, linkage, village, branch, b, asked, c, gold=outcome)
    raise AssertionError("villages are drawn until one fits")


class Day(NamedTuple):
    """A village without an intervention, and the branch tick; ``noted`` as of :func:`history`."""

    village: Village
    branch: int
    a: History
    noted: bool


class Arm(NamedTuple):
    """An intervention, and the history with it."""

    act: ArmIntervention
    history: History


def _two_arms(
    rng: Random, day: Day, type_: InterventionType, query: QueryType, linkage: Linkage, outcome: Gold
) -> tuple[ArmIntervention, None, Query] | None:
    """An intervention of a type, and a question that fits it."""
    asked_of_a = _answered(day, query, outcome)
    for b in _arms(rng, day, _interventions(rng, day, type_), _ACTS):
        fitting = [asked for asked in asked_of_a if _fits(asked, day, b, linkage, outcome.b)]
        if fitting:
            return b.act, None, rng.choice(fitting)
    return None


def _three_arms(
    rng: Random, day: Day, type_: InterventionType, query: QueryType, linkage: Linkage, outcome: Gold
) -> tuple[ArmIntervention, ArmIntervention, Query] | None:
    """An intervention of a type, another of any type that makes another history, and a question that fits."""
    assert outcome.c
    possible = [act for kind in INTERVENTIONS for act in _interventions(rng, day, kind)]
    seconds = list(_arms(rng, day, possible, len(possible)))
    firsts = [arm for arm in seconds if arm.act.type == type_]
    fitting: list[tuple[ArmIntervention, ArmIntervention, Query]] = []
    for asked in _answered(day, query, outcome):
        bs = [arm for arm in firsts if _fits(asked, day, arm, linkage, outcome.b)]
        cs = [arm for arm in seconds if _fits(asked, day, arm, linkage, outcome.c)] if bs else []
        fitting += [(b.act, c.act, asked) for b in bs for c in cs if b.history != c.history]
    return rng.choice(fitting) if fitting else None


def _answered(day: Day, query: QueryType, outcome: Gold) -> list[Query]:
    """The questions of a type that have the answer asked for in arm A."""
    asked = _queries(day.village, day.branch, query)
    return [one for one in asked if answer(day.a, one, day.branch) == outcome.a]


def _arms(rng: Random, day: Day, acts: Iterable[ArmIntervention], most: int) -> Iterator[Arm]:
    """Some of the arms that interventions make."""
    acts = list(acts)
    for act in rng.sample(acts, min(most, len(acts))):
        yield Arm(act, history(day.village, day.branch, act, noted=day.noted))


def spec_line(number: int, seed: int, level: str = "village") -> str:
    """The specification of a number as a line of JSON; arguments and errors as :func:`generate`."""
    return msgspec.json.encode(generate(number, seed, level)).decode()


def _interventions(rng: Random, day: Day, type_: InterventionType) -> Iterator[ArmIntervention]:
    """Interventions of a type whose pre-condition holds in arm A just before the branch."""
    village, branch, a, _ = day
    places, facts = [place.id for place in village.places], [fact.id for fact in village.facts]
    for agent in village.agents:
        here, known = a.places[agent.id][branch - 1], a.knowledge[agent.id][branch - 1]
        if type_ == "assert":
            free = sorted(set(range(branch, village.horizon + 1)) - {plan.start for plan in agent.plans})
            if free:
                yield ArmIntervention(type_, agent.id, plan=sample_plan(rng, rng.choice(free), places, facts))
        elif type_ == "retract":
            yield from (
                ArmIntervention(type_, agent.id, plan=plan) for plan in agent.plans if plan.start >= branch
            )
        elif type_ == "override_location":
            yield ArmIntervention(
                type_, agent.id, place=rng.choice([place for place in places if place != here])
            )
        else:
            yield from (
                ArmIntervention(type_, agent.id, fact=fact)
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


def _fits(asked: Query, day: Day, arm: Arm, linkage: Linkage, expected: str) -> bool:
    """Tell whether a question has the answer asked for in an arm, for the reason asked for."""
    said = answer(arm.history, asked, day.branch)
    return said == expected and _linked(asked, day.branch, day.a, arm) == linkage


def _linked(query: Query, branch: int, a: History, arm: Arm) -> Linkage | None:
    """Classify how an intervention bears on a question; ``None`` where on nobody, or not on the
    asked although its agent is one.
    """
    asked = [name for name in (query.agent, query.other) if name]
    reached = any(
        _lived(a, name, query, branch) != _lived(arm.history, name, query, branch) for name in asked
    )
    if arm.act.agent in asked:
        return "direct" if reached else None
    if reached:
        return "propagation"
    return "control" if a != arm.history else None


def _lived(found: History, agent: str, query: Query, branch: int) -> tuple[object, ...]:
    """Reduce a history to a question: where an asked one is and what they know, from the branch on,
    and since when they know what is asked of another.
    """
    asked = (query.other or "", query.fact or "")
    return *found.of(agent, branch), found.noted.get(agent, {}).get(asked)
