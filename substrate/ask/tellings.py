"""Chains of tellings: from whom each agent learned a fact, back to the agent who knew it first.

A TBox marks its properties of knowing by ``core:awareOf``, and the properties of an event of telling by
``core:source``, ``core:recipient`` and ``core:content``. No code here depends on a domain.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import product
from typing import NamedTuple

from substrate.base.delta import Term, triple_of
from substrate.base.ntriples import quads_of, spelled
from substrate.base.vocabulary import AWARE_OF, CONTENT, EVENT, RDF_TYPE, RECIPIENT, SOURCE
from substrate.log.event_log import EventLog, Op
from substrate.log.history import Change, History, history
from substrate.rules.tbox import TBox
from substrate.sparql.patterns import Pattern


class Learning(NamedTuple):
    """An agent's learning of a fact: the delta of the new knowledge, and the telling behind it.

    ``source``, ``telling`` and ``deltas`` (positions of the telling's own deltas) are empty if no telling in
    the log explains it: the fact was known from the start, observed, or heard elsewhere.

    >>> from pyoxigraph import NamedNode
    >>> Learning(NamedNode("urn:ann"), Change(7, None), None, None, ()).position
    7
    """

    knower: Term
    change: Change
    source: Term | None
    telling: Term | None
    deltas: tuple[int, ...]

    @property
    def tick(self) -> int:
        """The tick at which the agent came to know."""
        return self.change.delta.tick

    @property
    def position(self) -> int:
        """The log position of the delta by which the agent came to know."""
        return self.change.position

    @property
    def evidence(self) -> tuple[int, ...]:
        """The positions of the delta of learning and of the telling's deltas."""
        return tuple(sorted((self.position, *self.deltas)))


class _Telling(NamedTuple):
    event: Term
    tick: int
    source: Term
    recipient: Term
    deltas: tuple[int, ...]


class FactIndex:
    """The knowledge and tellings of a log by fact, read from the log's table of triples.

    >>> log = EventLog()
    >>> log.extend_lines([(0, f"A <urn:ann> {AWARE_OF} <urn:party> .")])
    >>> len(FactIndex(TBox("t", ""), log).awareness("<urn:party>"))
    1
    """

    def __init__(self, tbox: TBox, log: EventLog) -> None:
        self._log = log
        self._knowing = frozenset(map(str, tbox.below(AWARE_OF)))
        self._telling = frozenset(map(str, tbox.below(CONTENT)))

    def awareness(self, fact: str) -> list[History]:
        """The histories of the triples by which agents know a fact, which is spelled as in N-Triples."""
        triples = sorted(self._inserted(self._knowing, fact).values())
        return [history(self._log, triple_of(quad)) for quad in quads_of(triples)]

    def tellings(self, fact: str) -> dict[str, list[int]]:
        """The events that tell a fact, each with the positions of its insertions."""
        events = (text.partition(" ")[0] for text in self._inserted(self._telling, fact).values())
        return {event: self._insertions_about(event) for event in dict.fromkeys(events)}

    def _inserted(self, words: Iterable[str], fact: str) -> dict[int, str]:
        """The inserted triples with one of the given predicates and a fact, by number."""
        fitting = self._fitting(*(Pattern(None, word, fact) for word in words))
        wanted = {f"{word} {fact}" for word in words}
        return {
            number: text
            for number, text in fitting.items()
            if text.partition(" ")[2] in wanted and self._log.mentions(number, inserted=True)
        }

    def _insertions_about(self, thing: str) -> list[int]:
        """The positions of the insertions about a thing."""
        fitting = self._fitting(Pattern(thing, None, None))
        numbers = [number for number, text in fitting.items() if text.startswith(f"{thing} ")]
        return sorted(place for number in numbers for place in self._log.mentions(number, inserted=True))

    def _fitting(self, *patterns: Pattern) -> dict[int, str]:
        """The triples that fit one of the patterns, and perhaps some others, in the order of the log."""
        fitting = (numbers for pattern in patterns for numbers in self._log.triples.fitting(pattern))
        numbers = sorted(set[int]().union(*fitting))
        return dict(zip(numbers, self._log.triples.texts(numbers), strict=True))


def chains(tbox: TBox, log: EventLog, fact: Term, tick: int) -> list[tuple[Learning, ...]]:
    """Trace, for each agent that knows a fact at a tick, how it came to know, how its source did, and so on.

    Args:
        tbox: defines the properties and classes.
        log: the log; ticks after ``tick`` play no part.
        fact: a node or a triple term.
        tick: the tick at which the agents know the fact.

    Returns:
        A chain per knower, its own learning first, in the order of learning. If an agent came to know several
        times, the last time counts. The agent's source is the recorded teller of that tick who knew the fact
        before; if there are several, the first in the log.

    >>> from pyoxigraph import NamedNode
    >>> from substrate.rules.fixpoint import unfold
    >>> box = TBox.load("village")
    >>> log = unfold(box, box.opening(), until=8)
    >>> last = chains(box, log, NamedNode("urn:village:party"), 8)[-1]
    >>> [(box.label(learning.knower), learning.tick) for learning in last]
    [('Sam Moore', 8), ('John Lin', 2), ('Isabella Rodriguez', 0)]
    """
    index = FactIndex(tbox, log)
    awareness: dict[Term, list[History]] = {}
    for h in index.awareness(spelled(fact)):
        awareness.setdefault(h.triple[0], []).append(h)
    known = [(_learned(awareness[who], log.position(tick)), who) for who in awareness]
    told: dict[tuple[Term, int], list[_Telling]] = {}
    for telling in _tellings(tbox, log, fact, index):
        told.setdefault((telling.recipient, telling.tick), []).append(telling)

    def trace(who: Term, change: Change) -> tuple[Learning, ...]:
        for telling in told.get((who, change.delta.tick), ()):
            if earlier := _learned(awareness.get(telling.source, []), change.position):
                return (
                    Learning(who, change, telling.source, telling.event, telling.deltas),
                    *trace(telling.source, earlier),
                )
        return (Learning(who, change, None, None, ()),)

    return sorted(
        (trace(who, change) for change, who in known if change), key=lambda chain: chain[0].position
    )


def in_words(tbox: TBox, chain: Sequence[Learning]) -> str:
    """A chain as one line: the knower, its source with the tick, and so on back.

    >>> from pyoxigraph import NamedNode
    >>> from substrate.rules.fixpoint import unfold
    >>> box = TBox.load("village")
    >>> log = unfold(box, box.opening(), until=8)
    >>> in_words(box, chains(box, log, NamedNode("urn:village:party"), 8)[-1])
    'Sam Moore from John Lin at tick 8, from Isabella Rodriguez at tick 2, untold since tick 0'
    """
    steps = (
        f"from {tbox.label(link.source)} at tick {link.tick}"
        if link.source
        else f"untold since tick {link.tick}"
        for link in chain
    )
    return f"{tbox.label(chain[0].knower)} {', '.join(steps)}"


def _learned(awareness: Iterable[History], stop: int) -> Change | None:
    """The delta by which an agent learned a fact; ``None`` if it does not know it after ``stop`` deltas."""
    last = ([c for c in h.changes if c.position < stop][-1:] for h in awareness)
    known = (change for some in last for change in some if change.delta.op is Op.INSERT)
    return max(known, key=lambda change: change.position, default=None)


def _tellings(tbox: TBox, log: EventLog, fact: Term, index: FactIndex) -> list[_Telling]:
    """The tellings of a fact in the order of ticks, one per event, source and recipient."""
    kinds = tbox.below(EVENT)
    roles = {word: role for role in (SOURCE, RECIPIENT, CONTENT) for word in tbox.below(role)}
    tellings: list[_Telling] = []
    for positions in index.tellings(spelled(fact)).values():
        triples = {position: log[position].triple for position in positions}
        typed = (p for p, (_, word, kind) in triples.items() if word == RDF_TYPE and kind in kinds)
        first = next(typed, None)
        if first is None:
            continue
        sources, recipients = (
            [end for _, word, end in triples.values() if roles.get(word) == role]
            for role in (SOURCE, RECIPIENT)
        )
        for source, recipient in product(sources, recipients):
            about = {SOURCE: source, RECIPIENT: recipient, CONTENT: fact}
            deltas = tuple(
                position
                for position, (_, word, end) in triples.items()
                if word not in roles or about[roles[word]] == end
            )
            tellings.append(_Telling(triples[first][0], log[first].tick, source, recipient, deltas))
    return sorted(tellings, key=lambda telling: (telling.tick, telling.deltas))
