"""The changes by which records fall: withdrawn by a forgetting, ended with their ground, or only doubted."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from substrate.base.delta import Op, Triple
from substrate.log.state import State
from substrate.memory import records as rec
from substrate.memory._clocks import Now
from substrate.memory._contradictions import Clash
from substrate.memory._format import Changes
from substrate.memory._grounds import Key, causes_of
from substrate.memory._schedule import changes_to_end
from substrate.memory.records import Moment, Node


class Falling(NamedTuple):
    """The records that fall together.

    Attributes:
        state: the state before they fall.
        lost: the records that lose their last ground, nearest first, each with its statement.
        unsure: the lost records that have a defeasible property, or rest on such a record: they are doubted,
            but neither withdrawn nor ended.
    """

    state: State
    lost: Mapping[Node, Triple]
    unsure: Collection[Node]

    @classmethod
    def of(cls, state: State, lost: Mapping[Node, Triple], defeasible: Collection[object]) -> Falling:
        """Tell which of the lost records are unsure.

        Args:
            state: the state before they fall.
            lost: the records that lose their last ground, nearest first.
            defeasible: the defeasible properties.
        """
        unsure, facts = set[Node](), set[Key]()
        for node, fact in lost.items():
            if fact[1] in defeasible or not facts.isdisjoint(causes_of(state, node)):
                unsure.add(node)
                facts.add(fact)
        return cls(state, lost, unsure)

    def doubted(self, by: Node) -> Changes:
        """The marks by which a record puts the unsure records in doubt."""
        return [(Op.INSERT, (node, rec.DOUBTED, by)) for node in self.lost if node in self.unsure]

    def withdrawn(self, by: Node) -> Changes:
        """The changes by which a forgetting withdraws the lost records, or doubts them."""
        changes: Changes = []
        for node, fact in self.lost.items():
            changes.append((Op.INSERT, (node, rec.DOUBTED if node in self.unsure else rec.WITHDRAWN, by)))
            if node not in self.unsure and not self._stated_by_others(fact):
                changes.append((Op.RETRACT, fact))
        return changes

    def ended(self, now: Now, ends: Sequence[Moment]) -> Changes:
        """The changes that end, at the same moment, the observations that rest on ending records."""
        changes: Changes = []
        for node, fact in self.lost.items():
            if node in self.unsure:
                continue
            (first,) = rec.moments(self.state, node, rec.FROM)
            present = now.time if isinstance(first, datetime) else now.tick
            at = next((end for end in ends if rec.same_clock(end, first)), present)
            if at is None:
                continue  # the record's clock is a time, and no time is known
            end = max(at, first)
            changes += changes_to_end(now, self.state, node, end)
            if not now.before(end) and not self._stated_by_others(fact):
                changes.append((Op.RETRACT, fact))
        return changes

    def _stated_by_others(self, fact: Triple) -> bool:
        return any(record not in self.lost for record in rec.standing_records(self.state, fact))


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
