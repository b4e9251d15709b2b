"""The questions that a memory answers, from its log alone."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from functools import cached_property

import pyoxigraph as ox

from substrate.ask.tellings import Learning, chains
from substrate.base.arguments import require_tick
from substrate.base.delta import Term
from substrate.base.terms import Value, term, triple
from substrate.base.vocabulary import RDF_TYPE
from substrate.log.event_log import EventLog
from substrate.log.grouping import FORGETTING, parts_of
from substrate.log.history import Difference, difference
from substrate.log.state import State
from substrate.memory import records as rec
from substrate.memory._clocks import HybridClock, Now
from substrate.memory._format import Entry, description_in, known_by_teller
from substrate.memory._grounds import Rest
from substrate.memory._index import Index
from substrate.memory._schedule import Schedule, due
from substrate.memory.records import Ground, Moment, Node
from substrate.rules.tbox import TBox


class Recall:
    """The questions to a memory; the base of :class:`substrate.memory.memory.Memory`.

    Args:
        log: the records.
        tbox: properties for knowing and telling.
        clock: the clock of the present time, if there is one.
    """

    def __init__(self, log: EventLog, tbox: TBox, clock: Callable[[], datetime] | None) -> None:
        self.log = log
        self.tbox = tbox
        self._clock = None if clock is None else HybridClock(log, clock)
        self._schedule = Schedule(log)

    def as_of(self, tick: int | None = None, *, about: Moment | None = None) -> State:
        """The state remembered at a tick; with ``about``, the facts then believed about that moment.

        Without ``about`` the state has the facts valid at that tick: every beginning and end due by then has
        happened.

        Args:
            tick: the tick of recording; by default the last tick and the clock's present time.
            about: a tick of the world, or a datetime with a time zone. The answer then has the triples of the
                records that are valid at that moment, judged by the moment's own clock.

        Raises:
            ParameterError: ``about`` is neither.

        >>> from substrate import Memory, Namespace
        >>> V, memory = Namespace("urn:v:"), Memory()
        >>> wrong = memory.observe(V.ann, V.at, V.cafe, tick=3)
        >>> _ = memory.forget(V.ann, V.at, V.cafe, tick=12)
        >>> _ = memory.observe(V.ann, V.at, V.park, valid_from=3, tick=12)
        >>> [[o.value for _, _, o in memory.as_of(t, about=3)] for t in (10, 12)]
        [['urn:v:cafe'], ['urn:v:park']]
        """
        state = self._state(tick)
        if about is None:
            now = Now(state.tick, None if tick is not None or self._clock is None else self._clock.now())
            if state.tick >= self.log.last_tick:
                ahead = self._schedule.reached(now)
            else:
                ahead = self._index.waiting(self.log.position(state.tick))
            for op, fact in [change for record in due(now, state, ahead) for change in record.changes]:
                state.apply(op, ox.Quad(*fact))  # this call owns the state
            return state
        about = rec.moment(about, "about")
        at = state.tick if isinstance(about, datetime) else about
        return self._index.valid(about, self.log.position(state.tick), at)

    def _state(self, tick: int | None) -> State:
        """The state at a tick; a past state reads the triples about a thing from an index."""
        state = self.log.state(tick)
        if state.tick >= self.log.last_tick:
            return state
        return self._index.state(self.log.position(state.tick), state.tick)

    @cached_property
    def _index(self) -> Index:
        return Index(self.tbox, self.log)

    def who_knew(self, fact: Value, tick: int | None = None) -> list[Term]:
        """List the agents who are aware of a fact at a tick, in the order in which they came to know."""
        return [chain[0].knower for chain in self._chains(fact, tick)]

    def told_by(self, agent: Node, fact: Value, tick: int | None = None) -> tuple[Learning, ...]:
        """Trace how an agent came to know a fact, how its teller did, and so on; empty if it does not."""
        return next((chain for chain in self._chains(fact, tick) if chain[0].knower == agent), ())

    def _chains(self, fact: Value, tick: int | None) -> list[tuple[Learning, ...]]:
        tick = self.log.last_tick if tick is None else tick
        require_tick(tick, "tick")
        return chains(self.tbox, self.log, term(fact), tick)

    def why(
        self, subject: Value, predicate: Value, object: Value, tick: int | None = None
    ) -> tuple[Ground, ...]:
        """The records that state a triple at a tick, each followed by its origins, back to the first.

        The origin of a record is its cause; the origin of a belief that was told is its teller's belief. The
        result is empty if no record states the triple. Each ground names its deltas by their positions, and
        tells whether it is lost by that tick: forgotten, withdrawn or ended.
        """
        state = self._state(tick)
        grounds: dict[Term, Ground] = {}
        queue: list[Term] = list(rec.records_of(state, triple(subject, predicate, object)))
        while queue:
            node = queue.pop(0)
            if node not in grounds and (entry := self._entry(node, state)):
                grounds[entry.node] = entry.ground(state)
                queue = self._causes(entry, state) + queue
        return tuple(grounds.values())

    def forgotten(self, tick: int | None = None) -> list[Ground]:
        """List the records of forgettings; ``said`` is the forgotten fact."""
        return self._grounds(self.log.state(tick), RDF_TYPE, FORGETTING)

    def doubted(self, tick: int | None = None) -> list[Ground]:
        """List the records in doubt: contradicted, or of a defeasible property and without a ground."""
        return [ground for ground in self._grounds(self.log.state(tick), rec.DOUBTED) if ground.doubted]

    def _grounds(self, state: State, predicate: ox.NamedNode, object: Term | None = None) -> list[Ground]:
        """The records that have a property in a state, in the order of the log."""
        nodes = {node for node, *_ in state.match(None, predicate, object)}
        grounds = [entry.ground(state) for node in nodes if (entry := self._entry(node, state))]
        return sorted(grounds, key=lambda ground: ground.positions)

    def impact(self, subject: Value, predicate: Value, object: Value) -> tuple[Ground, ...]:
        """The records that would lose their last ground if a triple were forgotten, nearest first.

        Each of these records rests on the triple, directly or through other records: a record rests on its
        cause's statement, or on its teller's knowledge. A statement that another record also makes stays,
        with everything that rests on it.

        >>> from substrate import Memory, Namespace
        >>> V, memory = Namespace("urn:v:"), Memory()
        >>> rain = memory.observe(V.town, V.weather, "rain")
        >>> _ = memory.observe(V.picnic, V.place, V.hall, cause=rain)
        >>> [ground.said[2].value for ground in memory.impact(V.town, V.weather, "rain")]
        ['urn:v:hall']
        >>> _ = memory.forget(V.town, V.weather, "rain")
        >>> len(list(memory.as_of().match(V.picnic))), memory.why(V.picnic, V.place, V.hall)[0].lost
        (0, True)
        """
        fact, state = triple(subject, predicate, object), self.log.state()
        lost = Rest(self.log, state, rec.records_of(state, fact), fact).lost()
        return tuple(entry.ground(state) for node in lost if (entry := self._entry(node, state)))

    def compare(self, other: Recall, tick: int | None = None) -> Difference:
        """List the facts, not records, that only the other memory holds (inserted) or only this one
        (retracted).
        """
        sides = difference(self.log.state(tick), other.log.state(tick))
        return Difference(*(tuple(part for part in side if not rec.is_record(part[0])) for side in sides))

    def _entry(self, node: Term, state: State) -> Entry | None:
        """A record as it stands in the log up to a state's tick; ``None`` if it is not there."""
        if not isinstance(node, ox.NamedNode):
            return None
        parts = parts_of(self.log, node, self.log.position(state.tick))
        deltas = (delta for _, delta in parts)
        return Entry(node, parts, description_in(deltas, node)) if parts else None

    def _causes(self, entry: Entry, state: State) -> list[Term]:
        """The origins of a record: its causes, also those given later, and its teller's beliefs."""
        causes = list(entry.properties.get(rec.CAUSE, ()))
        later = rec.describe(state, entry.node).get(rec.CAUSE, ())
        causes += sorted((cause for cause in later if cause not in causes), key=str)
        if knew := known_by_teller(entry.properties):
            causes += rec.records_of(self._state(entry.parts[0].delta.tick), knew)
        return causes
