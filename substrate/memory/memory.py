"""An agent's memory: who believes what, since when, from whom, and what if not.

A memory is an event log with words for it. What is remembered is a *record*: a node that reifies a triple
(RDF 1.2) and says who wrote it, from which source, because of which other record, and when in the world it
holds. All of that are ordinary triples of the log: in its chain, in its file, and to be asked in SPARQL.

There are two clocks. The tick of a record is when it was recorded; ``core:validFrom`` and ``core:validUntil``
are the ticks of the world at which it holds: "what was believed at tick 10 about tick 3" is
``as_of(10, about=3)``.

A record's deltas stand together: first the one that gives its node a class, then what is said of it, then the
triple itself, so that the present state can be asked without any record.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Unpack

import pyoxigraph as ox

from substrate.ask.tellings import Learning, chains
from substrate.base.arguments import require
from substrate.base.errors import LogError, ParameterError
from substrate.base.terms import Value, term, triple, value
from substrate.base.vocabulary import AWARE_OF, CONTENT, EVENT, RDF_TYPE, RECIPIENT, SOURCE
from substrate.branch.fork import Emitter, fork
from substrate.branch.interventions import Intervention
from substrate.branch.merge import Conflict, Side, merge
from substrate.log.event_log import Delta, EventLog, Op, Term, Triple
from substrate.log.grouping import BELIEF, ENDING, FORGETTING, OBSERVATION, Placed, numbered, opened
from substrate.log.history import Difference, difference
from substrate.log.replay import State
from substrate.memory.records import (
    ABOUT,
    AUTHOR,
    CAUSE,
    FROM,
    PREFIX,
    PRIMARY,
    REIFIES,
    TIME,
    UNTIL,
    Consequences,
    Ground,
    Moment,
    Node,
    Record,
    Written,
    is_record,
    moment,
    records_of,
    same_clock,
    valid,
)
from substrate.rules.tbox import TBox


class Memory:
    """A memory over an event log, which stays an ordinary log: :attr:`log`.

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
        log: what is remembered so far; an empty log in memory unless given, ``EventLog.open(path)`` for one
            on disk.
        tbox: its words for knowing and telling, beside those of the core.
    """

    def __init__(self, log: EventLog | None = None, tbox: TBox | None = None) -> None:
        if log is not None:
            require(log, EventLog, "an event log", "log")
        if tbox is not None:
            require(tbox, TBox, "a TBox", "tbox")
        self.log = EventLog() if log is None else log
        self.tbox = TBox("memory", "") if tbox is None else tbox

    # Remembering

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
        """Remember something of the world.

        Args:
            subject: an IRI or a blank node.
            predicate: an IRI.
            object: a term, or a Python value as :mod:`substrate.base.terms` takes it.
            valid_from: the moment of the world from which it holds, a tick or a datetime with a time zone;
                the tick of recording unless given.
            valid_until: the first moment of the world, by the same clock, at which it holds no more; such a
                triple does not stand in the present state, and ``as_of(…, about=…)`` finds it.
            written: when and by whom it is recorded: :class:`Written`.

        Raises:
            ParameterError: an argument is no term, a moment is neither a tick nor a time with its zone, it
                ends before it begins or by another clock, or the cause is no record of this log.
            LogError: the tick lies before the log's last one, or the log was closed.
        """
        said = triple(subject, predicate, object)
        tick = self._tick(written)
        first = tick if valid_from is None else moment(valid_from, "valid_from")
        about = [(REIFIES, ox.Triple(*said)), (FROM, term(first))]
        if valid_until is not None:
            last = _after(first, moment(valid_until, "valid_until"), "valid_until")
            about.append((UNTIL, term(last)))
        about += self._meta(written)
        return self._write(OBSERVATION, tick, about, [(Op.INSERT, said)] if valid_until is None else [])

    def believe(
        self,
        agent: Node,
        fact: Value,
        *,
        told_by: Node | None = None,
        **written: Unpack[Written],
    ) -> Record:
        """Remember that an agent is aware of a fact: a node, or a triple.

        Args:
            agent: who.
            fact: a node, or three values that make a triple.
            told_by: from whom; the record is then the event of telling as well.
            written: when and by whom it is recorded: :class:`Written`.

        Raises:
            ParameterError, LogError: as :meth:`observe`.
        """
        said = triple(agent, AWARE_OF, fact)
        if told_by is not None and not isinstance(told_by, Node):
            raise ParameterError(
                f"{told_by!r} is nobody", where=("told_by",), hint="Give an IRI or a blank node"
            )
        tick = self._tick(written)
        about: list[tuple[ox.NamedNode, Term]] = [(REIFIES, ox.Triple(*said)), (FROM, term(tick))]
        if told_by is not None:
            about += [(RDF_TYPE, EVENT), (SOURCE, told_by), (RECIPIENT, said[0]), (CONTENT, said[2])]
        about += self._meta(written)
        return self._write(BELIEF, tick, about, [(Op.INSERT, said)])

    def end(
        self,
        subject: Value,
        predicate: Value,
        object: Value,
        *,
        at: Moment | None = None,
        **written: Unpack[Written],
    ) -> Record:
        """Remember that something ceased to hold at a moment of the world; it is still known that it held.

        Arguments and errors as :meth:`observe`; ``at`` is the first moment at which it holds no more, by the
        clock by which it began: the tick of recording, or ``time``, unless given.

        Raises:
            LogError: no record says that it holds.
            ParameterError: as :meth:`observe`; or it began by another clock than ``at``.
        """
        said = triple(subject, predicate, object)
        tick = self._tick(written)
        state = self.log.state()
        open_ = [node for node in records_of(state, said) if not list(state.match(node, UNTIL))]
        if not open_:
            raise _unknown(said, "Observe it first")
        about = [(ABOUT, node) for node in open_] + self._meta(written)
        ends = [(node, self._end_of(state, node, at, tick, written)) for node in open_]
        changes = [(Op.INSERT, (node, UNTIL, term(last))) for node, last in ends]
        return self._write(ENDING, tick, about, [*changes, (Op.RETRACT, said)])

    def forget(
        self,
        subject: Value,
        predicate: Value,
        object: Value,
        **written: Unpack[Written],
    ) -> Record:
        """Remember something no longer: the triple and its records leave the state, not the log.

        ``as_of`` an earlier tick still has it, and :meth:`forgotten` says who let it go, and when. An agent
        forgets by ``forget(agent, AWARE_OF, fact)``. Arguments as :meth:`observe`.

        Raises:
            LogError: it is not remembered.
        """
        said = triple(subject, predicate, object)
        tick = self._tick(written)
        state = self.log.state()
        nodes = list(records_of(state, said))
        if not nodes and said not in state:
            raise _unknown(said, "Name what is remembered")
        about = [(ABOUT, node) for node in nodes] + self._meta(written)
        left = [part for node in nodes for part in sorted(state.match(node), key=lambda t: str(ox.Quad(*t)))]
        return self._write(FORGETTING, tick, about, [(Op.RETRACT, part) for part in (*left, said)])

    def _end_of(self, state: State, node: Node, at: Moment | None, tick: int, written: Written) -> Moment:
        """The end of a record, by the clock by which it began."""
        (first,) = (value(bound) for _, _, bound in state.match(node, FROM))
        if at is None:
            at = written.get("time") if isinstance(first, datetime) else tick
        return moment(at, "at") if at == first else _after(first, moment(at, "at"), "at")

    def _tick(self, written: Written) -> int:
        if unknown := sorted(set(written) - set(Written.__annotations__)):
            raise ParameterError(
                f"no argument {unknown[0]!r}", hint=f"Choose among {', '.join(Written.__annotations__)}"
            )
        tick = written.get("tick")
        if tick is None:
            return self.log.last_tick + 1 if len(self.log) else 0
        if tick < self.log.last_tick:
            raise LogError(
                f"tick {tick} lies before tick {self.log.last_tick}, the log's last",
                hint="What is learned late is recorded now, with valid_from",
            )
        return tick

    def _meta(self, written: Written) -> list[tuple[ox.NamedNode, Term]]:
        time, cause = written.get("time"), written.get("cause")
        if time is not None and not isinstance(moment(time, "time"), datetime):
            raise ParameterError(f"{time!r} is no time", where=("time",), hint="Give datetime(…, tzinfo=UTC)")
        node = cause.node if isinstance(cause, Record) else cause
        if node is not None and not any(self.log.state().match(node, RDF_TYPE)):
            raise ParameterError(
                f"{node} is no record of this memory",
                where=("cause",),
                hint="Give what observe or believe gave",
            )
        author, source = written.get("author"), written.get("source")
        given = ((AUTHOR, author), (PRIMARY, source), (CAUSE, node), (TIME, time))
        return [(predicate, term(found)) for predicate, found in given if found is not None]

    def _write(
        self,
        kind: ox.NamedNode,
        tick: int,
        about: list[tuple[ox.NamedNode, Term]],
        changes: Iterable[tuple[Op, Triple]],
    ) -> Record:
        changes = list(changes)
        text = "\n".join([self.log.digest, str(tick), str(kind), *(f"{p} {o}" for p, o in about)])
        text += "".join(f"\n{op.value} {ox.Triple(*said)}" for op, said in changes)
        node = ox.NamedNode(PREFIX + hashlib.sha256(text.encode()).hexdigest()[:32])
        said = [(Op.INSERT, (node, predicate, found)) for predicate, found in ((RDF_TYPE, kind), *about)]
        start = len(self.log)
        self.log.extend([Delta(tick, op, part) for op, part in (*said, *changes)])
        return Record(node, tick, tuple(range(start, len(self.log))))

    # Recalling

    def as_of(self, tick: int | None = None, *, about: Moment | None = None) -> State:
        """The state remembered at a tick; with ``about``, what was held true then of that moment.

        Args:
            tick: of recording; the last one unless given.
            about: a tick of the world, or a datetime with a time zone; the answer's triples are those that
                the records valid at it, by its clock, reify.

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
        state = self.log.state(tick)
        if about is None:
            return state
        about = moment(about, "about")
        held, at = EventLog(), state.tick if isinstance(about, datetime) else about
        facts = {
            str(said)
            for node, _, said in state.match(None, REIFIES)
            if isinstance(said, ox.Triple) and valid(state, node, said, about)
        }
        held.extend_lines((at, f"A {line} .") for line in sorted(facts))
        return held.state(at)

    def who_knew(self, fact: Value, tick: int | None = None) -> list[Term]:
        """List the agents who are aware of a fact at a tick, in the order in which they came to know."""
        return [chain[0].knower for chain in self._chains(fact, tick)]

    def told_by(self, agent: Node, fact: Value, tick: int | None = None) -> tuple[Learning, ...]:
        """Trace how an agent came to know a fact, how its teller did, and so on back; empty where it does
        not.
        """
        return next((chain for chain in self._chains(fact, tick) if chain[0].knower == agent), ())

    def _chains(self, fact: Value, tick: int | None) -> list[tuple[Learning, ...]]:
        return chains(self.tbox, self.log, term(fact), self.log.last_tick if tick is None else tick)

    def why(
        self, subject: Value, predicate: Value, object: Value, tick: int | None = None
    ) -> tuple[Ground, ...]:
        """The records that say so at a tick, each followed by what it came from, back to the first.

        A record comes from the record that caused it, and a belief that was told from its teller's own.
        Empty where nothing says so. Each ground names the deltas behind it by their positions.
        """
        state = self.log.state(tick)
        written = {opened(part[0]): part for part in numbered(self.log, state.tick)}
        found: dict[ox.NamedNode, Ground] = {}
        queue: list[Term] = list(records_of(state, triple(subject, predicate, object)))
        while queue:
            node = queue.pop(0)
            if node in written and isinstance(node, ox.NamedNode) and node not in found:
                found[node] = self._ground(node, written[node])
                queue = self._causes(node, written[node]) + queue
        return tuple(found.values())

    def forgotten(self, tick: int | None = None) -> list[Ground]:
        """List the forgotten facts, each as the record of its forgetting says it; ``said`` is what was
        forgotten.
        """
        state = self.log.state(tick)
        return [
            self._ground(node, part)
            for part in numbered(self.log, state.tick)
            if (node := opened(part[0])) and part[0].delta.triple[2] == FORGETTING
        ]

    def _causes(self, node: ox.NamedNode, part: list[Placed]) -> list[Term]:
        about = [delta.triple[1:] for _, delta in part if delta.triple[0] == node]
        causes = [found for predicate, found in about if predicate == CAUSE]
        words = dict(about)
        teller = words.get(SOURCE)
        if isinstance(teller, Node):
            then = self.log.state(part[0].delta.tick)
            causes += records_of(then, (teller, AWARE_OF, words[CONTENT]))
        return causes

    def _ground(self, node: ox.NamedNode, part: list[Placed]) -> Ground:
        about: dict[ox.NamedNode, Term] = {}
        for _, delta in part:
            if delta.triple[0] == node:
                about.setdefault(delta.triple[1], delta.triple[2])
        reified = about.get(REIFIES)
        said = part[-1].delta.triple
        if isinstance(reified, ox.Triple):
            said = triple(reified.subject, reified.predicate, reified.object)
        tick, positions = part[0].delta.tick, tuple(position for position, _ in part)
        time, first, last = (value(about[p]) if p in about else None for p in (TIME, FROM, UNTIL))
        kind = next(delta.triple[2] for _, delta in part if delta.triple[1] == RDF_TYPE)
        assert isinstance(kind, ox.NamedNode)
        return Ground(
            node, kind, tick, positions, said, about.get(AUTHOR), about.get(PRIMARY), time, first, last
        )

    # Imagining

    def imagine(
        self, at: int, intervention: Intervention | None = None, emitter: Emitter | None = None
    ) -> Memory:
        """The memory that would be, had something been otherwise at a tick; this one is unchanged.

        Args:
            at: the branch tick.
            intervention: what is changed then.
            emitter: what follows from it; :class:`Consequences` unless given. The rules of a TBox are a
                ``RuleEmitter``.

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
        return Memory(fork(self.log, at, intervention, emitter or Consequences()), self.tbox)

    def merge(
        self,
        other: Memory,
        *,
        functional: Iterable[ox.NamedNode] = (),
        choose: Callable[[Conflict], Side | None] | None = None,
    ) -> Memory:
        """The memory in which both have happened: this one and another branch of it; both are unchanged.

        The records of both are kept, each with its author, source and deltas.

        Args:
            other: mostly a branch, or what this one was imagined from.
            functional: predicates that have one object at a time, beside those of the TBox.
            choose: whose word counts where the two say otherwise; see :func:`substrate.branch.merge.merge`.

        Raises:
            MergeError: they say otherwise of the same thing, and ``choose`` does not choose.

        >>> from substrate import Namespace
        >>> V, memory = Namespace("urn:v:"), Memory()
        >>> _ = memory.believe(V.isabella, V.party)
        >>> one, two = memory.imagine(1), memory.imagine(1)
        >>> _ = one.believe(V.sam, V.party, told_by=V.isabella)
        >>> _ = two.believe(V.jennifer, V.party, told_by=V.isabella)
        >>> [who.value for who in one.merge(two).who_knew(V.party)]
        ['urn:v:isabella', 'urn:v:jennifer', 'urn:v:sam']
        """
        words = {*self.tbox.functional, *functional, FROM, UNTIL}
        return Memory(merge(self.log, other.log, functional=words, choose=choose), self.tbox)

    def compare(self, other: Memory, tick: int | None = None) -> Difference:
        """List the facts that the other memory holds and this does not (inserted), and the reverse;
        records are left out.
        """
        found = difference(self.log.state(tick), other.log.state(tick))
        return Difference(*(tuple(part for part in side if not is_record(part[0])) for side in found))


def _after(first: object, last: Moment, where: str) -> Moment:
    """An end, where it lies behind its beginning by the same clock."""
    if not same_clock(first, last):
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


def _unknown(said: Triple, hint: str) -> LogError:
    return LogError(f"nothing remembered says {ox.Triple(*said)}", hint=hint)
