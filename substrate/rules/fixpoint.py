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

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import pyoxigraph as ox

from substrate.base.arguments import require, require_tick
from substrate.base.delta import Delta, Op, quads_of, triple_of
from substrate.base.errors import TBoxError
from substrate.base.limits import LIMITS
from substrate.base.vocabulary import RDF_TYPE
from substrate.log.event_log import EventLog
from substrate.log.state import State
from substrate.rules.queries import constructed, focus_nodes, ticking, watched
from substrate.rules.rule import Rule
from substrate.rules.shapes import broken
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
    """Apply rules to a state, in place, until none changes it; a failure leaves the state as it was.

    Args:
        rules: in the order of their application.
        tbox: says which classes are subclasses of which.
        state: owned by the caller.
        tick: the value of ``$tick``.
        rounds: the number after which the rules count as never settling; a recurring state ends them at once.

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
    firings = list(_Settler(rules, tbox, state).settle(tick, rounds))
    for _, (_, op, triple) in firings:
        state.apply(op, ox.Quad(*triple))
    return firings


@dataclass(frozen=True)
class RuleEmitter:
    """The emitter of symbolic domains: the TBox's rules decide what follows an intervention.

    The emitter copies a later delta of the parent only where its property (or, for ``rdf:type``, its class)
    is ``core:exogenous`` in the TBox; no rule may change such facts. The rules derive everything else again,
    tick by tick. The deltas that the log opens with are copied, too. The shapes check what the rules change
    at a tick (:mod:`substrate.rules.shapes`).

    Args:
        tbox: whose rules to apply.
        until: last tick; the parent's last one unless given.
        rounds: see :func:`settle`.
        check: whether the shapes count.

    >>> from substrate.branch.fork import fork
    >>> box = TBox.load("village")
    >>> log = unfold(box, box.opening(), until=6)
    >>> all(fork(log, at, emitter=RuleEmitter(box)).digest == log.digest for at in range(7))
    True
    """

    tbox: TBox
    until: int | None = None
    rounds: int = ROUNDS
    check: bool = True

    def __post_init__(self) -> None:
        require(self.tbox, TBox, "a TBox", "tbox")
        require(self.rounds, int, "a whole number", "rounds")
        if self.until is not None:
            require_tick(self.until, "until")

    def keeps(self, log: EventLog, at: int) -> int:
        """Count the deltas that a branch at tick ``at`` keeps: all those before it.

        At the log's first tick these are the deltas it opens with; if the log does not say what those are,
        they are every delta of that tick.
        """
        return log.kept(at) or (0 if log.opening else log.position(at))

    def emit(self, branch: EventLog, parent: EventLog, at: int) -> Iterator[Delta]:
        """The deltas from outside and those that the rules derive, from tick ``at`` to ``until``.

        Raises:
            TBoxError: the rules never settle, or break a shape; names it, the tick and the triple.
        """
        until = parent.last_tick if self.until is None else self.until
        return (firing.delta for firing in self.firings(branch.state(at), parent, at, until))

    def firings(self, state: State, given: EventLog, start: int, until: int) -> Iterator[Firing]:
        """The deltas of :meth:`emit`, each with the name of its rule; ``""`` stands for the log ``given``.

        Args:
            state: where to start from.
            given: the log whose exogenous deltas come from outside.
            start: first tick.
            until: last tick.
        """
        settler, exogenous = _Settler(self.tbox.rules, self.tbox, state), self.tbox.exogenous
        place = self.keeps(given, start)
        for tick in range(start, until + 1):
            stop = max(place, given.position(tick))
            for op, quad in given.changes(place, stop):
                # The property says whether a triple is given from outside; of rdf:type, the class says so
                word = quad.object if quad.predicate == RDF_TYPE else quad.predicate
                if not place or word in exogenous:
                    yield settler.take(tick, op, quad)
            place, made = stop, list(settler.settle(tick, self.rounds))
            yield from made
            if self.check and (faults := settler.broken(made)):
                hint = "Correct the rule or the shape, or give check=False"
                raise TBoxError("; ".join(faults[:5]), where=(self.tbox.name, f"tick {tick}"), hint=hint)


def unfold(tbox: TBox, given: EventLog, until: int, *, rounds: int = ROUNDS) -> EventLog:
    """The log that rules make of a given log: after its deltas of each tick stand those that rules derive.

    Args:
        tbox: whose rules to apply.
        given: the deltas from outside, at any ticks; it stays unchanged.
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
        what = f"tick {given.last_tick} lies beyond the last tick {until}"
        raise TBoxError(what, where=(tbox.name,), hint="Unfold further")
    settler, made = _Settler(tbox.rules, tbox, EventLog().state()), list[Firing]()
    for tick in range(until + 1):
        for op, quad in given.changes(given.position(tick - 1), given.position(tick)):
            made.append(settler.take(tick, op, quad))
        made += settler.settle(tick, rounds)
    log = EventLog(firing.delta for firing in made)
    log.opening = given.position(0)
    return log


class _Applied:
    """A rule with the result of its queries, which holds until a triple changes that they look at."""

    def __init__(self, rule: Rule) -> None:
        self.rule = rule
        self.stale = True
        self._tick = -1
        self._ticking = ticking(rule)
        self._told = True
        self._given: tuple[dict[str, ox.Quad], ...] = {}, {}

    def changes(self, tbox: TBox, store: Callable[[], ox.Store], tick: int) -> list[tuple[Op, str, ox.Quad]]:
        """Retractions, then insertions, each in the order of their text; a query runs only where it must."""
        moved, self._tick = tick != self._tick, tick
        if self.stale or (moved and (self._told or any(self._given) or self._is_told(store(), tick))):
            self.stale = False
            foci = focus_nodes(self.rule, tbox, store(), tick)
            self._given = tuple(
                constructed(self.rule, query, tbox, store(), tick, foci) if query and foci else {}
                for query in (self.rule.retract, self.rule.construct)
            )
            self._told = self._is_told(store(), tick)
        ending, beginning = self._given
        return [
            *((Op.RETRACT, text, ending[text]) for text in sorted(ending.keys() - beginning)),
            *((Op.INSERT, text, beginning[text]) for text in sorted(beginning)),
        ]

    def _is_told(self, store: ox.Store, tick: int) -> bool:
        """Tell whether the rule may find something at this tick that it does not find at others."""
        if self._ticking is None:
            return True
        value = ox.Literal(tick)
        return any(any(store.quads_for_pattern(None, predicate, value)) for predicate in self._ticking)


class _Settler:
    """Applies rules to a copy of a state, tick after tick."""

    def __init__(self, rules: Sequence[Rule], tbox: TBox, state: State) -> None:
        self._tbox = tbox
        self._standing = dict(zip(texts := sorted(state.texts()), quads_of(texts), strict=True))
        self._store = ox.Store()
        self._store.extend(self._standing.values())
        self._merges = len(self._store) < len(self._standing)
        self._rules = [_Applied(rule) for rule in rules]
        self._watching: dict[str | None, list[tuple[str | None, _Applied]]] = {}
        for applied in self._rules:
            for predicate, object_ in watched(applied.rule, tbox):
                self._watching.setdefault(predicate, []).append((object_, applied))

    def take(self, tick: int, op: Op, quad: ox.Quad) -> Firing:
        """Apply what comes from outside."""
        self._apply(op, str(quad), quad)
        return Firing("", Delta._make((tick, op, triple_of(quad))))

    def broken(self, made: Sequence[Firing]) -> list[str]:
        """The shapes that are broken by what rules have changed, in words."""
        return broken(self._tbox, self._asked(), (ox.Quad(*firing.delta.triple) for firing in made))

    def _apply(self, op: Op, text: str, quad: ox.Quad) -> bool:
        """Change the state by one operation; returns True if it made a difference."""
        came = op is Op.INSERT
        if (text in self._standing) is came:
            return False
        if came:
            # A store holds values: two triples that spell the same value are one there, and would be
            # retracted together. So from the first such pair on it is filled anew for each query
            self._merges = self._merges or quad in self._store
            self._standing[text] = quad
            self._store.add(quad)
        else:
            del self._standing[text]
            self._store.remove(quad)
        _, predicate, object_ = text.split(" ", 2)
        for key in (predicate, None):
            for wanted, applied in self._watching.get(key, ()):
                applied.stale = applied.stale or wanted in (None, object_)
        return True

    def _asked(self) -> ox.Store:
        if self._merges:
            self._store = ox.Store()
            self._store.extend(self._standing.values())
        return self._store

    def settle(self, tick: int, rounds: int) -> Iterator[Firing]:
        """The rules' changes at a tick, in order; errors as :func:`settle`."""
        net: set[str] = set()
        seen, power, age = frozenset(net), 1, 0
        firing: set[str] = set()
        for _ in range(rounds):
            firing.clear()
            for applied in self._rules:
                name = applied.rule.name
                for op, text, quad in applied.changes(self._tbox, self._asked, tick):
                    if self._apply(op, text, quad):
                        net ^= {text}
                        firing.add(name)
                        yield Firing(name, Delta._make((tick, op, triple_of(quad))))
            if not firing:
                return
            # Brent's cycle detection: a state that comes back will come back for ever.
            if net == seen:
                break
            age += 1
            if age == power:
                seen, power, age = frozenset(net), power * 2, 0
        what = f"the rules never settle; still firing: {', '.join(sorted(firing))}"
        hint = "Let each rule's WHERE exclude what it has done"
        raise TBoxError(what, where=(self._tbox.name, f"tick {tick}"), hint=hint)
