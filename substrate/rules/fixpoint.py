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

import pyoxigraph as ox

from substrate.base.arguments import require, require_count, require_tick
from substrate.base.delta import Delta, Triple
from substrate.base.errors import InterventionError, TBoxError
from substrate.base.limits import LIMITS
from substrate.base.vocabulary import RDF_TYPE
from substrate.log.event_log import EventLog
from substrate.log.state import State
from substrate.rules._settling import Firing, Settler
from substrate.rules.rule import Rule
from substrate.rules.shapes import Changes, broken, misplaced
from substrate.rules.tbox import TBox

ROUNDS = LIMITS.rounds
"""Rounds after which rules that still change the state count as never settling."""


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
    firings = list(Settler(rules, tbox, state).settle(tick, rounds))
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
        """Count the deltas that a branch at tick ``at`` keeps: all earlier deltas, and the opening.

        At the first tick of a log that declares no opening, the branch keeps all deltas of that tick.
        """
        return log.kept(at) or log.position(at)

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
        faults = broken(self.tbox, Changes(quads, store, len(store) == len(state), before, lambda: state))
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
        settler, exogenous = Settler(self.tbox.rules, self.tbox, state), self.tbox.exogenous
        place = self.keeps(given, start)
        for tick in range(start, until + 1):
            stop = max(place, given.position(tick))
            for op, quad in given.changes(place, stop):
                # The property decides whether a triple is exogenous; for rdf:type, the class decides. While
                # nothing has been kept or applied yet, these are the log's first deltas, and all are given.
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
    settler, made = Settler(tbox.rules, tbox, EventLog().state()), list[Firing]()
    for tick in range(until + 1):
        for op, quad in given.changes(given.position(tick - 1), given.position(tick)):
            made.append(settler.take(tick, op, quad))
        made += settler.settle(tick, rounds)
    log = EventLog(firing.delta for firing in made)
    log.opening = given.position(0)
    return log
