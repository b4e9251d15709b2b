"""Who knew something, and from whom: the chain of tellings back to the one who knew first.

A TBox names its word for knowing by ``core:awareOf``, and those for an event of passing on by
``core:source``, ``core:recipient`` and ``core:content``. No code knows a domain.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from substrate.history import Change, History, histories
from substrate.log import EventLog, Op, Term
from substrate.tbox import TBox
from substrate.vocabulary import AWARE_OF, CONTENT, EVENT, RDF_TYPE, RECIPIENT, SOURCE


class Learning(NamedTuple):
    """How one came to know: the delta by which it did, and the telling behind it.

    ``source``, ``telling`` and ``deltas`` (positions of the telling's own deltas) are empty where no telling in
    the log explains it: known from the start, read off the world, or heard elsewhere.

    >>> Learning(AWARE_OF, Change(7, None), None, None, ()).position
    7
    """

    knower: Term
    change: Change
    source: Term | None
    telling: Term | None
    deltas: tuple[int, ...]

    @property
    def tick(self) -> int:
        """When it came to know."""
        return self.change.delta.tick

    @property
    def position(self) -> int:
        """Position in the log of the delta by which it came to know."""
        return self.change.position

    @property
    def evidence(self) -> tuple[int, ...]:
        """Positions of that delta and of the telling's."""
        return tuple(sorted((self.position, *self.deltas)))


class _Telling(NamedTuple):
    event: Term
    tick: int
    source: Term
    recipient: Term
    deltas: tuple[int, ...]


def chains(tbox: TBox, log: EventLog, fact: Term, tick: int) -> list[tuple[Learning, ...]]:
    """For each who knows a fact at a tick, how it came to know, how its source did, and so on back.

    Args:
        tbox: which properties and classes are meant.
        log: what happened; later ticks play no part.
        fact: a node or a triple term.
        tick: at which they know it.

    Returns:
        A chain a knower, its own learning first, in the order in which they learned. A knower counts from the last
        time it came to know. Its source is the recorded teller of that tick who knew before it; of several the
        one told of first.

    >>> from pyoxigraph import NamedNode
    >>> from substrate.rules import unfold
    >>> box = TBox.load("village")
    >>> log = unfold(box, box.opening(), until=8)
    >>> [[(box.label(learning.knower), learning.tick) for learning in chain] for chain in chains(box, log, NamedNode("urn:village:party"), 8)][-1]
    [('Sam Moore', 8), ('John Lin', 2), ('Isabella Rodriguez', 0)]
    """
    awareness: dict[Term, list[History]] = {}
    for predicate in tbox.below(AWARE_OF):
        for h in histories(log, None, predicate, fact):
            awareness.setdefault(h.triple[0], []).append(h)
    known = [(_came(awareness[who], log.position(tick)), who) for who in awareness]
    told = _tellings(tbox, log, fact)

    def trace(who: Term, change: Change) -> tuple[Learning, ...]:
        for telling in told:
            if telling.recipient == who and telling.tick == change.delta.tick and (earlier := _came(awareness.get(telling.source, []), change.position)):
                return (Learning(who, change, telling.source, telling.event, telling.deltas), *trace(telling.source, earlier))
        return (Learning(who, change, None, None, ()),)

    return sorted((trace(who, change) for change, who in known if change), key=lambda chain: chain[0].position)


def _came(awareness: Iterable[History], stop: int) -> Change | None:
    """The delta by which one came to know what it knows after the first ``stop`` deltas; ``None`` where it does not know it."""
    last = (max((c for c in h.changes if c.position < stop), key=lambda c: c.position, default=None) for h in awareness)
    return max((c for c in last if c and c.delta.op is Op.INSERT), key=lambda c: c.position, default=None)


def _tellings(tbox: TBox, log: EventLog, fact: Term) -> list[_Telling]:
    """The events in which a fact is passed on, in the order in which they were told; one for each source and recipient."""
    contents = tbox.below(CONTENT)
    events = {quad.subject for op, quad in log.changes() if op is Op.INSERT and quad.predicate in contents and quad.object == fact}
    kinds, roles = tbox.below(EVENT), {SOURCE: tbox.below(SOURCE), RECIPIENT: tbox.below(RECIPIENT)}
    deltas: dict[Term, list[int]] = {event: [] for event in events}
    for position, (op, quad) in enumerate(log.changes()):
        if op is Op.INSERT and quad.subject in events:
            deltas[quad.subject].append(position)
    found: list[_Telling] = []
    for event, positions in deltas.items():
        told = [(position, log[position]) for position in positions]
        ticks = [delta.tick for _, delta in told if delta.triple[1] == RDF_TYPE and delta.triple[2] in kinds]
        ends = {role: [(position, delta.triple[2]) for position, delta in told if delta.triple[1] in words] for role, words in roles.items()}
        about = [position for position, delta in told if (delta.triple[1] in contents and delta.triple[2] == fact) or delta.triple[1] == RDF_TYPE]
        if ticks:
            found += (_Telling(event, ticks[0], s, r, (*about, p, q)) for p, s in ends[SOURCE] for q, r in ends[RECIPIENT])
    return sorted(found, key=lambda t: (t.tick, t.deltas))
