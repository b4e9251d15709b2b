"""The writes of a memory: a call is checked and dated, due facts begin and end, and records are appended."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime
from itertools import repeat
from typing import NamedTuple

import pyoxigraph as ox

from substrate.base.arguments import require_tick
from substrate.base.delta import Op, Triple
from substrate.base.errors import LogError, ParameterError
from substrate.base.terms import term
from substrate.base.vocabulary import RDF_TYPE
from substrate.log.event_log import EventLog
from substrate.log.grouping import BEGINNING, ENDING, KINDS, OBSERVATION
from substrate.log.state import State
from substrate.memory import records as rec
from substrate.memory._clocks import HybridClock, Now
from substrate.memory._contradictions import Vocabulary
from substrate.memory._falling import Falling
from substrate.memory._format import Changes, Description, Draft, beginning_detail, detail, statement_detail
from substrate.memory._grounds import Rest
from substrate.memory._schedule import Schedule, due
from substrate.memory.records import Moment, Node, Record, Written


class Call(NamedTuple):
    """The checked circumstances of a write.

    Attributes:
        now: the tick and the time of recording.
        begins: the moment from which the record's triple holds, unless the caller gives another moment.
        description: the author, source, cause and time, as far as they are given.
    """

    now: Now
    begins: Moment
    description: Description


class Batch(NamedTuple):
    """Many records, not yet in the log: their deltas, and what the caller gets for them."""

    deltas: Iterable[tuple[int, Op, str]]
    records: list[Record]


class Writer:
    """Appends records to a memory's log.

    Args:
        log: the memory's log.
        clock: the clock of the times of writing, if the memory has one.
        schedule: the moments at which records begin or end.
        vocabulary: knows the defeasible properties.
    """

    def __init__(
        self, log: EventLog, clock: HybridClock | None, schedule: Schedule, vocabulary: Vocabulary
    ) -> None:
        self._log, self._clock, self._schedule, self._vocabulary = log, clock, schedule, vocabulary

    def begin(self, written: Written) -> Call:
        """Check when, by whom and why a record is written; nothing is written yet.

        Raises:
            ParameterError, LogError: as :meth:`substrate.memory.memory.Memory.observe`.
        """
        if unknown := sorted(set(written) - set(Written.__annotations__)):
            hint = f"Choose among {', '.join(Written.__annotations__)}"
            raise ParameterError(f"unknown argument {unknown[0]!r}", hint=hint)
        log, tick, time, cause = self._log, written.get("tick"), written.get("time"), written.get("cause")
        if tick is None:
            tick = log.last_tick + 1 if len(log) else 0
        require_tick(tick, "tick")
        if tick < log.last_tick:
            what = f"tick {tick} lies before tick {log.last_tick}, the log's last"
            raise LogError(what, hint="Record late knowledge at the present tick, with valid_from")
        if time is None and self._clock:
            time = self._clock.now()
        if time is not None and not isinstance(rec.moment(time, "time"), datetime):
            raise ParameterError(f"{time!r} is no time", where=("time",), hint="Give datetime(…, tzinfo=UTC)")
        node = cause.node if isinstance(cause, Record) else cause
        if node is not None and not (isinstance(node, Node) and _has_class(log.state(), node)):
            what = f"{node!s:.80} is not a record of this memory"
            raise ParameterError(what, where=("cause",), hint="Give what observe or believe returned")
        author, source = written.get("author"), written.get("source")
        given = ((rec.AUTHOR, author), (rec.PRIMARY, source), (rec.CAUSE, node), (rec.TIME, time))
        description = [(predicate, term(object_)) for predicate, object_ in given if object_ is not None]
        begins = tick if self._clock is None or time is None else rec.moment(time, "time")
        return Call(Now(tick, time), begins, description)

    def write(
        self,
        kind: ox.NamedNode,
        call: Call,
        about: Description,
        changes: Changes,
        marks: Callable[[ox.NamedNode], Changes] | None = None,
    ) -> Record:
        """Append a record.

        Args:
            kind: the record's class.
            call: the circumstances of the write.
            about: the description, without the circumstances.
            changes: the changes of the state that do not mention the record.
            marks: returns the changes that mention the record's node.
        """
        tick, start = call.now.tick, len(self._log)
        draft = Draft.of(tick, kind, about + call.description, changes)
        node = draft.named(self._log.digest)
        deltas = draft.deltas(node, marks(node) if marks else [])
        self._log.extend_spelled(deltas)
        self._schedule.follow(start, deltas)
        return Record(node, tick, tuple(range(start, start + len(deltas))))

    def come_due(self, now: Now) -> None:
        """Begin and end the facts whose moment has come, each in its own record."""
        call = Call(now, now.tick, [] if now.time is None else [(rec.TIME, term(now.time))])
        for awaited in self._schedule.reached(now):
            state = self._log.state()
            for fact in due(now, state, [awaited]):  # empty if an earlier change has settled it
                about: Description = [(rec.ABOUT, fact.node)]
                if fact.begins:
                    self.write(BEGINNING, call, about, fact.changes)
                    continue
                ends = rec.moments(state, fact.node, rec.UNTIL)
                falling = self.falling(state, [fact.node], fact.fact, ends=True)
                self.write(ENDING, call, about, fact.changes + falling.ended(now, ends), falling.doubted)

    def falling(self, state: State, nodes: Iterable[Node], fact: Triple, *, ends: bool = False) -> Falling:
        """The records that fall with some records of a triple; arguments as :class:`Rest`."""
        lost = Rest(self._log, state, nodes, fact, ends=ends).lost()
        return Falling.of(state, lost, self._vocabulary.defeasible)

    # Many observations at once

    def is_plain(self, facts: list[Triple], written: Written) -> bool:
        """Tell whether observations need no clock and no changes that come due."""
        if self._clock or any(isinstance(object_, ox.Triple) for *_, object_ in facts):
            return False
        now = self.begin(written).now
        last = now.tick + (0 if written.get("tick") is not None else len(facts))
        return not self._schedule.reached(Now(last, now.time))

    def plain_batch(self, facts: list[Triple], written: Written) -> Batch:
        """The records of plain observations, the same as :meth:`write` appends one by one.

        Each takes a third of the time, because no state is read, and the log takes all deltas at once.
        """
        call = self.begin(written)
        tick, chain, place = call.now.tick, self._log.chain, len(self._log)
        step, description = int(written.get("tick") is None), [detail(*pair) for pair in call.description]
        kind, ticks, texts, records = str(OBSERVATION), list[int](), list[str](), list[Record]()
        for subject, predicate, object_ in facts:
            text = f"{subject} {predicate} {object_}"
            details = [statement_detail(text), beginning_detail(tick), *description]
            draft = Draft(tick, kind, details, [(Op.INSERT, text)])
            node = draft.named(chain.value)
            lines = [*draft.insertions(node), text]
            chain = chain.after(tick, [f"A {line} ." for line in lines])
            ticks += [tick] * len(lines)
            texts += lines
            records.append(Record(node, tick, tuple(range(place, place + len(lines)))))
            place, tick = place + len(lines), tick + step
        return Batch(zip(ticks, repeat(Op.INSERT), texts, strict=False), records)


def _has_class(state: State, node: Node) -> bool:
    """Tell whether a node has a class; a record's class is found without a store."""
    return any((node, RDF_TYPE, kind) in state for kind in KINDS) or any(state.match(node, RDF_TYPE))
