"""Read a story's state at a tick, and trace what was read to the log.

A triple's evidence is the delta that last made it true; its supporting fact is that delta's tick. Common
knowledge is inserted at tick 0 and is no fact of the story. Terms are spelled as in N-Triples.
"""

from __future__ import annotations

import re
from bisect import bisect_left

import pyoxigraph as ox

from substrate.base.ntriples import integer
from substrate.base.vocabulary import RDF_TYPE
from substrate.domains._facts import Facts, text_of_term
from substrate.domains.babi._terms import AT, CARRIES, ENTITY, NAMESPACE, TICK, term
from substrate.log.event_log import EventLog
from substrate.log.state import State

_AGENT, _RECEIVER, _THING, _ANTECEDENT = map(term, ("agent", "receiver", "thing", "antecedent"))
_IS_UNREAD = f" {RDF_TYPE} {term('Unread')}"
_VARIABLE = re.compile(r"\?(\w+)")
_PREFIXES = {"": NAMESPACE, "entity": ENTITY, "rdfs": "http://www.w3.org/2000/01/rdf-schema#"}


class UnknownError(Exception):
    """The story does not say; this differs from the answers "no" and "nothing"."""


class Reader:
    """Reads a story's log at the tick of one question after another, and gathers an answer's evidence.

    Attributes:
        unread: the tick of the first sentence that could not be read; ``None`` if all were.
        tick: the question's tick.
        facts: the triples that hold at that tick.
        positions: the deltas that the answer rests on, in the order of their discovery.
        queries: the SPARQL that read the state, each text once.
    """

    def __init__(self, log: EventLog) -> None:
        self.log = log
        self.unread: int | None = None
        self.facts, self._followed = Facts(), 0
        self._insertions: dict[str, list[int]] = {}
        standing: set[str] = set()
        position = 0
        for tick, lines in log.lines():
            for line in lines:
                text = line[2:-2]
                if line[0] == "D":
                    standing.discard(text)
                elif text not in standing:
                    standing.add(text)
                    self._insertions.setdefault(text, []).append(position)
                    if self.unread is None and text.endswith(_IS_UNREAD):
                        self.unread = tick
                position += 1

    def turn_to(self, tick: int, state: State) -> None:
        """Read the state at a tick from now on, and gather evidence anew."""
        self.tick, self.state = tick, state
        self.positions: dict[int, None] = {}
        self.queries: dict[str, None] = {}
        self._stops: dict[int, int] = {}
        position = self.log.position(tick)
        if position < self._followed:
            self.facts, self._followed = Facts(), 0
        self.facts.follow(self.log, self._followed, position)
        self._followed = position

    def _latest(self, text: str, tick: int) -> int | None:
        """The position of the delta that last made a triple true by a tick, if any."""
        if tick not in self._stops:
            self._stops[tick] = self.log.position(tick)
        positions = self._insertions.get(text, [])
        index = bisect_left(positions, self._stops[tick])
        return positions[index - 1] if index else None

    def _since(self, node: str, place: str, tick: int) -> int:
        """The last tick, not after ``tick``, at which something came to a place; 0 if it never did."""
        position = self._latest(f"{node} {AT} {place}", tick)
        return 0 if position is None else self.log.tick_and_op(position)[0]

    @property
    def supporting(self) -> tuple[int, ...]:
        """The ticks of the facts that the answer rests on, ascending."""
        ticks = {self.log.tick_and_op(position)[0] for position in self.positions}
        return tuple(sorted(ticks - {0}))

    def rows(self, sparql: str, **given: str) -> list[tuple[str, ...]]:
        """The solutions of a SELECT, plain literals as their texts.

        The terms in ``given`` replace the variables of the same names.
        """
        query = _bound(sparql, given)
        self.queries[query] = None
        solutions = self.state.query(query, prefixes=_PREFIXES)
        return [tuple(map(_spelled, solution)) for solution in solutions]  # pyright: ignore

    def some(self, missed: str, sparql: str, **given: str) -> list[tuple[str, ...]]:
        """The solutions of a SELECT that must have some.

        Raises:
            UnknownError: there are none; the error names ``missed``.
        """
        rows = self.rows(sparql, **given)
        if not rows:
            raise UnknownError(missed)
        return rows

    def first(self, missed: str, sparql: str, **given: str) -> tuple[str, ...]:
        """The first of :meth:`some`."""
        return self.some(missed, sparql, **given)[0]

    def ask(self, sparql: str, **given: str) -> bool:
        """Tell whether an ASK holds."""
        query = _bound(sparql, given)
        self.queries[query] = None
        return bool(self.state.query(query, prefixes=_PREFIXES))

    def rest_on(self, *triple: str, at: int | None = None) -> None:
        """Take a triple as evidence, as it was at a tick, by default the question's."""
        position = self._latest(" ".join(triple), self.tick if at is None else at)
        if position is not None:
            self.positions[position] = None

    def rest_on_event(self, event: str) -> None:
        """Take an event as evidence, and the event of its pronoun's antecedent."""
        for node in (*self.facts.objects(event, _ANTECEDENT), event):
            for fact in self.facts.about(node):
                self.rest_on(*fact)

    def rest_on_presence(self, agent: str, place: str, *, at: int | None = None) -> None:
        """Take as evidence that an agent was at a place at a tick: the sentence that brought it there."""
        at = self.tick if at is None else at
        when = integer(self._since(agent, place, at))
        at_tick = self.facts.subjects(TICK, when)
        events = [event for event in at_tick if agent in self.facts.objects(event, _AGENT)]
        for event in events[:1]:  # of two parts of a sentence, the first names who is meant
            self.rest_on_event(event)
            self.rest_on(agent, AT, place, at=at)

    def rest_on_place(self, node: str, place: str) -> None:
        """Take a node's last handling and holder's arrival, or its own move, as evidence of its place."""
        event = self._last_handling(node)
        agents = self.facts.objects(event, _AGENT)
        if not agents:
            self.rest_on_presence(node, place)
            return
        self.rest_on_event(event)
        since = self._since(node, place, self.tick)
        for holder in self.facts.subjects(CARRIES, node) or agents:
            self.rest_on_presence(holder, place, at=since)

    def rest_on_handling(self, node: str) -> None:
        """Take the last handling of a thing as evidence, if there is one."""
        if event := self._last_handling(node):
            self.rest_on_event(event)

    def _last_handling(self, node: str) -> str:
        """The last event in which a thing was handled; empty if there is none."""
        times = {
            event: max(int(text_of_term(tick)) for tick in ticks)
            for event in self.facts.subjects(_THING, node)
            if (ticks := self.facts.objects(event, TICK))
        }
        # Of two parts of a sentence, the later one
        return max(reversed(times), key=times.__getitem__, default="")

    def rest_on_hands(self, agent: str) -> None:
        """Take as evidence of what an agent carries everything that went through its hands."""
        for role in (_AGENT, _RECEIVER):
            for event in self.facts.subjects(role, agent):
                if self.facts.objects(event, _THING) and self.facts.objects(event, TICK):
                    self.rest_on_event(event)


def _bound(sparql: str, given: dict[str, str]) -> str:
    # A store's own substitutions reach only projected variables.
    return _VARIABLE.sub(lambda match: given.get(match[1], match[0]), sparql)


def _spelled(node: object) -> str:
    return node.value if isinstance(node, ox.Literal) and node.datatype == _STRING else str(node)


_STRING = ox.NamedNode("http://www.w3.org/2001/XMLSchema#string")
