"""A TBox's rules, read and checked but not yet run (paper, section 2)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import pyoxigraph as ox

from substrate.base.delta import Term
from substrate.base.errors import TBoxError
from substrate.base.vocabulary import RDF_TYPE, RDFS_LABEL, RETRACT, SHACL
from substrate.rules._shacl import Target, deactivated, sh
from substrate.rules._shacl import targets as targets_of
from substrate.sparql.tokens import tokens

_NONDETERMINISTIC = frozenset({"NOW", "RAND", "UUID", "STRUUID", "BNODE", "SERVICE"})


class RuleSource(NamedTuple):
    """The parts of a TBox from which its rules are read.

    A TBox gives these parts, not itself: it reads its own rules, so this file must not import it.
    """

    name: str
    prefixes: Mapping[str, str]
    store: ox.Store
    """The TBox's triples."""
    classes: frozenset[Term]
    """The classes that the TBox declares."""
    label: Callable[[Term], str]
    """Gives the name of a term."""


class Rule(NamedTuple):
    """A rule of a TBox.

    A rule runs once for each node that its ``targets`` name; without targets it runs once.

    >>> from substrate.rules.tbox import TBox
    >>> rule = TBox.load("village").rules[0]
    >>> rule.name, rule.order
    ('move', 1.0)
    """

    order: float
    name: str
    construct: str | None
    retract: str | None
    targets: tuple[Target, ...]
    prefixes: tuple[tuple[str, str], ...]

    @property
    def queries(self) -> tuple[str, ...]:
        """The queries for the triples to retract and for the triples to insert; one may be absent."""
        return tuple(filter(None, (self.retract, self.construct)))


def read_rules(tbox: RuleSource) -> tuple[Rule, ...]:
    """Read a TBox's rules in the order of their application; :attr:`TBox.rules` gives them to others.

    Raises:
        TBoxError: a rule has neither query, a query is not CONSTRUCT or not deterministic, or it uses
            an unsupported part of SHACL; names the rule.

    >>> from substrate.rules.tbox import TBox
    >>> [rule.name for rule in TBox.load("clinical").rules]
    ['transfer', 'part', 'meet', 'tell', 'treat', 'recover']
    """
    for node in _subjects(tbox, RDF_TYPE, sh("TripleRule")):
        raise refused(tbox.name, str(node), "sh:TripleRule is not supported", "Write it as a sh:SPARQLRule")
    rules, off = [], deactivated(tbox.store)
    for node in set(_subjects(tbox, RDF_TYPE, sh("SPARQLRule"))) - off:
        shapes = sorted(_subjects(tbox, sh("rule"), node), key=str)
        active = [shape for shape in shapes if shape not in off]
        if active or not shapes:
            rules.append(_rule(tbox, node, active))
    return tuple(
        sorted(rules, key=lambda rule: (rule.order, rule.name, rule.construct or "", rule.retract or ""))
    )


def _rule(tbox: RuleSource, node: Term, shapes: Sequence[Term]) -> Rule:
    labels, order = _values(tbox, node, RDFS_LABEL), _values(tbox, node, "order")
    named = node if isinstance(node, ox.NamedNode) or not shapes else shapes[0]
    name = labels[0].value if labels else tbox.label(named)
    if any(tbox.store.quads_for_pattern(node, sh("condition"), None)):  # pyright: ignore[reportArgumentType]
        hint = "Put the condition into the rule's WHERE"
        raise refused(tbox.name, name, "sh:condition is not supported", hint)
    construct, retract = (_query(tbox, name, _values(tbox, node, p)) for p in ("construct", RETRACT))
    if not (construct or retract):
        raise refused(tbox.name, name, "has neither sh:construct nor core:retract", "Give it one of the two")
    targets = tuple(
        sorted(
            {target for shape in shapes for target in targets_of(tbox.store, tbox.classes, shape)}, key=str
        )
    )
    if shapes and not targets:
        hint = "Give the shape a target, or let the rule stand alone"
        raise refused(tbox.name, name, "belongs to a shape without a target", hint)
    try:
        turn = float(order[0].value) if order else 0.0
    except ValueError:
        raise refused(tbox.name, name, f"sh:order {order[0]} is no number", "Give a number") from None
    return Rule(turn, name, construct, retract, targets, _prefixes(tbox))


def refused(tbox: str, rule: str, what: str, hint: str, *where: str) -> TBoxError:
    """The error of a rule that is refused; ``where`` says more about the place."""
    return TBoxError(what, where=(tbox, f"rule {rule}", *where), hint=hint)


def _subjects(tbox: RuleSource, predicate: ox.NamedNode, object_: Term) -> list[Term]:
    return [quad.subject for quad in tbox.store.quads_for_pattern(None, predicate, object_)]


def _values(tbox: RuleSource, node: Term, name: str | ox.NamedNode) -> list[ox.Literal]:
    predicate = sh(name) if isinstance(name, str) else name
    quads = tbox.store.quads_for_pattern(node, predicate, None)  # pyright: ignore[reportArgumentType]
    return sorted((quad.object for quad in quads if isinstance(quad.object, ox.Literal)), key=str)


def _query(tbox: RuleSource, name: str, queries: Sequence[ox.Literal]) -> str | None:
    if not queries:
        return None
    words = [token.text for token in tokens(queries[0].value) if token.kind == "word"]
    if len(queries) > 1 or "CONSTRUCT" not in map(str.upper, words):
        hint = "Give each of sh:construct and core:retract once"
        raise refused(tbox.name, name, "is not one CONSTRUCT query", hint)
    if calls := [word for word in words if word.upper() in _NONDETERMINISTIC]:
        hint = "Compute the value from the state and $tick"
        raise refused(tbox.name, name, f"calls {calls[0]}, which is not deterministic", hint)
    return queries[0].value


def _prefixes(tbox: RuleSource) -> tuple[tuple[str, str], ...]:
    declared = tbox.store.query(
        f"SELECT ?p ?n WHERE {{ ?d <{SHACL}prefix> ?p ; <{SHACL}namespace> ?n }} ORDER BY ?p ?n"
    )
    named = {p.value: n.value for p, n in declared}  # pyright: ignore
    return tuple(sorted({**tbox.prefixes, **named}.items()))


def iris_of(query: str, prefixes: Mapping[str, str]) -> set[str]:
    """The IRIs in a query, written with a prefix or in full."""
    named: set[str] = set()
    for kind, token, _ in tokens(query):
        if kind == "iri":
            named.add(token[1:-1])
        elif kind == "name":
            prefix, _, local = token.partition(":")
            if prefix in prefixes:
                named.add(prefixes[prefix] + local.rstrip("."))
    return named
