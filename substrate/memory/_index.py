"""Facts about a thing, with their times, read from the table of triples of a memory's log, without a full
state.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from functools import lru_cache
from typing import NamedTuple

import pyoxigraph as ox

from substrate.ask.tellings import FactIndex
from substrate.base.delta import Op, Term, Triple, triple_of
from substrate.base.ntriples import fitting, quads_of
from substrate.log.event_log import EventLog
from substrate.log.state import State
from substrate.memory import records as rec
from substrate.memory._format import OPEN, inside
from substrate.memory.records import Moment, Node
from substrate.sparql.patterns import Pattern

_REIFIES = str(rec.REIFIES)
_MOMENTS = (str(rec.FROM), str(rec.UNTIL), str(rec.TIME))
_AWAITS, _WITHDRAWN = str(rec.AWAITS), str(rec.WITHDRAWN)
_TIMING = (*_MOMENTS, _AWAITS, _WITHDRAWN)


class Index(FactIndex):
    """A memory's index: answers its questions from its log's table of triples.

    Args:
        tbox: its words for knowing and telling.
        log: the memory's log.
    """

    def about(self, thing: str, stop: int) -> list[str]:
        """The triples after ``stop`` deltas with a thing as subject, the triples that link them to their
        records, and perhaps others.
        """
        return self._standing(stop, Pattern(thing, None, None), Pattern(None, _REIFIES, f"{OPEN}{thing} "))

    def _standing(self, stop: int, *patterns: Pattern) -> list[str]:
        fitting_texts = self._fitting(*patterns)
        standing = self._log.holding_after(fitting_texts, stop)
        return [text for number, text in fitting_texts.items() if number in standing]

    def waiting(self, stop: int) -> list[Triple]:
        """The triples after ``stop`` deltas that announce a later beginning or end."""
        standing = self._log.holding_after(self._log.triples.awaited(), stop)
        triples = map(triple_of, self._log.triples.quads(sorted(standing)))
        return sorted(triples, key=lambda part: (str(part[2]), str(part[0])))

    def held(self, at: Moment, stop: int, thing: str | None = None) -> set[str]:
        """The triples, of one thing or of all, that the records after ``stop`` deltas hold true at a moment.

        A record without an end counts while its triple holds or is still to begin. Only bounds by the
        moment's own clock count. A record without a first time holds from its recorded time of writing, if
        any. A withdrawn record does not count, nor does a triple that ceased to hold although no record
        ended it.
        """
        statements = self._statements(stop) if thing is None else self._statements_about(thing, stop)
        return {
            fact
            for fact, bounds in statements
            if bounds.hold(at) and (bounds.ended or self._holds_after(fact, stop))
        }

    def _statements(self, stop: int) -> Iterator[tuple[str, Bounds]]:
        """The triples that records state after ``stop`` deltas, each with its record's bounds."""
        timing: dict[str, list[str]] = {}
        for text in self._standing(stop, *(Pattern(None, word, None) for word in _TIMING)):
            timing.setdefault(text.partition(" ")[0], []).append(text)
        for text in self._standing(stop, Pattern(None, _REIFIES, None)):
            node, predicate, object_ = text.split(" ", 2)
            if predicate == _REIFIES:
                yield inside(object_), _bounds(timing.get(node, ()))

    def _statements_about(self, thing: str, stop: int) -> Iterator[tuple[str, Bounds]]:
        """Like :meth:`_statements`, for the triples with a thing as subject."""
        for text in self.about(thing, stop):
            node, predicate, object_ = text.split(" ", 2)
            if predicate == _REIFIES and inside(object_).startswith(f"{thing} "):
                of_node = self._standing(stop, Pattern(node, None, None))
                yield inside(object_), _bounds(text for text in of_node if text.startswith(f"{node} "))

    def _holds_after(self, fact: str, stop: int) -> bool:
        number = self._log.triples.find(fact)
        return number is not None and self._log.holds_after(number, stop)

    def state(self, stop: int, tick: int) -> Partial:
        """The state of a tick, after ``stop`` deltas."""
        state = Partial(self._log, stop, tick, self._log.checkpoints.reach, self._log.stores)
        state.about = lambda thing: self.about(str(thing), stop)
        return state

    def valid(self, at: Moment, stop: int, tick: int) -> Partial:
        """The state of the facts believed, after ``stop`` deltas, about a moment of the world."""
        log = EventLog()  # its table holds the facts, and it has no deltas

        def all_held(_: int) -> dict[int, None]:
            return dict.fromkeys(log.triples.numbers(sorted(self.held(at, stop))))

        state = Partial(log, 0, tick, all_held)
        state.about = lambda thing: self.held(at, stop, str(thing))
        return state


class Bounds(NamedTuple):
    """The moments of the world between which a record holds, and whether it has ended or is withdrawn."""

    first: list[Moment]
    last: list[Moment]
    written: list[Moment]
    ended: bool
    withdrawn: bool

    def hold(self, at: Moment) -> bool:
        """Tell whether a moment lies between the bounds of its own clock; false for a withdrawn record."""
        if self.withdrawn:
            return False
        first, last = (
            [bound for bound in bounds if rec.same_clock(bound, at)] for bounds in (self.first, self.last)
        )
        begins = self.written if not first and isinstance(at, datetime) else first
        return any(bound <= at for bound in begins) and all(at < bound for bound in last)  # type: ignore[operator]


def _bounds(about: Iterable[str]) -> Bounds:
    """Read the bounds of a record from the triples about it."""
    bounds: dict[str, list[Moment | None]] = {word: [] for word in _TIMING}
    for text in about:
        _, predicate, bound = text.split(" ", 2)
        if predicate in bounds:
            bounds[predicate].append(_moment(bound))
    first, last, written = ([moment for moment in bounds[word] if moment is not None] for word in _MOMENTS)
    return Bounds(first, last, written, bool(last or bounds[_AWAITS]), bool(bounds[_WITHDRAWN]))


@lru_cache(4096)
def _moment(text: str) -> Moment | None:
    return rec.when(quads_of([f"<urn:s> <urn:p> {text}"])[0].object)


class Partial(State):
    """A state that answers questions about one thing before all its triples are read.

    Attributes:
        about: gives the triples about a thing, and perhaps some others, as spelled in N-Triples. It is
            ``None`` once all triples are read.
    """

    about: Callable[[Node], Iterable[str]] | None = None

    def match(
        self, subject: Node | None = None, predicate: ox.NamedNode | None = None, object: Term | None = None
    ) -> Iterator[Triple]:
        """See :class:`substrate.log.state.State`."""
        thing = subject
        if thing is None and predicate == rec.REIFIES and isinstance(object, ox.Triple) and self._shared:
            thing = object.subject
        if thing is None or isinstance(thing, ox.Triple) or self.about is None:
            return super().match(subject, predicate, object)
        fits = fitting(subject, predicate, object)
        return map(triple_of, quads_of(text for text in self.about(thing) if fits(text)))

    def _holds(self, text: str) -> bool:
        if self.about is None or self._shared is not None:
            return super()._holds(text)
        thing = quads_of([text])[0].subject
        return not isinstance(thing, ox.Triple) and text in self.about(thing)

    def _apply_spelled(self, op: Op, text: str, quad: ox.Quad | None = None) -> bool:
        if self.about is not None:
            len(self)  # reads all triples before a change
            self.about = None
        return super()._apply_spelled(op, text, quad)
