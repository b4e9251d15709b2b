"""The history of a triple, and the difference of two states (paper, section 2)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from substrate.base.arguments import require_tick
from substrate.base.delta import Delta, Op, Term, Triple, triple_line, triple_of
from substrate.base.errors import ParameterError
from substrate.base.ntriples import fitting, quads_of, text_of
from substrate.log._columns import DeltaSequence
from substrate.log.state import State


class Change(NamedTuple):
    """A delta that changed the state, with its position in the log.

    >>> import pyoxigraph as ox
    >>> from substrate import EventLog
    >>> fact = (ox.NamedNode("urn:ann"), ox.NamedNode("urn:at"), ox.NamedNode("urn:cafe"))
    >>> history(EventLog([Delta(2, Op.INSERT, fact), Delta(3, Op.INSERT, fact)]), fact).changes[0].position
    0
    """

    position: int
    delta: Delta


class Interval(NamedTuple):
    """Ticks from ``start`` up to, not including, ``end``; ``None`` means an open end.

    >>> 4 in Interval(2, 5), 5 in Interval(2, 5), 99 in Interval(2, None)
    (True, False, True)
    """

    start: int
    end: int | None

    def __contains__(self, tick: object) -> bool:
        return isinstance(tick, int) and self.start <= tick and (self.end is None or tick < self.end)


class History(NamedTuple):
    """The history of a triple: intervals of ticks in which it was true, and every delta that changed it.

    A triple is true at a tick if it holds after all of the tick's deltas. If it comes and goes within one
    tick, only the changes and the spans show it.

    >>> import pyoxigraph as ox
    >>> fact = (ox.NamedNode("urn:ann"), ox.NamedNode("urn:at"), ox.NamedNode("urn:cafe"))
    >>> History(fact, (Interval(2, 5),), ()).holds(4)
    True
    """

    triple: Triple
    intervals: tuple[Interval, ...]
    changes: tuple[Change, ...]

    def holds(self, tick: int) -> bool:
        """Tell whether the triple was true at a tick."""
        return any(tick in interval for interval in self.intervals)

    @property
    def spans(self) -> list[Interval]:
        """An interval from each insertion of the triple to its retraction, which may be at the same tick.

        >>> import pyoxigraph as ox
        >>> from substrate import EventLog
        >>> fact = (ox.NamedNode("urn:ann"), ox.NamedNode("urn:at"), ox.NamedNode("urn:cafe"))
        >>> moves = (2, Op.INSERT), (2, Op.RETRACT), (5, Op.INSERT)
        >>> story = history(EventLog(Delta(tick, op, fact) for tick, op in moves), fact)
        >>> [tuple(span) for span in story.spans], [tuple(interval) for interval in story.intervals]
        ([(2, 2), (5, None)], [(5, None)])
        """
        ticks = [change.delta.tick for change in self.changes]
        return [*map(Interval, ticks[::2], [*ticks[1::2], None])]

    def __repr__(self) -> str:
        when = [f"ticks {i.start} to {i.end - 1}" if i.end else f"tick {i.start} on" for i in self.intervals]
        return f"<History: {triple_line(self.triple)}: {', '.join(when) or 'never'}>"


def history(log: DeltaSequence, triple: Triple) -> History:
    """The history of one triple, found through an index that the log makes on first use.

    >>> import pyoxigraph as ox
    >>> from substrate import EventLog, Op
    >>> fact = (ox.NamedNode("urn:ann"), ox.NamedNode("urn:at"), ox.NamedNode("urn:cafe"))
    >>> story = history(EventLog([Delta(2, Op.INSERT, fact), Delta(5, Op.RETRACT, fact)]), fact)
    >>> [tuple(interval) for interval in story.intervals], [change.delta.tick for change in story.changes]
    ([(2, 5)], [2, 5])
    """
    try:
        number = log.triples.find(text_of(triple))
    except (TypeError, ValueError) as error:
        hint = "Give pyoxigraph terms: subject, predicate, object"
        raise ParameterError(f"not a triple ({error})", where=("triple",), hint=hint) from error
    return History(triple, (), ()) if number is None else _history(log, triple, log.mentions(number))


def histories(
    log: DeltaSequence,
    subject: Term | None = None,
    predicate: Term | None = None,
    object: Term | None = None,  # the name in RDF
) -> list[History]:
    """The histories of all triples of a log that fit a pattern, sorted by text; ``None`` fits any term.

    >>> import pyoxigraph as ox
    >>> from substrate import EventLog, Op
    >>> ann, at = ox.NamedNode("urn:ann"), ox.NamedNode("urn:at")
    >>> moves = [(1, Op.INSERT, "home"), (2, Op.RETRACT, "home"), (2, Op.INSERT, "cafe")]
    >>> log = EventLog(Delta(tick, op, (ann, at, ox.Literal(place))) for tick, op, place in moves)
    >>> [(h.triple[2].value, h.intervals[0].end) for h in histories(log, ann, at)]
    [('cafe', None), ('home', 2)]
    """
    fits = fitting(subject, predicate, object)
    matches = sorted((text, number) for number, text in log.triples.items() if fits(text))
    stories: list[History] = []
    for (_, number), quad in zip(matches, quads_of(text for text, _ in matches), strict=True):
        if mentions := log.mentions(number):
            stories.append(_history(log, triple_of(quad), mentions))
    return stories


def _history(log: DeltaSequence, triple: Triple, mentions: list[int]) -> History:
    changes: list[Change] = []
    bounds: list[int] = []
    holds = False
    for position in mentions:
        tick, op = log.tick_and_op(position)
        if holds is (op is Op.INSERT):
            continue
        holds = not holds
        changes.append(Change(position, Delta(tick, op, triple)))
        # Two bounds at one tick cancel each other: at the tick's end nothing has changed.
        if bounds and bounds[-1] == tick:
            bounds.pop()
        else:
            bounds.append(tick)
    return History(triple, tuple(map(Interval, bounds[::2], [*bounds[1::2], None])), tuple(changes))


class Difference(NamedTuple):
    """The insertions and retractions that turn one state into another, sorted by the triples' text.

    >>> bool(Difference((), ()))
    False
    """

    inserted: tuple[Triple, ...]
    retracted: tuple[Triple, ...]

    def __bool__(self) -> bool:
        return bool(self.inserted or self.retracted)

    def __repr__(self) -> str:
        return f"<Difference: {len(self.inserted)} inserted, {len(self.retracted)} retracted>"


def diff(log: DeltaSequence, a: int, b: int) -> Difference:
    """The difference of the states at two ticks of a log; ``b`` may lie before ``a``.

    Once the log has its index, this costs only the deltas between the two. :func:`difference` compares two
    states.

    >>> import pyoxigraph as ox
    >>> from substrate import EventLog, Op
    >>> ann, at = ox.NamedNode("urn:ann"), ox.NamedNode("urn:at")
    >>> home, cafe = (ann, at, ox.Literal("home")), (ann, at, ox.Literal("cafe"))
    >>> log = EventLog([Delta(1, Op.INSERT, home), Delta(2, Op.RETRACT, home), Delta(2, Op.INSERT, cafe)])
    >>> change = diff(log, 1, 2)
    >>> change.inserted[0][2].value, change.retracted[0][2].value
    ('cafe', 'home')
    """
    for tick, name in ((a, "a"), (b, "b")):
        require_tick(tick, name)
    first, last = sorted((log.position(a), log.position(b)))
    inserted, retracted = log.net(first, last)
    if b < a:
        inserted, retracted = retracted, inserted
    return Difference(_spelled(log.triples.texts(inserted)), _spelled(log.triples.texts(retracted)))


def difference(a: State, b: State) -> Difference:
    """The difference of two states, which may belong to different logs; :func:`diff` compares ticks of a log.

    >>> from substrate import EventLog
    >>> bool(difference(EventLog().state(), EventLog().state()))
    False
    """
    here, there = a.texts(), b.texts()
    return Difference(_spelled(there - here), _spelled(here - there))


def _spelled(texts: Iterable[str]) -> tuple[Triple, ...]:
    return tuple(map(triple_of, quads_of(sorted(texts))))
