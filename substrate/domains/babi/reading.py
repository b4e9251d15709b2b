"""Reading a story's state at a tick, and tracing what was read to the log.

A triple's supporting fact is the tick at which the log last made it true; an event's is its own tick.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from typing import Any, NamedTuple

import pyoxigraph as ox

from substrate.domains.babi.deltas import AT, PREFIXES, term
from substrate.log import EventLog, Op, Triple
from substrate.replay import State

_VARIABLE = re.compile(r"\?(\w+)")


class Evidence(NamedTuple):
    """A triple as it stood at a tick, and the tick at which the log had last made it true."""

    triple: Triple
    tick: int


class History:
    """When each triple of a log became true: the ticks at which an insertion changed the state."""

    def __init__(self, log: EventLog) -> None:
        self._ticks: dict[Triple, list[int]] = {}
        standing: set[Triple] = set()
        for tick, op, triple in log:
            if op is Op.RETRACT:
                standing.discard(triple)
            elif triple not in standing:
                standing.add(triple)
                self._ticks.setdefault(triple, []).append(tick)

    def since(self, triple: Triple, tick: int) -> int:
        """The last tick <= ``tick`` at which the triple became true; 0 where it never did."""
        ticks = self._ticks.get(triple, [])
        index = bisect_right(ticks, tick)
        return ticks[index - 1] if index else 0


def _bound(sparql: str, given: dict[str, Any]) -> str:
    # A store's own substitutions reach only projected variables.
    return _VARIABLE.sub(lambda match: str(given.get(match[1], match[0])), sparql)


class Reader:
    """The state at a question's tick, and the evidence gathered while it is queried."""

    def __init__(self, state: State, history: History, tick: int) -> None:
        self.state, self.history, self.tick = state, history, tick
        self.evidence: list[Evidence] = []

    def rows(self, sparql: str, **given: Any) -> Iterator[tuple[Any, ...]]:
        """The solutions of a SELECT; the terms in ``given`` take the place of the variables of their names."""
        return map(tuple, self.state.query(_bound(sparql, given), prefixes=PREFIXES))  # type: ignore[arg-type]

    def first(self, sparql: str, **given: Any) -> tuple[Any, ...] | None:
        """The first solution, or ``None``."""
        return next(self.rows(sparql, **given), None)

    def ask(self, sparql: str, **given: Any) -> bool:
        """Whether an ASK holds."""
        return bool(self.state.query(_bound(sparql, given), prefixes=PREFIXES))

    def rest_on(self, subject: Any, predicate: Any, object: Any, *, at: int | None = None) -> None:
        """Take a triple, as it stood at a tick (the question's unless given), as evidence."""
        triple = (subject, predicate, object)
        if tick := self.history.since(triple, self.tick if at is None else at):
            self.evidence.append(Evidence(triple, tick))

    def rest_on_event(self, event: Any, tick: Any) -> None:
        """Take an event as evidence, and the one whose agents it takes up by a pronoun."""
        self.rest_on(event, term("tick"), tick)
        for antecedent, when in list(
            self.rows(
                "SELECT ?antecedent ?when { ?event :antecedent ?antecedent . ?antecedent :tick ?when }",
                event=event,
            )
        ):
            self.rest_on(antecedent, term("tick"), when)

    def rest_on_presence(self, agent: Any, place: Any, *, at: int | None = None) -> None:
        """Take as evidence that an agent was at a place at a tick: the sentence that brought it there."""
        when = ox.Literal(self.history.since((agent, AT, place), self.tick if at is None else at))
        if found := self.first(
            "SELECT ?event { ?event :agent ?agent ; :tick ?tick }", agent=agent, tick=when
        ):
            self.rest_on_event(found[0], when)
