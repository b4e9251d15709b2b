"""The gold of Twin-EventLog, from the raw schedule by SQL.

It shares the specification's format with the substrate, and nothing else: no log, no fork, no rules. An
agent's last move gives its place. A recursive query gives the knowledge: a fact spreads over pairs of a place
and a tick, and each agent carries it from its pair at one tick to its pair at the next. The conditions of
plans are decided tick by tick, earliest first, since each depends on earlier ticks only. An intervention is
one more row, or one fewer.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from itertools import pairwise
from typing import NamedTuple

from substrate.domains.smallville.format import ArmIntervention, Query, Village, Yes

_FOLDER = files("substrate.generators.smallville")
_SCHEMA = (_FOLDER / "oracle_schema.sql").read_text("utf-8")
_HISTORY = (_FOLDER / "oracle_history.sql").read_text("utf-8").strip().removesuffix(";").split(";\n\n")
"""The statements of a history, in order."""


class History(NamedTuple):
    """Each agent's place and knowledge at the end of every tick, by agent and tick.

    >>> History({"ann": ["park"]}, {"ann": [frozenset({"news"})]}).places["ann"][0]
    'park'
    """

    places: dict[str, list[str]]
    knowledge: dict[str, list[frozenset[str]]]

    def of(self, agent: str, start: int) -> tuple[list[str], list[frozenset[str]]]:
        """All that happens to an agent from a tick on."""
        return self.places[agent][start:], self.knowledge[agent][start:]


def history(village: Village, branch: int = 0, intervention: ArmIntervention | None = None) -> History:
    """Run a village to its end, with an intervention at a tick or without one.

    Args:
        village: the schedule.
        branch: the tick of the intervention.
        intervention: one whose pre-condition holds.
    """
    database = _database()
    with database:
        _load(database, village)
        if intervention:
            _intervene(database, intervention, branch)
        database.execute("INSERT INTO move SELECT agent, start, 1, goal FROM plan WHERE fact IS NULL")
        decisions = {tick for (tick,) in database.execute("SELECT start FROM plan WHERE fact IS NOT NULL")}
        for first, last in pairwise(sorted({0, *decisions, village.horizon + 1})):
            for statement in _HISTORY:
                database.execute(statement, {"first": first, "last": last})
        ticks = range(village.horizon + 1)
        places = {agent.id: [""] * len(ticks) for agent in village.agents}
        for agent, tick, place in database.execute("SELECT agent, tick, place FROM stand"):
            places[agent][tick] = place
        learned: dict[str, list[set[str]]] = {agent.id: [set() for _ in ticks] for agent in village.agents}
        for agent, tick, fact in database.execute("SELECT agent, tick, fact FROM known"):
            learned[agent][tick].add(fact)
    knowledge = {agent: list(map(frozenset, facts)) for agent, facts in learned.items()}
    return History(places, knowledge)


def answer(past: History, query: Query, branch: int) -> Yes:
    """A question's answer over the ticks from the branch on.

    >>> query = Query(type="visited_location", text="", agent="ann", place="park")
    >>> answer(History({"ann": ["park", "cafe"]}, {"ann": [frozenset(), frozenset()]}), query, 1)
    'no'
    """
    places, knowledge = past.of(query.agent, branch)
    if query.type == "learned_fact":
        holds = any(query.fact in facts for facts in knowledge)
    elif query.type == "visited_location":
        holds = query.place in places
    else:
        others = past.places[query.other or ""][branch:]
        holds = any(here == there for here, there in zip(places, others, strict=True))
    return "yes" if holds else "no"


@cache
def _database() -> sqlite3.Connection:
    database = sqlite3.connect(":memory:")
    database.executescript(_SCHEMA)
    return database


def _load(database: sqlite3.Connection, village: Village) -> None:
    for table in ("tick", "plan", "given", "lost", "move", "stand", "known"):
        database.execute(f"DELETE FROM {table}")
    agents = village.agents
    plans = ((agent.id, p.start, p.goal, p.if_knows) for agent in agents for p in agent.plans)
    _insert(database, "tick", ((tick,) for tick in range(village.horizon + 1)))
    _insert(database, "move", ((agent.id, 0, 0, agent.at) for agent in agents))
    _insert(database, "plan", plans)
    _insert(database, "given", ((agent.id, fact, 0) for agent in agents for fact in agent.knows))


def _intervene(database: sqlite3.Connection, act: ArmIntervention, tick: int) -> None:
    if act.type == "override_location":
        _insert(database, "move", [(act.agent, tick, 0, act.place)])
    elif act.type == "assert_awareness":
        _insert(database, "given", [(act.agent, act.fact, tick)])
    elif act.type == "retract_awareness":
        _insert(database, "lost", [(act.agent, act.fact, tick)])
    elif act.plan and act.plan.start >= tick:
        if act.type == "assert":
            _insert(database, "plan", [(act.agent, act.plan.start, act.plan.goal, act.plan.if_knows)])
        else:
            database.execute("DELETE FROM plan WHERE agent = ? AND start = ?", (act.agent, act.plan.start))


def _insert(database: sqlite3.Connection, table: str, rows: Iterable[tuple[object, ...]]) -> None:
    rows = list(rows)
    if rows:
        database.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * len(rows[0]))})", rows)
