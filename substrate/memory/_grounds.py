"""The grounds of a memory's records: what rests on what, and what loses its ground with it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from typing import NamedTuple

import pyoxigraph as ox

from substrate.base.delta import Op, Term, Triple
from substrate.base.terms import triple, value
from substrate.base.vocabulary import RDF_TYPE
from substrate.log.grouping import OBSERVATION
from substrate.log.state import State
from substrate.memory._clocks import Now
from substrate.memory._contradictions import Clash
from substrate.memory.records import (
    CAUSE,
    DOUBTED,
    FROM,
    REIFIES,
    WITHDRAWN,
    Moment,
    Node,
    is_lost,
    records_of,
    same_clock,
)


def resting(state: State, nodes: Sequence[Node], said: Triple) -> dict[Node, Triple]:
    """The records that lose their last ground with some records of a triple, nearest first, and what each
    says.
    """
    lost: dict[Node, Triple] = {}
    gone, queue = set(nodes), [(list(nodes), said)]
    while queue:
        causes, fact = queue.pop(0)
        if any(one not in gone and not is_lost(state, one) for one in records_of(state, fact)):
            continue  # another says so as well
        # Also those lost before: what was caused by one of them stood as long as another said the same.
        for cause in dict.fromkeys([*causes, *records_of(state, fact)]):
            for node, _, _ in sorted(state.match(None, CAUSE, cause), key=str):
                if node in gone or is_lost(state, node) or not _rests(state, node, gone):
                    continue
                for *_, reified in state.match(node, REIFIES):
                    assert isinstance(reified, ox.Triple)
                    lost[node] = triple(reified.subject, reified.predicate, reified.object)
                    gone.add(node)
                    queue.append(([node], lost[node]))
    return lost


def _rests(state: State, node: Node, gone: set[Node]) -> bool:
    """Tell whether every cause of a record is gone, lost, or forgotten."""
    causes = [cause for *_, cause in state.match(node, CAUSE)]
    return all(c in gone or is_lost(state, c, (node, CAUSE, c)) for c in causes if isinstance(c, Node))


def handed_on(state: State, nodes: Sequence[Node], other: Node) -> list[tuple[Op, Triple]]:
    """The changes by which what was caused by some records rests on another one that says the same."""
    resting_on = {node for cause in nodes for node, _, _ in state.match(None, CAUSE, cause)}
    return [(Op.INSERT, (node, CAUSE, other)) for node in sorted(resting_on, key=str)]


class Withdrawal(NamedTuple):
    """The records of a triple that are to be forgotten, with what loses its ground.

    ``defeasible`` are the properties of what is then in doubt in place of being withdrawn.
    """

    state: State
    nodes: Sequence[Node]
    said: Triple
    defeasible: Collection[Term] = ()

    def changes(self, by: Node) -> list[tuple[Op, Triple]]:
        """The changes that withdraw the records that rest on these; ``by`` is the record that does so."""
        state, found = self.state, list[tuple[Op, Triple]]()
        lost = resting(state, self.nodes, self.said)
        unsure = _unsure(state, lost, self.defeasible)
        for node, said in lost.items():
            found.append((Op.INSERT, (node, DOUBTED if node in unsure else WITHDRAWN, by)))
            if node not in unsure and not _said_by_others(state, said, lost):
                found.append((Op.RETRACT, said))
        return found


def _unsure(state: State, lost: dict[Node, Triple], defeasible: Collection[Term]) -> set[Node]:
    """The records of a defeasible property, and what rests on these."""
    unsure = set[Node]()
    for node, said in lost.items():
        causes = (cause for *_, cause in state.match(node, CAUSE))
        if said[1] in defeasible or any(cause in unsure for cause in causes):
            unsure.add(node)
    return unsure


def doubts(state: State, node: Node, clashes: Iterable[Clash]) -> list[tuple[Op, Triple]]:
    """The changes by which a new record and what it contradicts are in doubt, each for the other."""
    found: list[tuple[Op, Triple]] = []
    for clash in clashes:
        others = [other for said in clash.others for other in records_of(state, said)]
        found += [(Op.INSERT, (node, DOUBTED, other)) for other in others or [clash.against]]
        found += [(Op.INSERT, (other, DOUBTED, node)) for other in others]
    return found


def _said_by_others(state: State, said: Triple, lost: dict[Node, Triple]) -> bool:
    return any(one not in lost and not is_lost(state, one) for one in records_of(state, said))


class Ending(NamedTuple):
    """The consequences of an end: the changes that end what rested on it, and the records then in doubt."""

    ended: list[tuple[Op, Triple]]
    unsure: list[Node]

    def doubted(self, by: Node) -> list[tuple[Op, Triple]]:
        """The changes that put records in doubt for the record of the end."""
        return [(Op.INSERT, (node, DOUBTED, by)) for node in self.unsure]


def ended_with(
    state: State,
    nodes: Sequence[Node],
    said: Triple,
    now: Now,
    ends: Sequence[Moment],
    defeasible: Collection[Term] = (),
) -> Ending:
    """The end, at the same moment, of what was observed because of records that end; or the doubt in it."""
    found: list[tuple[Op, Triple]] = []
    lost = resting(state, nodes, said)
    unsure = _unsure(state, lost, defeasible)
    for node, fact in lost.items():
        if node in unsure or (node, RDF_TYPE, OBSERVATION) not in state:
            continue
        (first,) = (value(bound) for *_, bound in state.match(node, FROM))
        present = now.time if isinstance(first, datetime) else now.tick
        at = next((end for end in ends if same_clock(end, first)), present)
        if at is None:
            continue  # its clock is a time, and none is known
        end = max(at, first)
        found += now.ended(state, node, end)
        if not now.before(end) and not _said_by_others(state, fact, lost):
            found.append((Op.RETRACT, fact))
    return Ending(found, [node for node in lost if node in unsure])
