"""Specifications by rejection sampling: villages, interventions and questions are drawn until one fits the
linkage, the query type and the answers that the specification's number asks for.

A linkage has an exact meaning in terms of the asked (the one or two agents that the question names) and of
their histories (where they are and what they know, tick by tick, from the branch on):

- control: the intervention's agent is not asked; the asked have the same history in both arms, and the
  history of another agent differs;
- direct: the intervention's agent is asked, and the history of an asked agent differs;
- propagation: the intervention's agent is not asked, but the history of an asked agent differs: the effect
  came through at least one agent who is not asked.

In direct and propagation three of four questions have different answers in the two arms, as many from yes to
no as the other way; the fourth has the same answer twice although the history changed. So neither the
linkage nor the seeing of some difference gives the answer away.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, count, product
from random import Random
from typing import Any

import msgspec

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
from substrate.generators.smallville._villages import sample_plan, sample_village
from substrate.generators.smallville.oracle import History, answer, history

CELLS: Sequence[tuple[Linkage, QueryType]] = [(linkage, query) for linkage in LINKAGES for query in QUERIES]
"""Linkage and query of the specifications, in turn."""


def _in_turn(turns: str) -> list[Gold]:
    words: dict[str, Any] = {"y": "yes", "n": "no"}
    return [Gold(words[a], words[b]) for a, b in turns.split()]


_MOVED = _in_turn("yn ny yy yn ny nn yn ny")
OUTCOMES: Mapping[Linkage, Sequence[Gold]] = {
    "control": _in_turn("yy nn"),
    "direct": _MOVED,
    "propagation": _MOVED,
}
"""The answers that a cell's specifications go through in turn, by linkage."""

PATIENCE = 8
"""Villages that are tried with the type of intervention whose turn it is, before any type will do."""

_ACTS = 4
"""The number of interventions that are tried in a village."""


class Graded(Spec, frozen=True, kw_only=True):
    """A specification with its gold, as it is written."""

    gold: Gold


def cell_of(number: int) -> tuple[Linkage, QueryType, Gold]:
    """The linkage, the query and the answers that the specification of a number is drawn for.

    >>> cell_of(9)[2].answers
    ('no', 'no')
    """
    linkage, query = CELLS[number % len(CELLS)]
    outcomes = OUTCOMES[linkage]
    return linkage, query, outcomes[number // len(CELLS) % len(outcomes)]


def generate(number: int, seed: int) -> Graded:
    """The specification of a number: it depends on the number and the seed alone.

    Args:
        number: the specification's number; its remainder decides the cell.
        seed: any whole number.

    >>> generate(3, seed=20).linkage
    'direct'
    """
    linkage, query, outcome = cell_of(number)
    turn, cell = divmod(number, len(CELLS))
    rng = Random(f"{seed} twin {number}")
    for attempt in count():
        village = sample_village(rng)
        branch = rng.randint(village.horizon // 4, 2 * village.horizon // 3)
        in_turn = INTERVENTIONS[(turn + cell) % len(INTERVENTIONS)]
        type_ = in_turn if attempt < PATIENCE else rng.choice(INTERVENTIONS)
        a = history(village)
        questions = [q for q in _queries(village, branch, query) if answer(a, q, branch) == outcome.a]
        acts = list(_interventions(rng, village, branch, a, type_))
        for act in rng.sample(acts, min(_ACTS, len(acts))):
            # The agents of most acts do not fit the linkage; this shows before arm B is run.
            able = [q for q in questions if (act.agent in q.asked) is (linkage == "direct")]
            b = history(village, branch, act) if able else a
            fitting = [
                q
                for q in able
                if answer(b, q, branch) == outcome.b
                and _reached(q, branch, a, b) is (linkage != "control")
                and a != b
            ]
            if fitting:
                return Graded(number, linkage, village, branch, act, rng.choice(fitting), gold=outcome)
    raise AssertionError("villages are drawn until one fits")


def spec_line(number: int, seed: int) -> str:
    """The specification of a number as a line of JSON; arguments as :func:`generate`."""
    return msgspec.json.encode(generate(number, seed)).decode()


def _interventions(
    rng: Random, village: Village, branch: int, a: History, type_: InterventionType
) -> Iterator[ArmIntervention]:
    """Interventions of a type whose pre-condition holds in arm A just before the branch."""
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
    elif type_ == "learned_fact":
        for agent, fact in product(agents, village.facts):
            text = f"Does {agent.name} know by tick {end} that {fact.name}?"
            yield Query(type_, text, agent.id, fact=fact.id)
    else:
        for agent, place in product(agents, village.places):
            yield Query(type_, f"Is {agent.name} at {place.name} {span}?", agent.id, place=place.id)


def _reached(query: Query, branch: int, a: History, b: History) -> bool:
    """Tell whether an asked agent has another history in arm B."""
    return any(a.of(name, branch) != b.of(name, branch) for name in query.asked)
