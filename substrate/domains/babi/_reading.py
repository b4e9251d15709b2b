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

from substrate.base.delta import text_of
from substrate.base.vocabulary import RDF_TYPE
from substrate.domains._facts import Facts, text_of_term
from substrate.domains.babi.deltas import AT, PREFIXES, UNREAD, term
from substrate.log.event_log import EventLog, Triple
from substrate.log.state import State

_AGENT, _RECEIVER, _THING, _TICK, _ANTECEDENT, _CARRIES = (
    str(term(name)) for name in ("agent", "receiver", "thing", "tick", "antecedent", "carries")
)
_IS_UNREAD = f" {RDF_TYPE} {UNREAD}"
_VARIABLE = re.compile(r"\?(\w+)")


def labelled(variable: str) -> str:
    """The SPARQL pattern that reads the label of a variable as ``?label``."""
    return f"{variable} rdfs:label ?label ."


UNKNOWN = "unknown"
"""The answer where the story does not say: another than "no" and "nothing"."""


class Insertions:
    """Find when each triple of a log became true: the positions at which an insertion changed the state.

    Attributes:
        log: the log.
        unread: the tick of the first sentence that could not be read; ``None`` where all were.
    """

    def __init__(self, log: EventLog) -> None:
        self.log = log
        self.unread: int | None = None
        self._positions: dict[str, list[int]] = {}
        self._stops: dict[int, int] = {}
        self._facts, self._followed = Facts(), 0
        standing: set[str] = set()
        position = 0
        for tick, lines in log.lines():
            for line in lines:
                text = line[2:-2]
                if line[0] == "D":
                    standing.discard(text)
                elif text not in standing:
                    standing.add(text)
                    self._positions.setdefault(text, []).append(position)
                    if self.unread is None and text.endswith(_IS_UNREAD):
                        self.unread = tick
                position += 1

    def latest(self, triple: Triple, tick: int) -> int | None:
        """The position of the delta that last made a triple true by a tick; ``None`` where none did."""
        return self.latest_of(text_of(triple), tick)

    def latest_of(self, text: str, tick: int) -> int | None:
        """The same of a triple as spelled."""
        positions = self._positions.get(text, [])
        stop = self._stops.get(tick)
        if stop is None:
            stop = self._stops[tick] = self.log.position(tick)
        index = bisect_left(positions, stop)
        return positions[index - 1] if index else None

    def since(self, triple: Triple, tick: int) -> int:
        """The last tick <= ``tick`` at which a triple became true; 0 where it never did."""
        position = self.latest(triple, tick)
        return 0 if position is None else self.log.when(position)[0]

    def facts(self, tick: int) -> Facts:
        """The facts that stand at a tick; they are moved on when a later tick is asked for."""
        position = self.log.position(tick)
        if position < self._followed:
            self._facts, self._followed = Facts(), 0
        self._facts.follow(self.log, self._followed, position)
        self._followed = position
        return self._facts


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
        self.facts = insertions.facts(tick)
        self.positions: list[int] = []
        self.queries: list[str] = []
        self.missed: list[str] = []

    @property
    def supporting(self) -> tuple[int, ...]:
        """The ticks of the facts that the answer rests on, ascending."""
        ticks = {self.insertions.log.when(position)[0] for position in self.positions}
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
        self._rest_on(text_of((subject, predicate, object)), self.tick if at is None else at)

    def _rest_on(self, text: str, at: int) -> None:
        position = self.insertions.latest_of(text, at)
        if position is not None and position not in self.positions:
            self.positions.append(position)

    def rest_on_event(self, event: ox.NamedNode) -> None:
        """Take an event as evidence, and the one whose agents it takes up by a pronoun."""
        self._rest_on_event(str(event))

    def _rest_on_event(self, event: str) -> None:
        for one in (*self.facts.objects(event, _ANTECEDENT), event):
            for fact in self.facts.about(one):
                self._rest_on(" ".join(fact), self.tick)

    def rest_on_presence(self, agent: Any, place: Any, *, at: int | None = None) -> None:
        """Take as evidence that an agent was at a place at a tick: the sentence that brought it there."""
        at = self.tick if at is None else at
        when = ox.Literal(self.insertions.since((agent, AT, place), at))
        there = self.facts.subjects(_TICK, str(when))
        events = [event for event in there if str(agent) in self.facts.objects(event, _AGENT)]
        if len(events) > 1:  # two parts of a sentence: SPARQL says which comes first
            asked = "SELECT ?event { ?event :agent ?agent ; :tick ?tick }"
            events = [str(next(self.look(asked, agent=agent, tick=when))[0])]
        for event in events:
            self._rest_on_event(event)
            self.rest_on(agent, AT, place, at=at)

    def rest_on_place(self, node: ox.NamedNode, place: Any) -> None:
        """Take as evidence where something is now: who handled it last and how they came there, or its own
        move.
        """
        event = self._last_handling(node)
        agents = self.facts.objects(event, _AGENT) if event else ()
        if not event or not agents:
            self.rest_on_presence(node, place)
            return
        self._rest_on_event(event)
        since = self.insertions.since((node, AT, place), self.tick)
        for holder in self.facts.subjects(_CARRIES, str(node)) or agents:
            self.rest_on_presence(ox.NamedNode(holder[1:-1]), place, at=since)

    def rest_on_handling(self, node: ox.NamedNode) -> None:
        """Take the last handling of a thing as evidence, where there is one."""
        if event := self._last_handling(node):
            self._rest_on_event(event)

    def _last_handling(self, node: ox.NamedNode) -> str:
        """The last event in which a thing was handled; empty where there is none."""
        events = {
            event: max(int(text_of_term(tick)) for tick in ticks)
            for event in self.facts.subjects(_THING, str(node))
            if (ticks := self.facts.objects(event, _TICK))
        }
        last = [event for event, tick in events.items() if tick == max(events.values())]
        if len(last) > 1:  # two parts of a sentence: SPARQL says which comes first
            asked = "SELECT ?event { ?event :thing ?node ; :tick ?tick } ORDER BY DESC(?tick) LIMIT 1"
            return str(next(self.look(asked, node=node))[0])
        return "".join(last)

    def rest_on_hands(self, agent: ox.NamedNode) -> None:
        """Take everything that went through an agent's hands as evidence of what the agent carries."""
        for role in (_AGENT, _RECEIVER):
            for event in self.facts.subjects(role, str(agent)):
                if self.facts.objects(event, _THING) and self.facts.objects(event, _TICK):
                    self._rest_on_event(event)
