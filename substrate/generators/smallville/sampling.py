"""Specifications, each by rejection: villages, interventions and questions until one fits what its number
asks for.

A linkage has an exact meaning in terms of the asked (the one or two agents that the question names) and of
their histories (where they are and what they know, tick by tick, from the branch on):

- control: the intervention's agent is not asked, and the asked have the same history in both arms, although
  somebody has not;
- direct: the intervention's agent is asked, and their history or that of the other asked one differs;
- propagation: the intervention's agent is not asked, and yet the history of an asked one differs: the effect
  came through at least one agent who is not.

A question of what one knows of another makes the tick since when they know it part of their history. Of three
arms, both interventions have the linkage, each beside arm A, and make different histories.

In direct and propagation three of four questions have different answers in the two arms, as many from yes to
no as the other way; the fourth has the same answer twice although the history changed. So neither the
linkage nor the seeing of some difference gives the answer away.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import combinations, count, permutations, product
from random import Random
from typing import Any, NamedTuple

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


def _in_turn(same: str, others: str) -> dict[Linkage, list[Gold]]:
    """The answers that each linkage's specifications go through in turn, an arm a letter."""
    words: dict[str, Any] = {"y": "yes", "n": "no"}
    unmoved, moved = (
        [Gold(*(words[letter] for letter in arms)) for arms in turns.split()] for turns in (same, others)
    )
    return {"control": unmoved, "direct": moved, "propagation": moved}


OUTCOMES = {
    2: _in_turn("yy nn", "yn ny yy yn ny nn yn ny"),
    3: _in_turn("yyy nnn", "ynn nyy yny yyy nyn yyn nny nnn"),
}
"""The answers that a cell's specifications go through in turn, by the number of arms.

Of three arms each is yes half the time beside control, and each pair differs half the time.
"""

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
    outcomes = OUTCOMES[LEVELS[level].arms][linkage]
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
        in_turn = INTERVENTIONS[(turn + number % len(cells)) % len(INTERVENTIONS)]
        type_ = in_turn if attempt < PATIENCE else rng.choice(INTERVENTIONS)
        noted = query == "knows_that"
        day = Day(village, branch, history(village, noted=noted), noted)
        drawn = (_two_arms if arms == 2 else _three_arms)(rng, day, type_, query, linkage, outcome)
        if drawn:
            b, c, question = drawn
            return Graded(number, linkage, village, branch, b, question, c, gold=outcome)
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
        fitting = [question for question in asked_of_a if _fits(question, day, b, linkage, outcome.b)]
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
    for question in _answered(day, query, outcome):
        bs = [arm for arm in firsts if _fits(question, day, arm, linkage, outcome.b)]
        cs = [arm for arm in seconds if _fits(question, day, arm, linkage, outcome.c)] if bs else []
        fitting += [(b.act, c.act, question) for b in bs for c in cs if b.history != c.history]
    return rng.choice(fitting) if fitting else None


def _answered(day: Day, query: QueryType, outcome: Gold) -> list[Query]:
    """The questions of a type that have the answer asked for in arm A."""
    questions = _queries(day.village, day.branch, query)
    return [question for question in questions if answer(day.a, question, day.branch) == outcome.a]


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
            later = [plan for plan in agent.plans if plan.start >= branch]
            yield from (ArmIntervention(type_, agent.id, plan=plan) for plan in later)
        elif type_ == "override_location":
            elsewhere = [place for place in places if place != here]
            yield ArmIntervention(type_, agent.id, place=rng.choice(elsewhere))
        else:
            able = [fact for fact in facts if (fact in known) is (type_ == "retract_awareness")]
            yield from (ArmIntervention(type_, agent.id, fact=fact) for fact in able)


def _queries(village: Village, branch: int, type_: QueryType) -> Iterator[Query]:
    """Every question of a type that can be asked in a village."""
    agents, end = village.agents, village.horizon
    span = f"at any tick from {branch} to {end}"
    if type_ == "did_meet":
        for first, second in combinations(agents, 2):
            text = f"Do {first.name} and {second.name} meet, that is, share a place, {span}?"
            yield Query(type_, text, first.id, other=second.id)
    elif type_ == "knows_that":
        for (first, second), fact in product(permutations(agents, 2), village.facts):
            known = f"that {second.name} knows that {fact.name}"
            text = f"Does {first.name} know by tick {end} {known}? {_OF_ANOTHER}"
            yield Query(type_, text, first.id, other=second.id, fact=fact.id)
    elif type_ == "learned_fact":
        for agent, fact in product(agents, village.facts):
            text = f"Does {agent.name} know by tick {end} that {fact.name}?"
            yield Query(type_, text, agent.id, fact=fact.id)
    else:
        for agent, place in product(agents, village.places):
            yield Query(type_, f"Is {agent.name} at {place.name} {span}?", agent.id, place=place.id)


def _fits(question: Query, day: Day, arm: Arm, linkage: Linkage, expected: str) -> bool:
    """Tell whether a question has the answer asked for in an arm, for the reason asked for."""
    reply = answer(arm.history, question, day.branch)
    return reply == expected and _linked(question, day.branch, day.a, arm) == linkage


def _linked(query: Query, branch: int, a: History, arm: Arm) -> Linkage | None:
    """Classify how an intervention bears on a question; ``None`` where it bears on nobody, or where its agent
    is asked and yet it bears on none of the asked.
    """
    names = [name for name in (query.agent, query.other) if name]
    lived, instead = ([_lived(past, name, query, branch) for name in names] for past in (a, arm.history))
    reached = lived != instead
    if arm.act.agent in names:
        return "direct" if reached else None
    if reached:
        return "propagation"
    return "control" if a != arm.history else None


def _lived(past: History, agent: str, query: Query, branch: int) -> tuple[object, ...]:
    """Reduce a history to a question: where an asked one is and what they know, from the branch on,
    and since when they know what is asked of another.
    """
    pair = (query.other or "", query.fact or "")
    return *past.of(agent, branch), past.noted.get(agent, {}).get(pair)
