"""A TBox's rules as they stand in it: read and checked, not yet run (paper, section 2)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, Protocol

import pyoxigraph as ox

from substrate.base.delta import Term
from substrate.base.errors import TBoxError
from substrate.base.vocabulary import RDF_TYPE, RDFS_LABEL, RETRACT, SHACL
from substrate.sparql.tokens import tokens

_TARGETS = ("targetClass", "targetNode", "targetSubjectsOf", "targetObjectsOf")
_UNSTEADY = frozenset({"NOW", "RAND", "UUID", "STRUUID", "BNODE", "SERVICE"})


class RuleSource(Protocol):
    """A holder of rules: a :class:`substrate.rules.tbox.TBox`."""

    @property
    def name(self) -> str:
        """The name that errors use for it."""
        ...

    @property
    def prefixes(self) -> Mapping[str, str]:
        """Prefix names to IRIs."""
        ...

    @property
    def store(self) -> ox.Store:
        """Its triples."""
        ...

    def label(self, term: Term) -> str:
        """The name that it gives a term."""
        ...


class Rule(NamedTuple):
    """A rule of a TBox.

    ``targets`` are pairs of a SHACL target kind (``targetClass``, ``targetNode``, ``targetSubjectsOf``,
    ``targetObjectsOf``) and its term; none for a rule that runs once.

    >>> from substrate.rules.tbox import TBox
    >>> rule = TBox.load("village").rules[0]
    >>> rule.name, rule.order
    ('move', 1.0)
    """

    order: float
    name: str
    construct: str | None
    retract: str | None
    targets: tuple[tuple[str, Term], ...]
    prefixes: tuple[tuple[str, str], ...]


def read_rules(tbox: RuleSource) -> tuple[Rule, ...]:
    """A TBox's rules in the order of their application.

    Raises:
        TBoxError: a rule has neither query, a query is not CONSTRUCT or not deterministic, or it uses
            a part of SHACL that is not carried out here; names the rule.

    >>> from substrate.rules.tbox import TBox
    >>> [rule.name for rule in read_rules(TBox.load("clinical"))]
    ['transfer', 'part', 'meet', 'tell', 'treat', 'recover']
    """
    found = []
    for node in {q.subject for q in tbox.store.quads_for_pattern(None, RDF_TYPE, _sh("SPARQLRule"))}:
        shapes = sorted((q.subject for q in tbox.store.quads_for_pattern(None, _sh("rule"), node)), key=str)
        if any(_true(tbox, x, "deactivated") for x in (node, *shapes)):
            continue
        order = _values(tbox, node, _sh("order"))
        name = _name(tbox, node, shapes)
        if any(True for _ in tbox.store.quads_for_pattern(node, _sh("condition"), None)):
            raise TBoxError(
                "sh:condition is not carried out",
                where=(tbox.name, f"rule {name}"),
                hint="Put the condition into the rule's WHERE",
            )
        construct, retract = (_query(tbox, name, _values(tbox, node, p)) for p in (_sh("construct"), RETRACT))
        if not (construct or retract):
            raise TBoxError(
                "has neither sh:construct nor core:retract",
                where=(tbox.name, f"rule {name}"),
                hint="Give it one of the two",
            )
        targets = tuple(sorted({t for shape in shapes for t in _targets(tbox, shape)}, key=str))
        if shapes and not targets:
            raise TBoxError(
                "stands on a shape without a target",
                where=(tbox.name, f"rule {name}"),
                hint="Give the shape a target, or let the rule stand alone",
            )
        found.append(
            Rule(float(order[0].value) if order else 0.0, name, construct, retract, targets, _prefixes(tbox))
        )
    if unknown := [q.subject for q in tbox.store.quads_for_pattern(None, RDF_TYPE, _sh("TripleRule"))]:
        raise TBoxError(
            "sh:TripleRule is not carried out",
            where=(tbox.name, f"rule {unknown[0]}"),
            hint="Write it as a sh:SPARQLRule",
        )
    return tuple(
        sorted(found, key=lambda rule: (rule.order, rule.name, rule.construct or "", rule.retract or ""))
    )


def _sh(name: str) -> ox.NamedNode:
    return ox.NamedNode(SHACL + name)


def _values(tbox: RuleSource, node: Term, predicate: ox.NamedNode) -> list[ox.Literal]:
    quads = tbox.store.quads_for_pattern(node, predicate, None)  # pyright: ignore[reportArgumentType]
    found = (quad.object for quad in quads)
    return sorted((o for o in found if isinstance(o, ox.Literal)), key=str)


def _true(tbox: RuleSource, node: Term, name: str) -> bool:
    return any(value.value in ("true", "1") for value in _values(tbox, node, _sh(name)))


def _name(tbox: RuleSource, node: Term, shapes: Sequence[Term]) -> str:
    labels = _values(tbox, node, RDFS_LABEL)
    if labels:
        return labels[0].value
    named = node if isinstance(node, ox.NamedNode) else shapes[0] if shapes else node
    return tbox.label(named)


def _query(tbox: RuleSource, name: str, queries: Sequence[ox.Literal]) -> str | None:
    if not queries:
        return None
    words = [token.text for token in tokens(queries[0].value) if token.kind == "word"]
    if len(queries) > 1 or "CONSTRUCT" not in map(str.upper, words):
        raise TBoxError(
            "is not one CONSTRUCT query",
            where=(tbox.name, f"rule {name}"),
            hint="Give each of sh:construct and core:retract once",
        )
    if unsteady := [word for word in words if word.upper() in _UNSTEADY]:
        raise TBoxError(
            f"calls {unsteady[0]}, which is not deterministic",
            where=(tbox.name, f"rule {name}"),
            hint="Compute the value from the state and $tick",
        )
    return queries[0].value


def _targets(tbox: RuleSource, shape: Term) -> Iterator[tuple[str, Term]]:
    for kind in _TARGETS:
        quads = tbox.store.quads_for_pattern(shape, _sh(kind), None)  # pyright: ignore[reportArgumentType]
        yield from ((kind, quad.object) for quad in quads)
    classes = (
        (q.object for q in tbox.store.quads_for_pattern(shape, RDF_TYPE, None))
        if isinstance(shape, ox.NamedNode)
        else ()
    )
    if any(isinstance(kind, ox.NamedNode) and kind.value.endswith("#Class") for kind in classes):
        yield "targetClass", shape


def _prefixes(tbox: RuleSource) -> tuple[tuple[str, str], ...]:
    declared = tbox.store.query(
        f"SELECT ?p ?n WHERE {{ ?d <{SHACL}prefix> ?p ; <{SHACL}namespace> ?n }} ORDER BY ?p ?n"
    )
    named = {p.value: n.value for p, n in declared}  # pyright: ignore
    return tuple(sorted({**tbox.prefixes, **named}.items()))
