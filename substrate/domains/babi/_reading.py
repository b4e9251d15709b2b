"""Reading a story's state at a tick, and tracing what was read to the log.

A triple's evidence is the delta that last made it true; its supporting fact is that delta's tick. What is
common knowledge stands at tick 0 and is no fact of the story.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from typing import Any

import pyoxigraph as ox

from substrate.domains.babi.deltas import AT, PREFIXES
from substrate.log.event_log import EventLog, Op, Triple
from substrate.log.replay import State

_VARIABLE = re.compile(r"\?(\w+)")


def labelled(variable: str) -> str:
    """The SPARQL pattern that reads the label of a variable as ``?label``."""
    return f"{variable} rdfs:label ?label ."


UNKNOWN = "unknown"
"""The answer where the story does not say: another than "no" and "nothing"."""


class Insertions:
    """Find when each triple of a log became true: the positions at which an insertion changed the state."""

    def __init__(self, log: EventLog) -> None:
        self.log = log
        self._positions: dict[Triple, list[int]] = {}
        standing: set[Triple] = set()
        for position, (_, op, triple) in enumerate(log):
            if op is Op.RETRACT:
                standing.discard(triple)
            elif triple not in standing:
                standing.add(triple)
                self._positions.setdefault(triple, []).append(position)

    def latest(self, triple: Triple, tick: int) -> int | None:
        """The position of the delta that last made a triple true by a tick; ``None`` where none did."""
        positions = self._positions.get(triple, [])
        index = bisect_left(positions, self.log.position(tick))
        return positions[index - 1] if index else None

    def since(self, triple: Triple, tick: int) -> int:
        """The last tick <= ``tick`` at which a triple became true; 0 where it never did."""
        position = self.latest(triple, tick)
        return 0 if position is None else self.log[position].tick


def _bound(sparql: str, given: dict[str, Any]) -> str:
    # A store's own substitutions reach only projected variables.
    return _VARIABLE.sub(lambda match: str(given.get(match[1], match[0])), sparql)


class Reader:
    """The state at a question's tick, and what is gathered while it is queried.

    Attributes:
        positions: the deltas that the answer rests on, in the order in which they were found.
        queries: the SPARQL that read the state, each text once.
        missed: what was looked for in vain, where the story does not say.
    """

    def __init__(self, state: State, insertions: Insertions, tick: int) -> None:
        self.state, self.insertions, self.tick = state, insertions, tick
        self.positions: list[int] = []
        self.queries: list[str] = []
        self.missed: list[str] = []

    @property
    def supporting(self) -> tuple[int, ...]:
        """The ticks of the facts that the answer rests on, ascending."""
        ticks = {self.insertions.log[position].tick for position in self.positions}
        return tuple(sorted(ticks - {0}))

    def unknown(self, missed: str) -> str:
        """The answer where something was looked for in vain."""
        self.missed.append(missed)
        return UNKNOWN

    def rows(self, sparql: str, **given: Any) -> Iterator[tuple[Any, ...]]:
        """The solutions of a SELECT; the terms in ``given`` take the place of variables of their names."""
        self._note(_bound(sparql, given))
        return self.look(sparql, **given)

    def first(self, sparql: str, **given: Any) -> tuple[Any, ...] | None:
        """The first solution, or ``None``."""
        return next(self.rows(sparql, **given), None)

    def ask(self, sparql: str, **given: Any) -> bool:
        """Tell whether an ASK holds."""
        self._note(_bound(sparql, given))
        return bool(self.state.query(_bound(sparql, given), prefixes=PREFIXES))

    def _note(self, sparql: str) -> None:
        if sparql not in self.queries:
            self.queries.append(sparql)

    def look(self, sparql: str, **given: Any) -> Iterator[tuple[Any, ...]]:
        """As :meth:`rows`, for what only gathers evidence: the query is not noted."""
        found = self.state.query(_bound(sparql, given), prefixes=PREFIXES)
        return map(tuple, found)  # type: ignore[arg-type]

    def rest_on(self, subject: Any, predicate: Any, object: Any, *, at: int | None = None) -> None:
        """Take a triple, as it stood at a tick (the question's unless given), as evidence."""
        position = self.insertions.latest((subject, predicate, object), self.tick if at is None else at)
        if position is not None and position not in self.positions:
            self.positions.append(position)

    def rest_on_event(self, event: ox.NamedNode) -> None:
        """Take an event as evidence, and the one whose agents it takes up by a pronoun."""
        antecedents = "SELECT ?antecedent { ?event :antecedent ?antecedent }"
        for antecedent in [found for (found,) in self.look(antecedents, event=event)]:
            self._rest_on_all_of(antecedent)
        self._rest_on_all_of(event)

    def _rest_on_all_of(self, event: ox.NamedNode) -> None:
        triples = self.state.match(event)
        for triple in sorted(triples, key=lambda triple: self.insertions.latest(triple, self.tick) or 0):
            self.rest_on(*triple)

    def rest_on_presence(self, agent: Any, place: Any, *, at: int | None = None) -> None:
        """Take as evidence that an agent was at a place at a tick: the sentence that brought it there."""
        at = self.tick if at is None else at
        when = ox.Literal(self.insertions.since((agent, AT, place), at))
        events = self.look("SELECT ?event { ?event :agent ?agent ; :tick ?tick }", agent=agent, tick=when)
        if found := next(events, None):
            self.rest_on_event(found[0])
            self.rest_on(agent, AT, place, at=at)

    def rest_on_place(self, node: ox.NamedNode, place: Any) -> None:
        """Take as evidence where something is now: who handled it last and how they came there, or its own
        move.
        """
        handlings = self.look(
            """SELECT ?event ?agent { ?event :thing ?node ; :agent ?agent ; :tick ?tick }
               ORDER BY DESC(?tick) LIMIT 1""",
            node=node,
        )
        handled = next(handlings, None)
        if not handled:
            self.rest_on_presence(node, place)
            return
        event, agent = handled
        self.rest_on_event(event)
        since = self.insertions.since((node, AT, place), self.tick)
        holders = list(self.look("SELECT ?holder { ?holder :carries ?node } ORDER BY ?holder", node=node))
        for (holder,) in holders or [(agent,)]:
            self.rest_on_presence(holder, place, at=since)

    def rest_on_handling(self, node: ox.NamedNode) -> None:
        """Take the last handling of a thing as evidence, where there is one."""
        handlings = self.look(
            "SELECT ?event { ?event :thing ?node ; :tick ?tick } ORDER BY DESC(?tick) LIMIT 1",
            node=node,
        )
        if handled := next(handlings, None):
            self.rest_on_event(*handled)

    def rest_on_hands(self, agent: ox.NamedNode) -> None:
        """Take everything that went through an agent's hands as evidence of what the agent carries."""
        handlings = self.look(
            """SELECT ?event { ?event :thing ?thing ; (:agent|:receiver) ?agent ; :tick ?tick }
               ORDER BY ?tick""",
            agent=agent,
        )
        for (event,) in list(handlings):
            self.rest_on_event(event)
