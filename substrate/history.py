"""When a triple was true and who changed that; what lies between two states (paper, section 2)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import pyoxigraph as ox

from substrate.log import Delta, EventLog, Op, Term, Triple, triple_of
from substrate.replay import State


class Change(NamedTuple):
    """A delta that made a difference: its position in the log, which addresses it, and the delta.

    >>> fact = (ox.NamedNode("urn:ann"), ox.NamedNode("urn:at"), ox.NamedNode("urn:cafe"))
    >>> history(EventLog([Delta(2, Op.INSERT, fact), Delta(3, Op.INSERT, fact)]), fact).changes[0].position
    0
    """

    position: int
    delta: Delta


class Interval(NamedTuple):
    """Ticks from ``start`` up to, not including, ``end``; ``end`` is ``None`` where it still holds.

    >>> 4 in Interval(2, 5), 5 in Interval(2, 5), 99 in Interval(2, None)
    (True, False, True)
    """

    start: int
    end: int | None

    def __contains__(self, tick: object) -> bool:
        return isinstance(tick, int) and self.start <= tick and (self.end is None or tick < self.end)


class History(NamedTuple):
    """When a triple was true, as intervals of ticks, and every delta that changed it.

    A triple counts as true at a tick where it stands after all of the tick's deltas; what comes and
    goes within one tick is among the changes only.

    >>> fact = (ox.NamedNode("urn:ann"), ox.NamedNode("urn:at"), ox.NamedNode("urn:cafe"))
    >>> History(fact, (Interval(2, 5),), ()).holds(4)
    True
    """

    triple: Triple
    intervals: tuple[Interval, ...]
    changes: tuple[Change, ...]

    def holds(self, tick: int) -> bool:
        """Whether the triple was true at a tick."""
        return any(tick in interval for interval in self.intervals)


def history(log: EventLog, triple: Triple) -> History:
    """The history of one triple, in O(deltas).

    >>> fact = (ox.NamedNode("urn:ann"), ox.NamedNode("urn:at"), ox.NamedNode("urn:cafe"))
    >>> story = history(EventLog([Delta(2, Op.INSERT, fact), Delta(5, Op.RETRACT, fact), Delta(7, Op.INSERT, fact)]), fact)
    >>> [tuple(interval) for interval in story.intervals], [change.delta.tick for change in story.changes], story.holds(5)
    ([(2, 5), (7, None)], [2, 5, 7], False)
    """
    wanted = ox.Quad(*triple)
    return _history(
        log, triple, [(position, op) for position, (op, quad) in enumerate(log.changes()) if quad == wanted]
    )


def histories(
    log: EventLog, subject: Term | None = None, predicate: Term | None = None, object: Term | None = None
) -> list[History]:  # RDF calls it so
    """The histories of all triples that ever fitted a pattern, sorted by their text; ``None`` fits any term.

    >>> ann, at = ox.NamedNode("urn:ann"), ox.NamedNode("urn:at")
    >>> log = EventLog([Delta(t, op, (ann, at, ox.Literal(place))) for t, op, place in [(1, Op.INSERT, 1), (2, Op.RETRACT, 1), (2, Op.INSERT, 2)]])
    >>> [(str(h.triple[2].value), h.intervals[0].end) for h in histories(log, ann, at)]
    [('1', 2), ('2', None)]
    """
    found: dict[ox.Quad, list[tuple[int, Op]]] = {}
    for position, (op, quad) in enumerate(log.changes()):
        if (
            subject in (None, quad.subject)
            and predicate in (None, quad.predicate)
            and object in (None, quad.object)
        ):
            found.setdefault(quad, []).append((position, op))
    return [_history(log, triple_of(quad), found[quad]) for quad in sorted(found, key=str)]


def _history(log: EventLog, triple: Triple, touched: list[tuple[int, Op]]) -> History:
    changes: list[Change] = []
    bounds: list[int] = []
    holds = False
    for position, op in touched:
        if holds is (op is Op.INSERT):
            continue
        holds = not holds
        change = Change(position, log[position])
        changes.append(change)
        # A bound at the tick of the one before undoes it: nothing has changed at the tick's end.
        if bounds and bounds[-1] == change.delta.tick:
            bounds.pop()
        else:
            bounds.append(change.delta.tick)
    ends: list[int | None] = [*bounds[1::2]]
    if len(bounds) % 2:
        ends.append(None)
    return History(triple, tuple(map(Interval, bounds[::2], ends)), tuple(changes))


class Difference(NamedTuple):
    """What must be inserted and retracted to come from one state to another; sorted by the triples' text.

    >>> bool(Difference((), ()))
    False
    """

    inserted: tuple[Triple, ...]
    retracted: tuple[Triple, ...]

    def __bool__(self) -> bool:
        return bool(self.inserted or self.retracted)


def diff(log: EventLog, a: int, b: int) -> Difference:
    """The difference of the states at two ticks of a log; ``b`` may lie before ``a``.

    >>> ann, at = ox.NamedNode("urn:ann"), ox.NamedNode("urn:at")
    >>> home, cafe = (ann, at, ox.Literal("home")), (ann, at, ox.Literal("cafe"))
    >>> log = EventLog([Delta(1, Op.INSERT, home), Delta(2, Op.RETRACT, home), Delta(2, Op.INSERT, cafe)])
    >>> change = diff(log, 1, 2)
    >>> change.inserted[0][2].value, change.retracted[0][2].value
    ('cafe', 'home')
    """
    return difference(log.state(a), log.state(b))


def difference(a: State, b: State) -> Difference:
    """The difference of two states, also of two logs.

    >>> bool(difference(EventLog().state(), EventLog().state()))
    False
    """
    return Difference(
        ordered(triple for triple in b if triple not in a), ordered(triple for triple in a if triple not in b)
    )


def ordered(triples: Iterable[Triple]) -> tuple[Triple, ...]:
    """Triples sorted by their text in N-Triples.

    >>> ordered([]) == ()
    True
    """
    return tuple(sorted(triples, key=lambda triple: str(ox.Quad(*triple))))
