"""An agent's memory: who believes what, since when, from whom, and what-ifs.

A memory is a log of *records*. A record is a node that reifies a triple (RDF 1.2) and names its author, its
source, the record that caused it, and the time in the world during which the triple holds. All of these are
ordinary triples of the log: in its chain, in its file, and open to SPARQL.

There are two clocks. The tick of a record is the time of recording. ``core:validFrom`` and
``core:validUntil`` are the moments of the world between which its triple holds: "what was believed at tick 10
about tick 3" is ``as_of(10, about=3)``. The present state has the facts that are valid now. A future fact
begins, and ends, when its moment comes.

Threads may share a memory: no other write comes between a call's reads and its writes.

A record with a ``cause`` rests on the cause's triple, whichever record states it. A belief that
was told rests on its teller's knowledge at the time. If the last ground of a record is forgotten, the record
is withdrawn; if the ground has ended, the record ends. :meth:`Memory.impact` tells beforehand which records
would fall, and :meth:`Memory.imagine` what would not have happened (:mod:`substrate.memory._grounds`).

A record's deltas are consecutive: first its node's class, then its description, then the triple itself; a
query of the present state needs only the triple.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Iterable
from datetime import datetime
from functools import cached_property, wraps
from itertools import repeat
from typing import Any, TypeVar, Unpack, cast, get_args

import pyoxigraph as ox

from substrate.ask.tellings import Learning, chains
from substrate.base.arguments import require, require_tick
from substrate.base.delta import Spelled, Term
from substrate.base.errors import LogError, ParameterError
from substrate.base.ntriples import text_of
from substrate.base.terms import Value, term, triple
from substrate.base.vocabulary import AWARE_OF, CONTENT, EVENT, RDF_TYPE, RECIPIENT, SOURCE
from substrate.branch.fork import Emitter, fork
from substrate.branch.interventions import Intervention
from substrate.branch.merge import Conflict, Side, merge
from substrate.log.event_log import Delta, EventLog, Op, Triple
from substrate.log.grouping import BEGINNING, BELIEF, ENDING, FORGETTING, KINDS, OBSERVATION, Placed, parts_of
from substrate.log.history import Difference, difference
from substrate.log.state import State
from substrate.memory import records as rec
from substrate.memory._clocks import HybridClock, Now, Schedule, by_time
from substrate.memory._contradictions import Clash, Contradictions, Vocabulary
from substrate.memory._grounds import (
    Changes,
    Consequences,
    Rest,
    doubts,
    ended,
    handed_on,
    unsure_of,
    withdrawn,
)
from substrate.memory._index import Index
from substrate.memory.records import Ground, Moment, Node, Record, Written
from substrate.rules.tbox import TBox

Meta = list[tuple[ox.NamedNode, Term]]
"""A record's description: predicates and objects."""
F = TypeVar("F", bound=Callable[..., Any])


def _one_at_a_time(write: F) -> F:
    """Let only one thread at a time call a method that reads and then writes."""

    @wraps(write)
    def locked(self: Memory, *args: Any, **kwargs: Any) -> Any:
        with self._lock:
            return write(self, *args, **kwargs)

    return cast(F, locked)


class Memory:
    """A memory over an event log; :attr:`log` remains an ordinary log.

    >>> from substrate import Namespace
    >>> V = Namespace("urn:v:")
    >>> memory = Memory()
    >>> _ = memory.believe(V.isabella, V.party, author=V.isabella)
    >>> _ = memory.believe(V.sam, V.party, told_by=V.isabella)
    >>> [who.value for who in memory.who_knew(V.party)]
    ['urn:v:isabella', 'urn:v:sam']
    >>> [link.knower.value for link in memory.told_by(V.sam, V.party)]
    ['urn:v:sam', 'urn:v:isabella']

    Args:
        log: the records so far; by default an empty log in memory. ``EventLog.open(path)`` gives a log on
            disk.
        tbox: properties for knowing and telling, in addition to the core's, and the constraints that an
            observation can contradict: the number of a property's objects (``owl:FunctionalProperty``,
            ``owl:maxCardinality``, ``sh:maxCount``), their kind (``rdfs:range``), and disjoint classes
            (``owl:disjointWith``).
        clock: gives a record's time of writing, such as ``lambda: datetime.now(UTC)``. Without a clock
            a record has a time only if the call gives one. The clock is read as a hybrid logical clock: if
            it stands still or goes back, a record is a microsecond after the last.
        contradictions: the strategy for an observation that contradicts the memory. ``"keep"`` keeps both,
            ``"refuse"`` refuses the new observation, ``"end"`` ends the old fact (or refuses the observation
            if only the TBox contradicts it), and ``"doubt"`` keeps both and marks their records
            (:meth:`doubted`).
    """

    def __init__(
        self,
        log: EventLog | None = None,
        tbox: TBox | None = None,
        *,
        clock: Callable[[], datetime] | None = None,
        contradictions: Contradictions = "keep",
    ) -> None:
        if log is not None:
            require(log, EventLog, "an event log", "log")
        if tbox is not None:
            require(tbox, TBox, "a TBox", "tbox")
        self.log = EventLog() if log is None else log
        self.tbox = TBox("memory", "") if tbox is None else tbox
        if contradictions not in get_args(Contradictions):
            hint = 'Choose "keep", "refuse", "end" or "doubt"'
            raise ParameterError(f"unknown strategy {contradictions!r}", where=("contradictions",), hint=hint)
        self._clock = None if clock is None else HybridClock(self.log, clock)
        self._contradictions: Contradictions = contradictions
        self._vocabulary = Vocabulary(self.tbox)
        self._lock = threading.RLock()
        self._schedule = Schedule(self.log)
        self.log.triples.sample()

    # Remembering

    @_one_at_a_time
    def observe(
        self,
        subject: Value,
        predicate: Value,
        object: Value,
        *,
        valid_from: Moment | None = None,
        valid_until: Moment | None = None,
        **written: Unpack[Written],
    ) -> Record:
        """Remember a fact of the world.

        Args:
            subject: an IRI or a blank node.
            predicate: an IRI.
            object: a term, or a Python value that :mod:`substrate.base.terms` accepts.
            valid_from: the moment of the world from which the fact holds: a tick, or a datetime with a time
                zone. By default it is the tick of recording, or the time if this memory has a clock. A fact
                that begins later enters the present state at that moment.
            valid_until: the first moment of the world, by the same clock, at which the fact no longer holds.
                If the end has come, or is a datetime and the present time is unknown, the present state
                lacks the triple; ``as_of(…, about=…)`` finds it.
            written: when and by whom the fact is recorded: :class:`Written`.

        Raises:
            ParameterError: an argument is not a term, a moment is neither a tick nor a time with a zone, the
                end precedes the start or uses another clock, or the cause is not a record of this log.
            LogError: the tick lies before the log's last tick, the log was closed, or the fact contradicts
                the memory and the strategy refuses it.
        """
        fact = triple(subject, predicate, object)
        now, begun, meta = self._begin(written)
        first = begun if valid_from is None else rec.moment(valid_from, "valid_from")
        last = (
            None
            if valid_until is None
            else _after(first, rec.moment(valid_until, "valid_until"), "valid_until")
        )
        holds, ahead = now.status(first, last)
        bounds = ((rec.FROM, first), (rec.UNTIL, last), (rec.AWAITS, ahead))
        about = [(rec.REIFIES, ox.Triple(*fact)), *((p, term(o)) for p, o in bounds if o is not None), *meta]
        self._come_due(now)
        changes, clashes = [(Op.INSERT, fact)] if holds else [], list[Clash]()
        if holds and self._contradictions != "keep":
            clashes = self._vocabulary.clashes(self.log.state(), fact)
        if self._contradictions == "doubt":
            state = self.log.state()
            return self._write(OBSERVATION, now, about, changes, lambda node: doubts(state, node, clashes))
        for clash in clashes:
            changes = self._resolve(clash, first, now, written) + changes
        return self._write(OBSERVATION, now, about, changes)

    @_one_at_a_time
    def observe_many(
        self, facts: Iterable[tuple[Value, Value, Value]], **written: Unpack[Written]
    ) -> list[Record]:
        """Remember many facts in one durable step: all of them, or none if a fact is refused.

        Args:
            facts: the subject, predicate and object of each; without a ``tick`` each fact gets its own tick.
            written: as for :meth:`observe`, with the same errors.

        >>> from substrate import Namespace
        >>> V, memory = Namespace("urn:v:"), Memory()
        >>> [record.tick for record in memory.observe_many([(V.ann, V.at, V.cafe), (V.bo, V.at, V.park)])]
        [0, 1]
        """
        triples = [triple(*fact) for fact in facts]
        while True:
            start = len(self.log)
            if self._is_plain(triples, written):
                deltas, records = self._spelled(triples, written)
            else:
                draft = self._like(self.log.branch(start, self.log.descent))
                records = [draft.observe(*fact, **written) for fact in triples]
                deltas = (Spelled(tick, op, text_of(fact)) for tick, op, fact in draft.log[start:])
            if len(self.log) == start:  # nobody has written meanwhile
                self.log.extend_spelled(deltas)
                return records

    def _is_plain(self, facts: list[Triple], written: Written) -> bool:
        """Tell whether observations need no checks, no clock and no changes that come due."""
        if self._contradictions != "keep" or self._clock or any(isinstance(o, ox.Triple) for *_, o in facts):
            return False
        now, *_ = self._begin(written)
        last = now.tick + (0 if written.get("tick") is not None else len(facts))
        return not self._schedule.reached(Now(last, now.time))

    def _spelled(self, facts: list[Triple], written: Written) -> tuple[Iterable[Spelled], list[Record]]:
        """The deltas and records of plain observations, as :meth:`observe` writes them, spelled at once."""
        now, _, meta = self._begin(written)
        tick, chain, place = now.tick, self.log.chain, len(self.log)
        step, about = int(written.get("tick") is None), [f"{p} {o}" for p, o in meta]
        kind, says, since = f"{RDF_TYPE} {OBSERVATION}", str(rec.REIFIES), f"{rec.FROM} {term(0)}"
        ticks, texts, records = list[int](), list[str](), list[Record]()
        for subject, predicate, object_ in facts:
            text, told = f"{subject} {predicate} {object_}", [since.replace('"0"', f'"{tick}"'), *about]
            node = _node(chain.value, tick, OBSERVATION, [f"{says} {text}", *told], [f"A {text}"])
            name, words = f"<{node.value}>", (kind, f"{says} <<( {text} )>>", *told)
            lines = [*[f"{name} {word}" for word in words], text]
            chain = chain.after(tick, [f"A {line} ." for line in lines])
            ticks += [tick] * len(lines)
            texts += lines
            records.append(Record(node, tick, tuple(range(place, place + len(lines)))))
            place, tick = place + len(lines), tick + step
        return map(Spelled, ticks, repeat(Op.INSERT), texts), records

    def _resolve(self, clash: Clash, first: Moment, now: Now, written: Written) -> Changes:
        """End the contradicted facts or refuse; return the retractions of triples without a record."""
        if self._contradictions == "refuse" or not clash.others:
            hint = "End or forget it first, or open the memory with contradictions='end'"
            raise LogError(clash.why, hint=hint if clash.others else "Correct it, or the TBox")
        state, left = self.log.state(), list[tuple[Op, Triple]]()
        oldest = sorted(clash.others, key=lambda other: self.log.history(other).intervals[-1].start)
        for other in oldest[: clash.excess]:
            if open_ := _open(state, other):
                same = all(
                    rec.same_clock(begun, first)
                    for node in open_
                    for begun in rec.moments(state, node, rec.FROM)
                )
                given: Written = {**written, "tick": now.tick, "time": now.time, "cause": None}
                self.end(*other, at=first if same else None, **given)
            else:
                left.append((Op.RETRACT, other))
        return left

    @_one_at_a_time
    def believe(
        self, agent: Node, fact: Value, *, told_by: Node | None = None, **written: Unpack[Written]
    ) -> Record:
        """Remember that an agent is aware of a fact: a node, or a triple.

        Args:
            agent: the agent.
            fact: a node, or three values that make a triple.
            told_by: the teller; the record is then the event of telling as well.
            written: when and by whom the belief is recorded: :class:`Written`.

        Raises:
            ParameterError, LogError: as :meth:`observe`.
        """
        belief = triple(agent, AWARE_OF, fact)
        if told_by is not None and not isinstance(told_by, Node):
            raise ParameterError(
                f"{told_by!r} is not a node", where=("told_by",), hint="Give an IRI or a blank node"
            )
        now, first, meta = self._begin(written)
        about: Meta = [(rec.REIFIES, ox.Triple(*belief)), (rec.FROM, term(first))]
        if told_by is not None:
            about += [(RDF_TYPE, EVENT), (SOURCE, told_by), (RECIPIENT, belief[0]), (CONTENT, belief[2])]
        self._come_due(now)
        return self._write(BELIEF, now, about + meta, [(Op.INSERT, belief)])

    @_one_at_a_time
    def end(
        self,
        subject: Value,
        predicate: Value,
        object: Value,
        *,
        at: Moment | None = None,
        **written: Unpack[Written],
    ) -> Record:
        """Remember that a fact ceased to hold at a moment of the world; the memory still knows that it held.

        Observations that rest on the fact end with it. Arguments and errors as :meth:`observe`. ``at`` is the
        first moment at which the fact no longer holds, by the clock of its beginning; by default the tick of
        recording, or ``time``. If ``at`` lies ahead, the triple holds until then.

        Raises:
            LogError: no record states the fact.
            ParameterError: as :meth:`observe`; or the fact's start and ``at`` use two clocks.
        """
        fact = triple(subject, predicate, object)
        now, _, meta = self._begin(written)
        open_ = _open(self.log.state(), fact)
        if not open_:
            raise _unknown(fact, "Observe it first")
        ends = [self._end_of(self.log.state(), node, at, now) for node in open_]
        self._come_due(now)
        state = self.log.state()
        changes = [
            change for node, last in zip(open_, ends, strict=True) for change in now.ended(state, node, last)
        ]
        if not any(map(now.before, ends)):
            changes.append((Op.RETRACT, fact))
        more, doubted = self._ending(state, open_, fact, now, ends)
        return self._write(ENDING, now, [(rec.ABOUT, node) for node in open_] + meta, changes + more, doubted)

    def _ending(
        self, state: State, nodes: list[Node], fact: Triple, now: Now, ends: list[Moment]
    ) -> tuple[Changes, Callable[[Node], Changes]]:
        """The changes that end what rests on the ending records, and the marks of doubted records."""
        lost = Rest(self.log, state, nodes, fact, ends=True).lost()
        unsure = unsure_of(state, lost, self._vocabulary.defeasible)
        doubted = [node for node in lost if node in unsure]
        changes = ended(state, lost, unsure, now, ends)
        return changes, lambda by: [(Op.INSERT, (node, rec.DOUBTED, by)) for node in doubted]

    @_one_at_a_time
    def forget(self, subject: Value, predicate: Value, object: Value, **written: Unpack[Written]) -> Record:
        """Forget a fact: the triple and its records leave the state, but not the log.

        ``as_of`` with an earlier tick still has the fact; :meth:`forgotten` tells who forgot it, and when.
        Arguments as :meth:`observe`. ``forget(agent, AWARE_OF, fact)`` withdraws an agent's knowledge and
        everything that the agent told. If the agent merely ceased to know, ``end`` the knowledge: then the
        agents who were told still know.

        If the call's author has recorded the fact, only that author's records are forgotten: the triple holds
        while another record states it. A call by any other author, or without an author, forgets all records
        of the fact. Records that rest on the forgotten records are withdrawn: see :meth:`impact`.

        Raises:
            LogError: the fact is not remembered.
        """
        fact = triple(subject, predicate, object)
        now, _, meta = self._begin(written)
        self._come_due(now)
        state = self.log.state()
        nodes = list(rec.records_of(state, fact))
        if not nodes and fact not in state:
            raise _unknown(fact, "Name what is remembered")
        author = written.get("author")
        own = [
            node for node in nodes if author is not None and any(state.match(node, rec.AUTHOR, term(author)))
        ]
        nodes = own or nodes
        lost = Rest(self.log, state, nodes, fact).lost()
        unsure = unsure_of(state, lost, self._vocabulary.defeasible)
        others = [node for node in _open(state, fact) if node not in nodes and node not in lost]
        changes: Changes = [
            (Op.RETRACT, part) for node in nodes for part in sorted(state.match(node), key=_text)
        ]
        changes += handed_on(state, nodes, others[0]) if others else [(Op.RETRACT, fact)]
        about = [(rec.ABOUT, node) for node in nodes] + meta
        return self._write(FORGETTING, now, about, changes, lambda by: withdrawn(state, lost, unsure, by))

    def impact(self, subject: Value, predicate: Value, object: Value) -> tuple[Ground, ...]:
        """The records that would lose their last ground if a triple were forgotten, nearest first.

        Each of these records rests on the triple, directly or through other records: a record rests on its
        cause's statement, or on its teller's knowledge. A statement that another record also makes stays,
        with everything that rests on it.

        >>> from substrate import Namespace
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
        deltas = ((node, self._parts(node, state)) for node in lost)
        return tuple(self._ground(node, parts, state) for node, parts in deltas if parts)  # type: ignore[arg-type]

    def _end_of(self, state: State, node: Node, at: Moment | None, now: Now) -> Moment:
        """A record's end, by the clock of its beginning."""
        (first,) = rec.moments(state, node, rec.FROM)
        if at is None:
            at = now.time if isinstance(first, datetime) else now.tick
        return rec.moment(at, "at") if at == first else _after(first, rec.moment(at, "at"), "at")

    def _begin(self, written: Written) -> tuple[Now, Moment, Meta]:
        """The present time, a record's default beginning, and the description of its writing; all checked."""
        if unknown := sorted(set(written) - set(Written.__annotations__)):
            hint = f"Choose among {', '.join(Written.__annotations__)}"
            raise ParameterError(f"unknown argument {unknown[0]!r}", hint=hint)
        tick, time, cause = (written.get(name) for name in ("tick", "time", "cause"))
        if tick is None:
            tick = self.log.last_tick + 1 if len(self.log) else 0
        require_tick(tick, "tick")
        if tick < self.log.last_tick:
            what = f"tick {tick} lies before tick {self.log.last_tick}, the log's last"
            raise LogError(what, hint="Record late knowledge at the present tick, with valid_from")
        if time is None and self._clock:
            time = self._clock.now()
        if time is not None and not isinstance(rec.moment(time, "time"), datetime):
            raise ParameterError(f"{time!r} is no time", where=("time",), hint="Give datetime(…, tzinfo=UTC)")
        node = cause.node if isinstance(cause, Record) else cause
        if node is not None and not (isinstance(node, Node) and _is_there(self.log.state(), node)):
            what = f"{node!s:.80} is not a record of this memory"
            raise ParameterError(what, where=("cause",), hint="Give what observe or believe returned")
        given = (
            (rec.AUTHOR, written.get("author")),
            (rec.PRIMARY, written.get("source")),
            (rec.CAUSE, node),
            (rec.TIME, time),
        )
        meta = [(predicate, term(object_)) for predicate, object_ in given if object_ is not None]
        begun = tick if self._clock is None or time is None else rec.moment(time, "time")
        return Now(tick, time), begun, meta

    def _come_due(self, now: Now) -> None:
        """Begin and end the facts whose moment has come, each in its own record."""
        time: Meta = [] if now.time is None else [(rec.TIME, term(now.time))]
        for awaited in self._schedule.reached(now):
            state = self.log.state()
            for due in now.due(state, [awaited]):  # empty if an earlier change has settled it
                about = [(rec.ABOUT, due.node), *time]
                if due.begins:
                    self._write(BEGINNING, now, about, due.changes)
                    continue
                ends = rec.moments(state, due.node, rec.UNTIL)
                more, doubted = self._ending(state, [due.node], due.fact, now, ends)
                self._write(ENDING, now, about, due.changes + more, doubted)

    def _write(
        self,
        kind: ox.NamedNode,
        now: Now,
        about: Meta,
        changes: Changes,
        marks: Callable[[ox.NamedNode], Changes] | None = None,
    ) -> Record:
        """Write a record; ``marks`` returns the changes that mention its node."""
        lines = [f"{op.value} {ox.Triple(*fact)}" for op, fact in changes]
        node = _node(self.log.digest, now.tick, kind, [f"{p} {o}" for p, o in about], lines)
        description = [(Op.INSERT, (node, p, o)) for p, o in ((RDF_TYPE, kind), *about)]
        written = [*description, *changes, *(marks(node) if marks else ())]
        start = len(self.log)
        self.log.extend([Delta(now.tick, op, fact) for op, fact in written])
        self._schedule.follow(start, written)
        return Record(node, now.tick, tuple(range(start, len(self.log))))

    # Recalling

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

        >>> from substrate import Namespace
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
            ahead = (
                self._schedule.reached(now)
                if state.tick >= self.log.last_tick
                else self._index.waiting(self.log.position(state.tick))
            )
            for op, fact in [change for due in now.due(state, ahead) for change in due.changes]:
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
        grounds: dict[ox.NamedNode, Ground] = {}
        queue: list[Term] = list(rec.records_of(state, triple(subject, predicate, object)))
        while queue:
            node = queue.pop(0)
            if isinstance(node, ox.NamedNode) and node not in grounds and (parts := self._parts(node, state)):
                grounds[node] = self._ground(node, parts, state)
                queue = self._causes(node, parts, state) + queue
        return tuple(grounds.values())

    def _parts(self, node: Term, state: State) -> list[Placed]:
        """The deltas of a record up to a state's tick."""
        if not isinstance(node, ox.NamedNode):
            return []
        return parts_of(self.log, node, self.log.position(state.tick))

    def forgotten(self, tick: int | None = None) -> list[Ground]:
        """List the records of forgettings; ``said`` is the forgotten fact."""
        return self._grounds(self.log.state(tick), RDF_TYPE, FORGETTING)

    def doubted(self, tick: int | None = None) -> list[Ground]:
        """List the records in doubt: contradicted, or of a defeasible property and without a ground."""
        return [ground for ground in self._grounds(self.log.state(tick), rec.DOUBTED) if ground.doubted]

    def _grounds(self, state: State, predicate: ox.NamedNode, object: Term | None = None) -> list[Ground]:
        """The records that have a property in a state, in the order of the log."""
        nodes = {node for node, *_ in state.match(None, predicate, object) if isinstance(node, ox.NamedNode)}
        grounds = [self._ground(node, parts, state) for node in nodes if (parts := self._parts(node, state))]
        return sorted(grounds, key=lambda ground: ground.positions)

    def _causes(self, node: ox.NamedNode, parts: list[Placed], state: State) -> list[Term]:
        about = [delta.triple[1:] for _, delta in parts if delta.triple[0] == node]
        causes = [cause for predicate, cause in about if predicate == rec.CAUSE]
        causes += sorted(
            (cause for cause in rec.describe(state, node).get(rec.CAUSE, ()) if cause not in causes), key=str
        )
        words = dict(about)
        teller = words.get(SOURCE)
        if isinstance(teller, Node):
            then = self._state(parts[0].delta.tick)
            causes += rec.records_of(then, (teller, AWARE_OF, words[CONTENT]))
        return causes

    def _ground(self, node: ox.NamedNode, parts: list[Placed], state: State) -> Ground:
        about: dict[ox.NamedNode, Term] = {}
        for _, delta in parts:
            if delta.triple[0] == node:
                about.setdefault(delta.triple[1], delta.triple[2])
        reified = about.get(rec.REIFIES)
        fact = parts[-1].delta.triple
        if isinstance(reified, ox.Triple):
            fact = triple(reified.subject, reified.predicate, reified.object)
        tick, positions = parts[0].delta.tick, tuple(position for position, _ in parts)
        time, first, last = (
            rec.when(about[p]) if p in about else None for p in (rec.TIME, rec.FROM, rec.UNTIL)
        )
        kind = next(delta.triple[2] for _, delta in parts if delta.triple[1] == RDF_TYPE)
        assert isinstance(kind, ox.NamedNode)
        author, source = about.get(rec.AUTHOR), about.get(rec.PRIMARY)
        lost = rec.is_lost(state, node, or_forgotten=True)
        doubted = not lost and rec.is_doubted(state, node)
        time = time if isinstance(time, datetime) else None
        return Ground(node, kind, tick, positions, fact, author, source, time, first, last, lost, doubted)

    # Imagining

    def imagine(
        self, at: int, intervention: Intervention | None = None, emitter: Emitter | None = None
    ) -> Memory:
        """The memory as it would be if something had been different at a tick; this memory is unchanged.

        Args:
            at: the branch tick.
            intervention: the change at that tick.
            emitter: produces the later deltas; by default :class:`Consequences`. A ``RuleEmitter`` applies
                the rules of a TBox.

        Raises:
            LogError, InterventionError: as :func:`substrate.branch.fork.fork`.

        >>> from substrate import Namespace, RetractAwareness
        >>> V, memory = Namespace("urn:v:"), Memory()
        >>> _ = memory.believe(V.isabella, V.party)
        >>> _ = memory.believe(V.sam, V.party, told_by=V.isabella)
        >>> _ = memory.believe(V.jennifer, V.party, told_by=V.sam)
        >>> branch = memory.imagine(1, RetractAwareness(V.isabella, V.party))
        >>> len(memory.who_knew(V.party)), len(branch.who_knew(V.party))
        (3, 0)
        """
        return self._like(fork(self.log, at, intervention, emitter or Consequences()))

    def _like(self, log: EventLog) -> Memory:
        clock = self._clock.read if self._clock else None
        return Memory(log, self.tbox, clock=clock, contradictions=self._contradictions)

    def merge(
        self,
        other: Memory,
        *,
        functional: Iterable[ox.NamedNode] = (),
        choose: Callable[[Conflict], Side | None] | None = None,
    ) -> Memory:
        """Merge this memory with another branch of it; both are unchanged.

        The records of both are kept, each with its author, source and deltas. If every record that the two
        do not share has a ``time``, these records are ordered by time and get new ticks; otherwise a tick is
        the same moment in both.

        Args:
            other: usually a branch of this memory, or the memory that this one was imagined from.
            functional: predicates that have one object at a time, in addition to the TBox's.
            choose: decides a conflict; see :func:`substrate.branch.merge.merge`.

        Raises:
            MergeError: the two conflict, and ``choose`` does not choose.

        >>> from substrate import Namespace
        >>> V, memory = Namespace("urn:v:"), Memory()
        >>> _ = memory.believe(V.isabella, V.party)
        >>> left, right = memory.imagine(1), memory.imagine(1)
        >>> _ = left.believe(V.sam, V.party, told_by=V.isabella)
        >>> _ = right.believe(V.jennifer, V.party, told_by=V.isabella)
        >>> [who.value for who in left.merge(right).who_knew(V.party)]
        ['urn:v:isabella', 'urn:v:jennifer', 'urn:v:sam']
        """
        words = {*self.tbox.functional, *functional, rec.FROM, rec.UNTIL}
        return self._like(merge(*by_time(self.log, other.log), functional=words, choose=choose))

    def compare(self, other: Memory, tick: int | None = None) -> Difference:
        """List the facts, not records, that only the other memory holds (inserted) or only this one
        (retracted).
        """
        sides = difference(self.log.state(tick), other.log.state(tick))
        return Difference(*(tuple(part for part in side if not rec.is_record(part[0])) for side in sides))


def _node(digest: str, tick: int, kind: ox.NamedNode, about: list[str], changes: list[str]) -> ox.NamedNode:
    """A record's name: a hash of the log before it and of its content."""
    text = "\n".join([digest, str(tick), str(kind), *about, *changes])
    return ox.NamedNode(rec.PREFIX + hashlib.sha256(text.encode()).hexdigest()[:32])


def _after(first: object, last: Moment, where: str) -> Moment:
    """Check that an end lies after its beginning, by the same clock; return the end."""
    if not rec.same_clock(first, last):
        raise ParameterError(
            f"it begins by one clock ({first}) and ends by another ({last})",
            where=(where,),
            hint="Give both as ticks, or both as times",
        )
    if not first < last:  # type: ignore[operator]
        raise ParameterError(
            f"it ends at {last} and begins at {first}", where=(where,), hint="Give an end after the beginning"
        )
    return last


def _is_there(state: State, node: Node) -> bool:
    """Tell whether a node has a class; a record's class is found without a store."""
    return any((node, RDF_TYPE, kind) in state for kind in KINDS) or any(state.match(node, RDF_TYPE))


def _open(state: State, fact: Triple) -> list[Node]:
    """The records that state a triple and have neither ended nor lost their ground."""
    return [node for node in rec.records_of(state, fact) if not rec.is_lost(state, node)]


def _text(part: Triple) -> str:
    return str(ox.Quad(*part))


def _unknown(fact: Triple, hint: str) -> LogError:
    return LogError(f"nothing in the memory states {ox.Triple(*fact)}", hint=hint)
