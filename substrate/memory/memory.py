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

This module has the calls that write, and the branches of a memory; :mod:`substrate.memory.recall` has the
questions. A record's deltas are consecutive (:mod:`substrate.memory._format`), and its triple is one of them,
so a query of the present state needs only the triple.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from datetime import datetime
from functools import wraps
from typing import Any, TypeVar, Unpack, cast, get_args

import pyoxigraph as ox

from substrate.base.arguments import require
from substrate.base.delta import Op, Spelled, Triple
from substrate.base.errors import LogError, ParameterError
from substrate.base.ntriples import text_of
from substrate.base.terms import Value, term, triple
from substrate.base.vocabulary import AWARE_OF, CONTENT, EVENT, RDF_TYPE, RECIPIENT, SOURCE
from substrate.branch.fork import Emitter, fork
from substrate.branch.interventions import Intervention
from substrate.branch.merge import Conflict, Side, merge
from substrate.log.event_log import EventLog
from substrate.log.grouping import BELIEF, ENDING, FORGETTING, OBSERVATION
from substrate.memory import records as rec
from substrate.memory._clocks import after, by_time, end_of
from substrate.memory._consequences import Consequences
from substrate.memory._contradictions import Clash, Contradictions, Vocabulary
from substrate.memory._falling import doubts, handed_on
from substrate.memory._format import Changes, Description
from substrate.memory._schedule import changes_to_end
from substrate.memory._writing import Batch, Call, Writer
from substrate.memory.recall import Recall
from substrate.memory.records import Moment, Node, Record, Written
from substrate.rules.tbox import TBox

F = TypeVar("F", bound=Callable[..., Any])


def _one_at_a_time(write: F) -> F:
    """Let only one thread at a time call a method that reads and then writes."""

    @wraps(write)
    def locked(self: Memory, *args: Any, **kwargs: Any) -> Any:
        with self._lock:
            return write(self, *args, **kwargs)

    return cast(F, locked)


class Memory(Recall):
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
        require(log, EventLog | None, "an event log", "log")
        require(tbox, TBox | None, "a TBox", "tbox")
        if contradictions not in get_args(Contradictions):
            hint = 'Choose "keep", "refuse", "end" or "doubt"'
            raise ParameterError(f"unknown strategy {contradictions!r}", where=("contradictions",), hint=hint)
        log = EventLog() if log is None else log
        super().__init__(log, TBox("memory", "") if tbox is None else tbox, clock)
        self._contradictions: Contradictions = contradictions
        self._vocabulary = Vocabulary(self.tbox)
        self._writer = Writer(self.log, self._clock, self._schedule, self._vocabulary)
        self._lock = threading.RLock()
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
        write, call = self._writer.write, self._writer.begin(written)
        now, first, last = call.now, call.begins, None
        if valid_from is not None:
            first = rec.moment(valid_from, "valid_from")
        if valid_until is not None:
            last = after(first, valid_until, "valid_until")
        status = now.status(first, last)
        bounds = ((rec.FROM, first), (rec.UNTIL, last), (rec.AWAITS, status.changes_at))
        about: Description = [(rec.REIFIES, ox.Triple(*fact))]
        about += [(predicate, term(bound)) for predicate, bound in bounds if bound is not None]
        self._writer.come_due(now)
        changes, clashes = [(Op.INSERT, fact)] if status.holds else [], list[Clash]()
        if status.holds and self._contradictions != "keep":
            clashes = self._vocabulary.clashes(self.log.state(), fact)
        if self._contradictions == "doubt":
            state = self.log.state()
            return write(OBSERVATION, call, about, changes, lambda node: doubts(state, node, clashes))
        for clash in clashes:
            changes = self._resolve(clash, first, call, written) + changes
        return write(OBSERVATION, call, about, changes)

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
            if self._contradictions == "keep" and self._writer.is_plain(triples, written):
                batch = self._writer.plain_batch(triples, written)
            else:
                draft = self._like(self.log.branch(start, self.log.descent))
                records = [draft.observe(*fact, **written) for fact in triples]
                deltas = [Spelled(tick, op, text_of(fact)) for tick, op, fact in draft.log[start:]]
                batch = Batch(deltas, records)
            if len(self.log) == start:  # nobody has written to the log meanwhile
                self.log.extend_spelled(batch.deltas)
                return batch.records

    def _resolve(self, clash: Clash, first: Moment, call: Call, written: Written) -> Changes:
        """End the contradicted facts, or refuse; return the retractions of triples without a record."""
        if self._contradictions == "refuse" or not clash.others:
            hint = "End or forget it first, or open the memory with contradictions='end'"
            raise LogError(clash.why, hint=hint if clash.others else "Correct it, or the TBox")
        state, unrecorded = self.log.state(), Changes()
        oldest = sorted(clash.others, key=lambda other: self.log.history(other).intervals[-1].start)
        for other in oldest[: clash.excess]:
            standing = rec.standing_records(state, other)
            if not standing:
                unrecorded.append((Op.RETRACT, other))
                continue
            begun = [moment for node in standing for moment in rec.moments(state, node, rec.FROM)]
            at = first if all(rec.same_clock(moment, first) for moment in begun) else None
            given: Written = {**written, "tick": call.now.tick, "time": call.now.time, "cause": None}
            self.end(*other, at=at, **given)
        return unrecorded

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
            what = f"{told_by!r} is not a node"
            raise ParameterError(what, where=("told_by",), hint="Give an IRI or a blank node")
        call = self._writer.begin(written)
        about: Description = [(rec.REIFIES, ox.Triple(*belief)), (rec.FROM, term(call.begins))]
        if told_by is not None:
            about += [(RDF_TYPE, EVENT), (SOURCE, told_by), (RECIPIENT, belief[0]), (CONTENT, belief[2])]
        self._writer.come_due(call.now)
        return self._writer.write(BELIEF, call, about, [(Op.INSERT, belief)])

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
        call, before = self._writer.begin(written), self.log.state()
        now, nodes = call.now, rec.standing_records(before, fact)
        if not nodes:
            raise _unknown(fact, "Observe it first")
        ends = {node: end_of(before, node, at, now) for node in nodes}
        self._writer.come_due(now)
        state = self.log.state()
        changes = [change for node in nodes for change in changes_to_end(now, state, node, ends[node])]
        if not any(map(now.before, ends.values())):
            changes.append((Op.RETRACT, fact))
        falling = self._writer.falling(state, nodes, fact, ends=True)
        changes += falling.ended(now, [*ends.values()])
        about: Description = [(rec.ABOUT, node) for node in nodes]
        return self._writer.write(ENDING, call, about, changes, falling.doubted)

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
        call = self._writer.begin(written)
        self._writer.come_due(call.now)
        state, author = self.log.state(), written.get("author")
        nodes = rec.records_of(state, fact)
        if not nodes and fact not in state:
            raise _unknown(fact, "Name what is remembered")
        if author is not None:
            nodes = [node for node in nodes if any(state.match(node, rec.AUTHOR, term(author)))] or nodes
        falling = self._writer.falling(state, nodes, fact)
        gone = {*nodes, *falling.lost}
        others = [node for node in rec.standing_records(state, fact) if node not in gone]
        changes: Changes = []
        for node in nodes:
            changes += [(Op.RETRACT, part) for part in sorted(state.match(node), key=text_of)]
        changes += handed_on(state, nodes, others[0]) if others else [(Op.RETRACT, fact)]
        about: Description = [(rec.ABOUT, node) for node in nodes]
        return self._writer.write(FORGETTING, call, about, changes, falling.withdrawn)

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


def _unknown(fact: Triple, hint: str) -> LogError:
    return LogError(f"nothing in the memory states {ox.Triple(*fact)}", hint=hint)
