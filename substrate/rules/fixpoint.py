'''Apply a TBox's rules, written in SPARQL, tick by tick to a fixpoint (paper, section 2).

A rule is a ``sh:SPARQLRule`` of SHACL Advanced Features, run on Oxigraph. A rule on a shape (``sh:rule``)
runs for each of the shape's target nodes, bound to ``$this``; a rule without a shape runs once. ``$tick`` is
the present tick. ``sh:construct`` gives the triples to insert, and ``core:retract`` gives the triples to
retract, also as a CONSTRUCT query; a rule has either or both::

    @prefix core: <urn:substrate:> .
    :WalkerShape a sh:NodeShape ; sh:targetClass :Walker ; sh:rule [
        a sh:SPARQLRule ; rdfs:label "walk" ; sh:order 1 ;
        sh:construct """CONSTRUCT { $this :at ?next }
            WHERE { $this :plans ?p . ?p :tick $tick ; :goal ?next }""" ;
        core:retract """CONSTRUCT { $this :at ?last }
            WHERE { $this :at ?last ; :plans ?p . ?p :tick $tick ; :goal ?next FILTER(?last != ?next) }""" ] .

Both queries of a rule see the state before the rule. Retractions are applied first, and the next rule sees
the result. Rules run in the order of ``sh:order``, then of their names; focus nodes in the order of their
IRIs. The round is repeated until no rule changes anything. Queries may use the prefixes that the TBox file
defines, by ``@prefix`` or by ``sh:declare``.

A rule must be deterministic: random and time functions are refused, and so are blank nodes in its results.
Name a new node with ``BIND(IRI(CONCAT(…)) AS ?node)``.
'''

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import pyoxigraph as ox

from substrate.base.arguments import require, require_count, require_tick
from substrate.base.delta import Delta, Op, Triple, triple_of
from substrate.base.errors import InterventionError, TBoxError
from substrate.base.limits import LIMITS
from substrate.base.ntriples import quads_of
from substrate.base.vocabulary import RDF_TYPE
from substrate.log.event_log import EventLog
from substrate.log.state import State
from substrate.rules.queries import constructed, focus_nodes, ticking, watched
from substrate.rules.rule import Rule
from substrate.rules.shapes import broken, misplaced
from substrate.rules.tbox import TBox

ROUNDS = LIMITS.rounds
"""Rounds after which rules that still change the state count as never settling."""


class Firing(NamedTuple):
    """A change that a rule made: the rule's name and the delta.

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
    """Apply rules to a state, in place, until none changes it; a failure leaves the state unchanged.

    Args:
        rules: the rules, in the order of their application.
        tbox: the source of subclasses.
        state: the state, owned by the caller.
        tick: the value of ``$tick``.
        rounds: the number of rounds after which the rules count as never settling; a state that recurs is
            an error earlier.

    Returns:
        The changes of each rule, in order.

    Raises:
        TBoxError: the rules never settle (the error names the rules that still fire), a query is not SPARQL,
            or a rule gives a blank node.

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

    The emitter copies a later delta of the parent only if its property (or, for ``rdf:type``, its class)
    is ``core:exogenous`` in the TBox; no rule may change such facts. It also copies the log's opening deltas.
    The rules derive everything else again, tick by tick. The shapes check the rules' changes at each tick
    (:mod:`substrate.rules.shapes`).

    Args:
        tbox: the source of the rules.
        until: the last tick; by default the parent's last tick.
        rounds: see :func:`settle`.
        check: whether to check the shapes.

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
        require_count(self.rounds, "rounds")
        if self.until is not None:
            require_tick(self.until, "until")

    def keeps(self, log: EventLog, at: int) -> int:
        """Count the deltas that a branch at tick ``at`` keeps: all earlier deltas.

        At the log's first tick, the branch keeps the opening deltas or, if the log declares no opening, all
        deltas of that tick.
        """
        return log.kept(at) or (0 if log.opening else log.position(at))

    def unchecked(self) -> RuleEmitter:
        """The same emitter without the shapes."""
        return replace(self, check=False)

    def judge(
        self, branch: EventLog, at: int, applied: Sequence[Delta], before: Callable[[], Iterable[Triple]]
    ) -> None:
        """Refuse interventions that break the shapes, or give a property to a thing of a wrong class.

        Args:
            branch: the log with the interventions.
            at: their tick.
            applied: their deltas.
            before: gives the state without them.

        Raises:
            InterventionError: it names the shapes.
        """
        store, state = ox.Store(), branch.state(at)
        store.extend(ox.Quad(*triple) for triple in state)
        quads = [ox.Quad(*delta.triple) for delta in applied]
        inserted = (quad for quad in quads if quad in store)
        faults = broken(self.tbox, store, quads, before, lambda: state, len(store) == len(state))
        if wrong := [*misplaced(self.tbox, store, inserted), *faults]:
            hint = "Change what the TBox allows, or give check=False"
            raise InterventionError("; ".join(wrong[:5]), where=(self.tbox.name, f"tick {at}"), hint=hint)

    def emit(self, branch: EventLog, parent: EventLog, at: int) -> Iterator[Delta]:
        """The exogenous deltas and the deltas that the rules derive, from tick ``at`` to ``until``.

        Raises:
            TBoxError: the rules never settle, or break a shape; the error names the shape, tick and triple.
        """
        until = parent.last_tick if self.until is None else self.until
        return (firing.delta for firing in self.firings(branch.state(at), parent, at, until))

    def firings(self, state: State, given: EventLog, start: int, until: int) -> Iterator[Firing]:
        """The deltas of :meth:`emit`, each with the name of its rule; ``""`` marks a delta of ``given``.

        Args:
            state: the first state.
            given: the log with the exogenous deltas.
            start: the first tick.
            until: the last tick.
        """
        settler, exogenous = _Settler(self.tbox.rules, self.tbox, state), self.tbox.exogenous
        place = self.keeps(given, start)
        for tick in range(start, until + 1):
            stop = max(place, given.position(tick))
            for op, quad in given.changes(place, stop):
                # The property decides whether a triple is exogenous; for rdf:type, the class decides. Without
                # deltas before the start, the opening itself is applied, and all of it is given.
                word = quad.object if quad.predicate == RDF_TYPE else quad.predicate
                if not place or word in exogenous:
                    yield settler.take(tick, op, quad)
            place, made = stop, list(settler.settle(tick, self.rounds))
            yield from made
            if self.check and (faults := settler.broken(made)):
                hint = "Correct the rule or the shape, or give check=False"
                raise TBoxError("; ".join(faults[:5]), where=(self.tbox.name, f"tick {tick}"), hint=hint)


def unfold(tbox: TBox, given: EventLog, until: int, *, rounds: int = ROUNDS) -> EventLog:
    """Apply a TBox's rules along a log: after each tick's given deltas come the derived deltas.

    Args:
        tbox: the source of the rules.
        given: the given deltas, at any ticks; this log stays unchanged.
        until: the last tick; ``given`` may not have a later tick.
        rounds: see :func:`settle`.

    Raises:
        TBoxError: ``given`` has a tick after ``until``, or as :func:`settle`.

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
        raise TBoxError(what, where=(tbox.name,), hint="Give a later last tick")
    settler, made = _Settler(tbox.rules, tbox, EventLog().state()), list[Firing]()
    for tick in range(until + 1):
        for op, quad in given.changes(given.position(tick - 1), given.position(tick)):
            made.append(settler.take(tick, op, quad))
        made += settler.settle(tick, rounds)
    log = EventLog(firing.delta for firing in made)
    log.opening = given.position(0)
    return log


class _CachedRule:
    """A rule with its queries' cached result, valid until a change in a triple they read."""

    def __init__(self, rule: Rule) -> None:
        self.rule = rule
        self.stale = True
        self._tick = -1
        self._properties = ticking(rule)
        """The properties whose value the rule compares with the tick; ``None`` if it compares otherwise."""
        self._reads_tick = True
        """Whether the cached result may be another at another tick."""
        self._result: tuple[dict[str, ox.Quad], ...] = {}, {}
        """The triples to retract and to insert, by their text."""

    def changes(self, tbox: TBox, store: Callable[[], ox.Store], tick: int) -> list[tuple[Op, str, ox.Quad]]:
        """Retractions, then insertions, both sorted by text; a query runs only if its result is stale."""
        moved, self._tick = tick != self._tick, tick
        if self.stale or (moved and (self._reads_tick or any(self._result) or self._may_read(store(), tick))):
            self.stale = False
            foci = focus_nodes(self.rule, tbox, store(), tick)
            self._result = tuple(
                constructed(self.rule, query, tbox, store(), tick, foci) if query and foci else {}
                for query in (self.rule.retract, self.rule.construct)
            )
            self._reads_tick = self._may_read(store(), tick)
        ending, beginning = self._result
        return [
            *((Op.RETRACT, text, ending[text]) for text in sorted(ending.keys() - beginning)),
            *((Op.INSERT, text, beginning[text]) for text in sorted(beginning)),
        ]

    def _may_read(self, store: ox.Store, tick: int) -> bool:
        """Tell whether the rule may find something at this tick that it does not find at other ticks."""
        if self._properties is None:
            return True
        value = ox.Literal(tick)
        return any(any(store.quads_for_pattern(None, predicate, value)) for predicate in self._properties)


class _Settler:
    """Apply rules to a copy of a state, tick after tick."""

    def __init__(self, rules: Sequence[Rule], tbox: TBox, state: State) -> None:
        self._tbox = tbox
        self._standing = dict(zip(texts := sorted(state.texts()), quads_of(texts), strict=True))
        self._store = ox.Store()
        self._store.extend(self._standing.values())
        self._merges = len(self._store) < len(self._standing)
        self._rules = [_CachedRule(rule) for rule in rules]
        self._watching: dict[str | None, list[tuple[str | None, _CachedRule]]] = {}
        for applied in self._rules:
            for predicate, object_ in watched(applied.rule, tbox):
                self._watching.setdefault(predicate, []).append((object_, applied))

    def take(self, tick: int, op: Op, quad: ox.Quad) -> Firing:
        """Apply a given delta."""
        self._apply(op, str(quad), quad)
        return Firing("", Delta._make((tick, op, triple_of(quad))))

    def broken(self, made: Sequence[Firing]) -> list[str]:
        """The shapes that the rules' changes break, in words."""
        changed = [ox.Quad(*firing.delta.triple) for firing in made]

        def before() -> Iterator[Triple]:
            standing = dict(self._standing)
            for (_, (_, op, _)), quad in zip(reversed(made), reversed(changed), strict=True):
                standing.pop(str(quad), None)
                standing |= {str(quad): quad} if op is Op.RETRACT else {}
            return map(triple_of, standing.values())

        store = self._current_store()
        return broken(
            self._tbox,
            store,
            changed,
            before,
            lambda: map(triple_of, self._standing.values()),
            not self._merges,
        )

    def _apply(self, op: Op, text: str, quad: ox.Quad) -> bool:
        """Change the state by one operation; return True if it made a difference."""
        inserts = op is Op.INSERT
        if (text in self._standing) is inserts:
            return False
        if inserts:
            # A store merges two triples that spell the same value, and would retract them together. So after
            # the first such pair it is filled anew for each query
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

    def _current_store(self) -> ox.Store:
        if self._merges:
            self._store = ox.Store()
            self._store.extend(self._standing.values())
        return self._store

    def settle(self, tick: int, rounds: int) -> Iterator[Firing]:
        """The rules' changes at a tick, in order; errors as :func:`settle`."""
        require_count(rounds, "rounds")
        net: set[str] = set()  # the triples in which the state differs from the tick's first state
        seen, power, age = frozenset(net), 1, 0
        firing: set[str] = set()
        for _ in range(rounds):
            firing.clear()
            for applied in self._rules:
                name = applied.rule.name
                for op, text, quad in applied.changes(self._tbox, self._current_store, tick):
                    if self._apply(op, text, quad):
                        net ^= {text}
                        firing.add(name)
                        yield Firing(name, Delta._make((tick, op, triple_of(quad))))
            if not firing:
                return
            # Brent's cycle detection: a state that recurs once will recur for ever.
            if net == seen:
                break
            age += 1
            if age == power:
                seen, power, age = frozenset(net), power * 2, 0
        what = f"the rules never settle; still firing: {', '.join(sorted(firing))}"
        hint = "Let each rule's WHERE exclude what the rule has already done"
        raise TBoxError(what, where=(self._tbox.name, f"tick {tick}"), hint=hint)
