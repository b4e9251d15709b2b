"""The rule of grounds: which records fall when a ground is gone (:func:`fallen`).

The words of memory, by an example. A memory observed that it rains (record R); then, with the cause R, that
the picnic is in the hall (record H); then, with the cause H, that the bus stops at the hall (record B).

- ground: a fact or a record on which another record is based. That it rains is the ground of H.
- need and support: H needs that it rains. R is a support of this need, as is any other record of the rain.
- resting: H rests on R, and B on H. R rests on nothing.
- falling: a call forgets R. H has lost its last ground and falls; then B falls. Both are withdrawn. If a
  second record of the rain stands, neither falls. If the rain ends, H and B end too.
- doubted: a TBox says that the picnic's place is defeasible. H is then doubted and not withdrawn, and so is
  B, which rests on it. Both facts still hold.
- awaits: R says that the rain ends at noon. R awaits noon: the first call after noon ends the rain
  (:mod:`substrate.memory._schedule`).

Forgetting, ending and :meth:`Memory.impact` apply the rule to the present state, through :class:`Rest`;
:meth:`Memory.imagine` applies it to a log (:mod:`substrate.memory._consequences`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import pyoxigraph as ox

from substrate.base.delta import Op, Term, Triple
from substrate.base.vocabulary import AWARE_OF, CONTENT, RDF_TYPE, SOURCE
from substrate.log.event_log import EventLog
from substrate.log.grouping import OBSERVATION, parts_of
from substrate.log.state import State
from substrate.memory import records as rec
from substrate.memory._format import known_by_teller, statement
from substrate.memory.records import Node

# A ground: a fact or a record
Key = Triple | Term
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

    The example above, with a name for each fact: first all stand, then the rain's record is gone.

    >>> rain, hall, bus = (ox.NamedNode(f"urn:{name}") for name in ("rain", "hall", "bus"))
    >>> observed = Resting(rain, place=0, keys=[rain], needs=[])
    >>> picnic = Resting(hall, place=1, keys=[hall], needs=[[Support(rain)]])
    >>> stop = Resting(bus, place=2, keys=[bus], needs=[[Support(hall)]])
    >>> fallen([observed, picnic, stop])
    set()
    >>> sorted(record.value for record in fallen([picnic, stop]))
    ['urn:bus', 'urn:hall']
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
    """The triple that a record states in a state; ``None`` if it states none."""
    return statement(rec.describe(state, node))


def causes_of(state: State, node: Node) -> list[Key]:
    """The statements of a record's causes; a cause without a statement, or forgotten, counts as itself."""
    return [statement_of(state, cause) or cause for cause in rec.describe(state, node).get(rec.CAUSE, ())]


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
        """A record with at most two needs: one for its causes, one for its teller's knowledge."""
        state, needs = self._state, list[list[Support]]()
        # Of its causes, one must be stated by a standing record
        causes = causes_of(state, node)
        if causes and not any(self._stands(key) for key in causes):
            needs.append([Support(key) for key in causes])
        # Its teller must have known the fact, by a record after the last end of this knowledge
        knew = None if self._ends else known_by_teller(rec.describe(state, node))
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
