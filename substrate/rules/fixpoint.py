'''Rules: SPARQL that stands in the TBox, applied tick by tick to a fixpoint (paper, section 2).

A rule is a ``sh:SPARQLRule`` of SHACL Advanced Features, run on Oxigraph. It stands on a shape
(``sh:rule``) and is then run for each of the shape's target nodes, bound to ``$this``; or it stands
alone and is run once. ``$tick`` is the present tick. ``sh:construct`` gives what begins to hold;
beside it, or in its place, ``core:retract`` gives what ends to hold, as a CONSTRUCT query too::

    @prefix core: <urn:substrate:> .
    :WalkerShape a sh:NodeShape ; sh:targetClass :Walker ; sh:rule [
        a sh:SPARQLRule ; rdfs:label "walk" ; sh:order 1 ;
        sh:construct """CONSTRUCT { $this :at ?next }
            WHERE { $this :plans ?p . ?p :tick $tick ; :goal ?next }""" ;
        core:retract """CONSTRUCT { $this :at ?last }
            WHERE { $this :at ?last ; :plans ?p . ?p :tick $tick ; :goal ?next FILTER(?last != ?next) }""" ] .

Both queries of a rule see the state before it, retractions are applied first, and the next rule sees
the result. Rules go by ``sh:order``, then by name, focus nodes by their IRI; the round is repeated
until no rule changes anything. Prefixes are those of the TBox file, and what it has
declared with ``sh:declare`` for other engines.

A rule has to be deterministic: random and time functions are refused, and so are blank nodes in what
it gives; name a new node with ``BIND(IRI(CONCAT(…)) AS ?node)``.
'''

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from substrate.base.arguments import require, require_tick
from substrate.base.delta import Delta, Op, Spelled, quads_of, triple_of
from substrate.base.errors import TBoxError
from substrate.base.limits import LIMITS
from substrate.base.vocabulary import RDF_TYPE
from substrate.log.event_log import EventLog
from substrate.log.state import State
from substrate.rules._incremental import RuleChanges, Settler
from substrate.rules.rule import Rule
from substrate.rules.tbox import TBox

ROUNDS = LIMITS.rounds
"""Rounds after which a rule set that still changes the state counts as never settling."""


class Firing(NamedTuple):
    """A change that a rule made: its name, and the delta.

    >>> box = TBox.load("village")
    >>> firings = RuleEmitter(box).firings(box.opening().state(0), EventLog(), start=1, until=2)
    >>> next(firings).rule
    'meet'
    """

    rule: str
    delta: Delta


def settle(
    rules: Sequence[Rule], tbox: TBox, state: State, tick: int, *, rounds: int = ROUNDS
) -> list[Firing]:
    """Apply rules to a state until none changes it; the state is changed.

    Args:
        rules: in the order of their application.
        tbox: where classes have their subclasses.
        state: owned by the caller.
        tick: the value of ``$tick``.
        rounds: after how many the rules count as never settling; a state that comes back is found at once.

    Returns:
        What each rule changed, in order.

    Raises:
        TBoxError: the rules never settle (names those still firing), a query is not SPARQL, or a rule
            gives a blank node.

    >>> box = TBox("t", "@prefix sh: <http://www.w3.org/ns/shacl#> . @prefix : <urn:t:> . "
    ...                 ":closure a sh:SPARQLRule ; sh:construct "
    ...                 "'CONSTRUCT { ?a :in ?c } WHERE { ?a :in ?b . ?b :in ?c }' .")
    >>> log = EventLog()
    >>> log.extend_lines((0, f"A <urn:t:{a}> <urn:t:in> <urn:t:{b}> .") for a, b in ("ab", "bc"))
    >>> [(firing.rule, firing.delta.triple[2].value) for firing in settle(box.rules, box, log.state(0), 0)]
    [('closure', 'urn:t:c')]
    """
    settler = Settler(rules, tbox, state)
    try:
        return list(_firings(settler.settle(tick, rounds)))
    finally:
        settler.catch_up()


@dataclass(frozen=True)
class RuleEmitter:
    """The emitter of symbolic domains: the TBox's rules decide what follows an intervention.

    The parent's later deltas are taken over only where their property, or the class they give, is
    ``core:exogenous`` in the TBox; everything else is derived again, tick by tick.

    Args:
        tbox: whose rules to apply.
        until: last tick; the parent's last one unless given.
        rounds: see :func:`settle`.

    >>> from substrate.branch.fork import fork
    >>> box = TBox.load("village")
    >>> log = unfold(box, box.opening(), until=6)
    >>> fork(log, at=3, emitter=RuleEmitter(box)).digest == log.digest
    True
    """

    tbox: TBox
    until: int | None = None
    rounds: int = ROUNDS

    def __post_init__(self) -> None:
        require(self.tbox, TBox, "a TBox", "tbox")
        require(self.rounds, int, "a whole number", "rounds")
        if self.until is not None:
            require_tick(self.until, "until")

    def emit(self, branch: EventLog, parent: EventLog, at: int) -> Iterator[Delta]:
        """The deltas from outside and those that the rules derive, from tick ``at`` to ``until``."""
        until = parent.last_tick if self.until is None else self.until
        return (firing.delta for firing in self.firings(branch.state(at), parent, at, until))

    def spell(self, branch: EventLog, parent: EventLog, at: int) -> Iterator[Spelled]:
        """The same as :meth:`emit`, each triple by its spelling."""
        until = parent.last_tick if self.until is None else self.until
        settler = Settler(self.tbox.rules, self.tbox, branch.state(at))
        for changes in self._changes(settler, parent, at, until):
            for _, deltas in changes:
                yield from deltas

    def firings(self, state: State, given: EventLog, start: int, until: int) -> Iterator[Firing]:
        """The same with the rule behind each delta; ``""`` names no rule, but the log ``given``.

        Args:
            state: where to start from; it is changed.
            given: the log whose exogenous deltas come from outside.
            start: first tick.
            until: last tick.
        """
        settler = Settler(self.tbox.rules, self.tbox, state)
        for changes in self._changes(settler, given, start, until):
            settler.catch_up()
            yield from _firings(changes)

    def _changes(
        self, settler: Settler, given: EventLog, start: int, until: int
    ) -> Iterator[list[RuleChanges]]:
        exogenous = frozenset(map(str, self.tbox.exogenous))
        outside = dict(given.lines(given.position(start - 1), given.position(until)))
        for tick in range(start, until + 1):
            given_now = [Spelled(tick, _OPS[line[0]], line[2:-2]) for line in outside.get(tick, ())]
            taken = [delta for delta in given_now if _decided_by(delta.text) in exogenous]
            for delta in taken:
                settler.apply(delta)
            yield [RuleChanges("", taken), *settler.settle(tick, self.rounds)]


def unfold(tbox: TBox, given: EventLog, until: int, *, rounds: int = ROUNDS) -> EventLog:
    """The log that rules make of what is given: its deltas, and after those of each tick what follows.

    Args:
        tbox: whose rules to apply.
        given: what comes from outside, at any ticks; left alone.
        until: last tick; ``given`` may not go beyond it.
        rounds: see :func:`settle`.

    Raises:
        TBoxError: ``given`` goes beyond ``until``, or as :func:`settle`.

    >>> box = TBox.load("village")
    >>> log = unfold(box, box.opening(), until=4)
    >>> log.last_tick, bool(log.state(4).query("ASK { ?meeting a <urn:substrate:village:Meeting> }"))
    (4, True)
    """
    require(tbox, TBox, "a TBox", "tbox")
    require(given, EventLog, "an event log", "given")
    require_tick(until, "until")
    if given.last_tick > until:
        raise TBoxError(
            f"tick {given.last_tick} lies beyond the last tick {until}",
            where=(tbox.name,),
            hint="Unfold further",
        )
    settler = Settler(tbox.rules, tbox, EventLog().state())
    outside = dict(given.lines())
    made: list[Spelled] = []
    for tick in range(until + 1):
        for line in outside.get(tick, ()):
            delta = Spelled(tick, _OPS[line[0]], line[2:-2])
            settler.apply(delta)
            made.append(delta)
        for _, deltas in settler.settle(tick, rounds):
            made += deltas
    log = EventLog()
    log.extend_spelled(made)
    return log


_TYPE = str(RDF_TYPE)
_OPS = {op.value: op for op in Op}


def _decided_by(text: str) -> str:
    """The term that says whether a triple is given from outside: its property, or the class it gives."""
    _, predicate, object_ = text.split(" ", 2)
    return object_ if predicate == _TYPE else predicate


def _firings(changes: Sequence[RuleChanges]) -> Iterator[Firing]:
    quads = iter(quads_of(text for _, deltas in changes for _, _, text in deltas))
    for rule, deltas in changes:
        for tick, op, _ in deltas:
            yield Firing(rule, Delta(tick, op, triple_of(next(quads))))
