"""The grounds of a memory's records, and the records that fall when a ground is gone.

Imagining, impact, forgetting and ending all apply the same rule: :func:`fallen`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

import pyoxigraph as ox

from substrate.base.delta import Delta, Op, Term, Triple
from substrate.base.terms import triple
from substrate.base.vocabulary import AWARE_OF, CONTENT, RDF_TYPE, SOURCE
from substrate.log.event_log import EventLog
from substrate.log.grouping import OBSERVATION, grouped_by_record, parts_of, record_begun_by
from substrate.log.state import State
from substrate.memory import records as rec
from substrate.memory._clocks import Now
from substrate.memory._contradictions import Clash
from substrate.memory.records import Moment, Node

Changes = list[tuple[Op, Triple]]
Key = Triple | Term
"""A ground: a fact or a record."""
ALWAYS = float("inf")


class Support(NamedTuple):
    """A way to meet a need: a standing record gives ``key``, after one place of the log and before another.

    A cause counts wherever its statement is made. A teller must have known the fact when it told it: the
    record lies after the teller last ceased to know, and before the telling.
    """

    key: Key
    after: float = -ALWAYS
    before: float = ALWAYS


class Resting(NamedTuple):
    """A record that may fall: its place in the log, the keys that it gives, and its needs.

    Each need lists supports, any of which meets it. A need that a permanent ground meets is left out.
    """

    node: Node | None
    place: float
    keys: Sequence[Key]
    needs: Sequence[Sequence[Support]]


def fallen(records: Iterable[Resting]) -> set[Node | None]:
    """The records that have lost their grounds.

    A record stands if standing records meet each of its needs. Records that only support one another, in a
    circle, fall.
    """
    waiting, places = list(records), dict[Key, list[float]]()
    while True:
        left: list[Resting] = []
        for record in waiting:
            if all(any(_met(support, places) for support in need) for need in record.needs):
                for key in record.keys:
                    places.setdefault(key, []).append(record.place)
            else:
                left.append(record)
        if len(left) == len(waiting):
            return {record.node for record in left}
        waiting = left


def _met(support: Support, places: dict[Key, list[float]]) -> bool:
    return any(support.after < place < support.before for place in places.get(support.key, ()))


def statement_of(state: State, node: Term) -> Triple | None:
    """The triple that a record states; ``None`` if it states none."""
    for reified in rec.describe(state, node).get(rec.REIFIES, ()):
        assert isinstance(reified, ox.Triple)
        return triple(*reified)
    return None


class Rest:
    """The records that rest on a triple in a memory, and fall when some of the triple's records are gone.

    Args:
        log: the memory's log.
        state: the memory's present state.
        nodes: the records that are gone.
        fact: the triple that they state.
        ends: whether the triple ends, as opposed to being wrong; then beliefs that rest on it remain.
    """

    def __init__(
        self, log: EventLog, state: State, nodes: Iterable[Node], fact: Triple, *, ends: bool = False
    ) -> None:
        self._log, self._state, self._gone, self._fact, self._ends = log, state, {*nodes}, fact, ends
        self._reached: dict[Node, Triple] = {}  # the records that may fall, each with its statement

    def lost(self) -> dict[Node, Triple]:
        """The records that lose their last ground, nearest first, each with its statement."""
        state, queue = self._state, [self._fact]
        while queue:
            for node in self._resting_on(queue.pop(0)):
                fact = statement_of(state, node)
                if fact is None or node in self._gone or node in self._reached or rec.is_lost(state, node):
                    continue
                if not self._ends or (node, RDF_TYPE, OBSERVATION) in state:
                    self._reached[node] = fact
                    queue.append(fact)
        fell = fallen([self._resting(node, fact) for node, fact in self._reached.items()])
        return {node: fact for node, fact in self._reached.items() if node in fell}

    def _resting_on(self, fact: Triple) -> list[Node]:
        """The records that may fall with a fact: caused by a record of the fact, or told by its knower."""
        state, records = self._state, rec.records_of(self._state, fact)
        if fact == self._fact:
            records = list(dict.fromkeys([*sorted(self._gone, key=str), *records]))
        if any(
            self._stays(node) and rec.describe(state, node).keys().isdisjoint((rec.CAUSE, SOURCE))
            for node in records
        ):
            resting: list[Node] = []
        else:
            # Include records lost before: their consequences stood while another record stated the fact
            resting = [node for cause in records for node, *_ in state.match(None, rec.CAUSE, cause)]
        if fact[1] == AWARE_OF and not self._ends:
            told = (node for node, *_ in state.match(None, CONTENT, fact[2]))
            resting += [node for node in told if (node, SOURCE, fact[0]) in state]
        return sorted(dict.fromkeys(resting), key=str)

    def _stays(self, node: Node) -> bool:
        """Tell whether a record stands and cannot fall."""
        return node not in self._gone and node not in self._reached and not rec.is_lost(self._state, node)

    def _resting(self, node: Node, fact: Triple) -> Resting:
        state, needs = self._state, list[list[Support]]()
        causes = causes_of(state, node)
        if causes and not any(self._stands(key) for key in causes):
            needs.append([Support(key) for key in causes])
        told = {} if self._ends else rec.describe(state, node)
        knew = known_by_teller(*(next(iter(told.get(word, ())), None) for word in (SOURCE, CONTENT)))
        place = self._place(node) if knew or fact[1] == AWARE_OF else 0
        if knew:
            ended = [c.position for c in self._log.history(knew).changes if c.delta.op is Op.RETRACT]
            after = max((position for position in ended if position < place), default=-1)
            known = {record: self._place(record) for record in rec.records_of(state, knew)}
            before = {record for record, position in known.items() if after < position < place}
            if before and not any(self._stays(record) or self._only_ended(record) for record in before):
                needs.append([Support(knew, after, place)])
        return Resting(node, place, (fact, node), needs)

    def _stands(self, key: Key) -> bool:
        if isinstance(key, tuple):
            return any(map(self._stays, rec.records_of(self._state, key)))
        return key not in self._gone and bool(rec.describe(self._state, key))

    def _only_ended(self, node: Node) -> bool:
        """Tell whether a record ended but was never withdrawn: a teller that relied on it knew the fact."""
        gone = node in self._gone or node in self._reached
        return not gone and rec.WITHDRAWN not in rec.describe(self._state, node)

    def _place(self, node: Node) -> int:
        parts = parts_of(self._log, node, len(self._log)) if isinstance(node, ox.NamedNode) else []
        return parts[0].position if parts else -1


def causes_of(state: State, node: Node) -> list[Key]:
    """The statements of a record's causes; a cause without a statement, or forgotten, counts as itself."""
    return [statement_of(state, cause) or cause for cause in rec.describe(state, node).get(rec.CAUSE, ())]


def known_by_teller(teller: Term | None, content: Term | None) -> Triple | None:
    """The fact that a record's teller must have known; ``None`` if the record has no teller."""
    return (teller, AWARE_OF, content) if isinstance(teller, Node) and content is not None else None


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
        # By triple: its last change, and the place of its last retraction. By record: its statement, with the
        # place at which that was last retracted before it
        self._changed: dict[Triple, Op] = {}
        self._ended: dict[Triple, int] = {}
        self._stated: dict[Term, tuple[Triple | None, float]] = {}

    def records(self, groups: Iterable[list[Delta]]) -> Iterator[Resting]:
        """Each group of deltas as a record that may fall."""
        for place, deltas in enumerate(groups):
            node = record_begun_by(deltas[0])
            words = [delta.triple[1:] for delta in deltas if delta.triple[0] == node]
            reified = dict(words).get(rec.REIFIES)
            fact = triple(*reified) if isinstance(reified, ox.Triple) else None
            needs = self._needs(words, place) if node else []
            for delta in deltas:
                self._changed[delta.triple] = delta.op
                if delta.op is Op.RETRACT:
                    self._ended[delta.triple] = place
            if node:
                self._stated[node] = fact, self._ended.get(fact, -ALWAYS) if fact else -ALWAYS
            keys: list[Key] = [node] if node else [d.triple for d in deltas if d.op is Op.INSERT]
            yield Resting(node, place, [*keys, fact] if fact else keys, needs)

    def _needs(self, words: Sequence[tuple[ox.NamedNode, Term]], place: int) -> list[list[Support]]:
        """A record's needs, from its description, without those that earlier records meet."""
        causes, about = (
            [object_ for word, object_ in words if word == which] for which in (rec.CAUSE, rec.ABOUT)
        )
        needs: list[list[Support]] = []
        if all(
            cause in self._stated or statement_of(self._before, cause) in self._removed for cause in causes
        ):
            needs.append([self._support(cause) for cause in causes])
        if all(node in self._stated for node in about):
            needs.append([Support(node) for node in about])
        knew = known_by_teller(*(dict(words).get(word) for word in (SOURCE, CONTENT)))
        if knew and (self._changed[knew] is Op.INSERT if knew in self._changed else knew in self._before):
            needs.append([Support(knew, self._ended.get(knew, -ALWAYS), place)])
        return [need for need in needs if need and not any(map(self._is_met, need))]

    def _support(self, cause: Term) -> Support:
        fact, after = self._stated.get(cause) or (statement_of(self._before, cause), -ALWAYS)
        return Support(fact or cause, after)

    def _is_met(self, support: Support) -> bool:
        key = support.key
        return support.after == -ALWAYS and isinstance(key, tuple) and key in self._start


def unsure_of(state: State, lost: Mapping[Node, Triple], defeasible: Collection[Term]) -> set[Node]:
    """The records among ``lost`` that have a defeasible property, or rest on such a record."""
    unsure, facts = set[Node](), set[Key]()
    for node, fact in lost.items():
        if fact[1] in defeasible or not facts.isdisjoint(causes_of(state, node)):
            unsure.add(node)
            facts.add(fact)
    return unsure


def withdrawn(state: State, lost: Mapping[Node, Triple], unsure: Collection[Node], by: Node) -> Changes:
    """The changes by which a forgetting withdraws the records that lose their ground, or doubts them."""
    changes: Changes = []
    for node, fact in lost.items():
        changes.append((Op.INSERT, (node, rec.DOUBTED if node in unsure else rec.WITHDRAWN, by)))
        if node not in unsure and not _stated_by_others(state, fact, lost):
            changes.append((Op.RETRACT, fact))
    return changes


def ended(
    state: State, lost: Mapping[Node, Triple], unsure: Collection[Node], now: Now, ends: Sequence[Moment]
) -> Changes:
    """The changes that end, at the same moment, the observations that rest on ending records."""
    changes: Changes = []
    for node, fact in lost.items():
        if node in unsure:
            continue
        (first,) = rec.moments(state, node, rec.FROM)
        present = now.time if isinstance(first, datetime) else now.tick
        at = next((end for end in ends if rec.same_clock(end, first)), present)
        if at is None:
            continue  # the record's clock is a time, and no time is known
        end = max(at, first)
        changes += now.ended(state, node, end)
        if not now.before(end) and not _stated_by_others(state, fact, lost):
            changes.append((Op.RETRACT, fact))
    return changes


def handed_on(state: State, nodes: Iterable[Node], other: Node) -> Changes:
    """The changes that move the consequences of some records to another record of the same fact."""
    resting_on = {node for cause in nodes for node, *_ in state.match(None, rec.CAUSE, cause)}
    return [(Op.INSERT, (node, rec.CAUSE, other)) for node in sorted(resting_on, key=str)]


def doubts(state: State, node: Node, clashes: Iterable[Clash]) -> Changes:
    """The changes by which a new record and the contradicted records put each other in doubt."""
    changes: Changes = []
    for clash in clashes:
        others = [other for fact in clash.others for other in rec.records_of(state, fact)]
        changes += [(Op.INSERT, (node, rec.DOUBTED, other)) for other in others or [clash.against]]
        changes += [(Op.INSERT, (other, rec.DOUBTED, node)) for other in others]
    return changes


def _stated_by_others(state: State, fact: Triple, lost: Collection[Node]) -> bool:
    return any(
        record not in lost and not rec.is_lost(state, record) for record in rec.records_of(state, fact)
    )
