"""What-ifs: a log's later records without those that rest on a removed fact."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from substrate.base.delta import Delta, Op, Term, Triple
from substrate.log.event_log import EventLog
from substrate.log.grouping import grouped_by_record, record_begun_by
from substrate.memory import records as rec
from substrate.memory._format import description_in, known_by_teller, statement
from substrate.memory._grounds import ALWAYS, Key, Resting, Support, fallen, statement_of
from substrate.memory.records import Properties


class Consequences:
    """The emitter of :meth:`Memory.imagine`: the later records that do not rest on a removed fact.

    A record is dropped if no standing record states its cause's fact, or if its teller, who knew in the log,
    does not know in the branch. The ending or forgetting of a dropped record is dropped too. Records before
    the branch tick, and deltas without a record, are kept. No model takes part: the same log and change give
    the same branch.
    """

    def emit(self, branch: EventLog, parent: EventLog, at: int) -> Iterator[Delta]:
        """The parent's records from tick ``at`` on that still have their grounds."""
        groups = list(grouped_by_record(parent, parent.position(at - 1)))
        gone = fallen(_Replayed(branch, parent, at).records(groups)) - {None}
        for deltas in groups:
            if not gone or record_begun_by(deltas[0]) not in gone:
                yield from (delta for delta in deltas if delta.triple[0] not in gone)


class _Replayed:
    """The records of a log from a tick on, with their needs in a branch that differs from the log."""

    def __init__(self, branch: EventLog, parent: EventLog, at: int) -> None:
        # The states before the intervention, and after it in the branch
        self._before, self._start = parent.state(at - 1), branch.state()
        own = branch[parent.position(at - 1) :]
        self._removed = {delta.triple for delta in own if delta.op is Op.RETRACT} - {*self._start}
        # By triple: its last change, and the place of its last retraction
        self._changed: dict[Triple, Op] = {}
        self._ended: dict[Triple, int] = {}
        # By record: the support that it gives to the records that it caused. An earlier record of the same
        # statement gives it too, unless the statement was retracted in between
        self._gives: dict[Term, Support] = {}

    def records(self, groups: Iterable[list[Delta]]) -> Iterator[Resting]:
        """Each group of deltas as a record that may fall."""
        for place, deltas in enumerate(groups):
            node = record_begun_by(deltas[0])
            described = description_in(deltas, node)
            fact = statement(described)
            needs = self._needs(described, place) if node else []
            for delta in deltas:
                self._changed[delta.triple] = delta.op
                if delta.op is Op.RETRACT:
                    self._ended[delta.triple] = place
            if node:
                self._gives[node] = Support(fact or node, self._ended.get(fact, -ALWAYS) if fact else -ALWAYS)
            keys: list[Key] = [node] if node else [d.triple for d in deltas if d.op is Op.INSERT]
            yield Resting(node, place, [*keys, fact] if fact else keys, needs)

    def _needs(self, described: Properties, place: int) -> list[list[Support]]:
        """A record's needs, from its description, without the needs that earlier records meet."""
        causes, about = (described.get(word, []) for word in (rec.CAUSE, rec.ABOUT))
        needs: list[list[Support]] = []
        if all(
            cause in self._gives or statement_of(self._before, cause) in self._removed for cause in causes
        ):
            needs.append([self._support(cause) for cause in causes])
        if all(node in self._gives for node in about):
            needs.append([Support(node) for node in about])
        knew = known_by_teller(described)
        if knew and (self._changed[knew] is Op.INSERT if knew in self._changed else knew in self._before):
            needs.append([Support(knew, self._ended.get(knew, -ALWAYS), place)])
        return [need for need in needs if need and not any(map(self._is_met, need))]

    def _support(self, cause: Term) -> Support:
        return self._gives.get(cause) or Support(statement_of(self._before, cause) or cause)

    def _is_met(self, support: Support) -> bool:
        key = support.key
        return support.after == -ALWAYS and isinstance(key, tuple) and key in self._start
