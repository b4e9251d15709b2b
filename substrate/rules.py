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

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import pyoxigraph as ox

from substrate.arguments import require, require_tick
from substrate.delta import Delta, Op, Term, triple_of
from substrate.errors import TBoxError
from substrate.log import EventLog
from substrate.rule import TOKEN, Rule
from substrate.state import State
from substrate.tbox import TBox
from substrate.vocabulary import RDF_TYPE

ROUNDS = 1000
"""Rounds after which a rule set that still changes the state counts as never settling."""

_PROJECTION = re.compile(r"\bSELECT\b(.*?)(?=\bWHERE\b|\{)", re.IGNORECASE | re.DOTALL)
_PROJECTED = re.compile(r"\((?:[^()]|\([^()]*\))*\)|\s[?$](?P<name>this|tick)\b")


class Firing(NamedTuple):
    """One change that a rule made: its name, and the delta.

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
    firings: list[Firing] = []
    net: set[ox.Quad] = set()
    seen, power, age = frozenset(net), 1, 0
    last = 0
    for _ in range(rounds):
        last = len(firings)
        for rule in rules:
            for op, quad in _changes(rule, tbox, state, tick):
                if state.apply(op, quad):
                    net ^= {quad}
                    firings.append(Firing(rule.name, Delta(tick, op, triple_of(quad))))
        if len(firings) == last:
            return firings
        # Brent's cycle detection: a state that comes back will come back for ever.
        if net == seen:
            break
        age += 1
        if age == power:
            seen, power, age = frozenset(net), power * 2, 0
    firing = ", ".join(sorted({f.rule for f in firings[last:]}))
    raise TBoxError(
        f"the rules never settle; still firing: {firing}",
        where=(tbox.name, f"tick {tick}"),
        hint="Let each rule's WHERE exclude what it has done",
    )


@dataclass(frozen=True)
class RuleEmitter:
    """The emitter of symbolic domains: the TBox's rules decide what follows an intervention.

    The parent's later deltas are taken over only where their property, or the class they give, is
    ``core:exogenous`` in the TBox; everything else is derived again, tick by tick.

    Args:
        tbox: whose rules to apply.
        until: last tick; the parent's last one unless given.
        rounds: see :func:`settle`.

    >>> from substrate.fork import fork
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
        """What comes from outside and what the rules make of it, from tick ``at`` to ``until``."""
        until = parent.last_tick if self.until is None else self.until
        return (firing.delta for firing in self.firings(branch.state(at), parent, at, until))

    def firings(self, state: State, given: EventLog, start: int, until: int) -> Iterator[Firing]:
        """The same with the rule behind each delta; ``""`` names no rule, but the log ``given``.

        Args:
            state: where to start from; it is changed.
            given: the log whose exogenous deltas come from outside.
            start: first tick.
            until: last tick.
        """
        for tick in range(start, until + 1):
            for position in range(given.position(tick - 1), given.position(tick)):
                delta = given[position]
                if self._is_exogenous(delta):
                    state.apply(delta.op, ox.Quad(*delta.triple))
                    yield Firing("", delta)
            yield from settle(self.tbox.rules, self.tbox, state, tick, rounds=self.rounds)

    def _is_exogenous(self, delta: Delta) -> bool:
        _, predicate, object_ = delta.triple
        return (object_ if predicate == RDF_TYPE else predicate) in self.tbox.exogenous


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
    log, state = EventLog(), EventLog().state()
    for tick in range(until + 1):
        for op, quad in given.changes(given.position(tick - 1), given.position(tick)):
            state.apply(op, quad)
        log.extend_from(given, given.position(tick - 1), given.position(tick))
        log.extend(firing.delta for firing in settle(tbox.rules, tbox, state, tick, rounds=rounds))
    return log


def _changes(rule: Rule, tbox: TBox, state: State, tick: int) -> list[tuple[Op, ox.Quad]]:
    """What a rule makes of a state: retractions, then insertions, each in the order of their text."""
    foci = _foci(rule, tbox, state) if rule.targets else [None]
    ending, beginning = (
        {quad for focus in foci for quad in _construct(rule, tbox, state, bind(query, tick, focus))}
        if query
        else set()
        for query in (rule.retract, rule.construct)
    )
    return [
        *((Op.RETRACT, q) for q in sorted(ending - beginning, key=str)),
        *((Op.INSERT, q) for q in sorted(beginning, key=str)),
    ]


def _construct(rule: Rule, tbox: TBox, state: State, query: str) -> Iterator[ox.Quad]:
    try:
        triples = state.query(query, prefixes=dict(rule.prefixes))
        for triple in triples:  # pyright: ignore[reportGeneralTypeIssues]  # a CONSTRUCT query, by read_rules
            quad = ox.Quad(triple.subject, triple.predicate, triple.object)  # pyright: ignore
            if any(
                isinstance(t, ox.BlankNode) and not _stands(t, state) for t in (quad.subject, quad.object)
            ):
                raise TBoxError(
                    "gives a blank node",
                    where=(tbox.name, f"rule {rule.name}"),
                    hint="Name it: BIND(IRI(CONCAT(…)) AS ?node)",
                )
            yield quad
    except SyntaxError as error:
        raise TBoxError(
            f"not SPARQL ({error})",
            where=(tbox.name, f"rule {rule.name}"),
            hint="Correct the rule in the TBox file",
        ) from error


def _stands(node: ox.BlankNode, state: State) -> bool:
    return any(True for pattern in ((node, None, None), (None, None, node)) for _ in state.match(*pattern))


def bind(query: str, tick: int, focus: ox.NamedNode | None) -> str:
    """A rule's query with ``$tick`` and ``$this`` put in, as SHACL binds them before a query runs.

    A subquery's projection loses them: a value has no need to be projected.

    >>> query = 'CONSTRUCT { $this :at ?tick } WHERE { { SELECT $this ?p WHERE { $this :p ?p } } }'
    >>> bind(query, 3, ox.NamedNode("urn:a"))
    'CONSTRUCT { <urn:a> :at 3 } WHERE { { SELECT ?p WHERE { <urn:a> :p ?p } } }'
    """
    values = {"tick": str(tick)} | ({"this": str(focus)} if focus else {})
    parts = _parts(query, tuple(values))
    return "".join([values[part] if place % 2 else part for place, part in enumerate(parts)])


@cache
def _parts(query: str, names: tuple[str, ...]) -> tuple[str, ...]:
    """A query cut at the variables of these names: text and name in turn."""

    def project(match: re.Match[str]) -> str:
        kept = _PROJECTED.sub(lambda m: "" if m["name"] in names else m[0], match[1]).rstrip()
        return f"SELECT{kept if '?' in kept or '$' in kept or '*' in kept else kept + ' *'} "

    text = _PROJECTION.sub(project, query)
    parts, end = [], 0
    for token in TOKEN.finditer(text):
        if token["name"] in names:
            parts += (text[end : token.start()], token["name"])
            end = token.end()
    return (*parts, text[end:])


def _foci(rule: Rule, tbox: TBox, state: State) -> list[ox.NamedNode]:
    found: set[Term] = set()
    for kind, term in rule.targets:
        assert isinstance(term, ox.NamedNode)
        if kind == "targetClass":
            found |= {s for c in tbox.below(term) for s, _, _ in state.match(None, RDF_TYPE, c)}
        elif kind == "targetNode":
            found.add(term)
        elif kind == "targetSubjectsOf":
            found |= {s for s, _, _ in state.match(None, term)}
        else:
            found |= {o for _, _, o in state.match(None, term) if isinstance(o, ox.NamedNode | ox.BlankNode)}
    if blank := sorted(str(node) for node in found if not isinstance(node, ox.NamedNode)):
        raise TBoxError(
            f"its focus node {blank[0]} has no IRI",
            where=(tbox.name, f"rule {rule.name}", f"tick {state.tick}"),
            hint="Name the node by an IRI",
        )
    return sorted((node for node in found if isinstance(node, ox.NamedNode)), key=str)
