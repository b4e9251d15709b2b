"""A rule's queries, run by Oxigraph: their results, and the triples that they read."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache, lru_cache

import pyoxigraph as ox

from substrate.base.delta import Term
from substrate.base.vocabulary import RDF_TYPE
from substrate.rules.rule import Rule, iris_of, refused
from substrate.rules.tbox import TBox
from substrate.sparql.patterns import patterns_of
from substrate.sparql.tokens import tokens

# The variables and expressions between SELECT and its pattern
_PROJECTION = re.compile(r"\bSELECT\b(.*?)(?=\bWHERE\b|\{)", re.IGNORECASE | re.DOTALL)
# An expression in brackets, which stays as it is, or a variable of a rule, which is dropped
_PROJECTED = re.compile(r"\((?:[^()]|\([^()]*\))*\)|\s[?$](?P<name>this|tick)\b")


@lru_cache(256)
def watched(rule: Rule, tbox: TBox) -> frozenset[tuple[str | None, str | None]]:
    """The triples that a rule's queries and targets read, by predicate and object as in N-Triples (``None``
    fits any).
    """
    pairs: set[tuple[str | None, str | None]] = set()
    for query in rule.queries:
        patterns = patterns_of(query, rule.prefixes)
        pairs |= {(None, None)} if patterns is None else {(p.predicate, p.object) for p in patterns}
    for kind, term in rule.targets:
        if kind == "targetClass" and isinstance(term, ox.NamedNode):
            pairs |= {(str(RDF_TYPE), str(under)) for under in tbox.below(term)}
        elif kind != "targetNode":
            pairs.add((str(term), None))
    return frozenset(pairs)


_NAMING = re.compile(r"\bBIND\s*\((?P<value>[^{}]*?)\bAS\s+[?$](?P<name>\w+)\s*\)", re.IGNORECASE)


@lru_cache(256)
def ticking(rule: Rule) -> frozenset[ox.NamedNode] | None:
    """The properties whose value a rule compares with ``$tick``; ``None`` if it compares the tick otherwise.

    At every tick that is no value of such a property, the rule gives the same result. A rule that only names
    new nodes by the tick does not compare it.

    >>> from substrate.rules.tbox import TBox
    >>> by_rule = {rule.name: ticking(rule) for rule in TBox.load("village").rules}
    >>> by_rule["move"], len(by_rule["meet"]), len(by_rule["follow"])
    (None, 0, 1)
    """
    properties: set[ox.NamedNode] = set()
    prefixes = dict(rule.prefixes)
    for query in rule.queries:
        condition = query[query.find("}") :]  # all after the template of CONSTRUCT
        named = {match["name"] for match in _NAMING.finditer(condition) if "tick" in match["value"]}
        rest = _NAMING.sub(lambda match: "" if "tick" in match["value"] else match[0], condition)
        depth, before = 0, ("", "")
        for kind, text, _ in tokens(rest):
            depth += (text == "(") - (text == ")")
            if kind == "variable" and text[1:] == "tick" and not depth and before[0] in ("iri", "name"):
                properties |= {ox.NamedNode(iri) for iri in iris_of(before[1], prefixes)}
            elif kind == "variable" and text[1:] in ("tick", *named):
                return None
            before = kind, text
    return frozenset(properties)


def constructed(
    rule: Rule, query: str, tbox: TBox, store: ox.Store, tick: int, foci: Sequence[ox.NamedNode | None]
) -> dict[str, ox.Quad]:
    """Run a rule's query for some focus nodes; return its triples by their spelling.

    Raises:
        TBoxError: the query is not SPARQL, or it gives a blank node; names the rule.
    """
    by_spelling: dict[str, ox.Quad] = {}
    for focus in foci:
        try:
            triples = store.query(bind(query, tick, focus), prefixes=dict(rule.prefixes))
        except SyntaxError as error:
            raise refused(
                tbox.name, rule.name, f"not SPARQL ({error})", "Correct the rule in the TBox file"
            ) from error
        for triple in triples:  # pyright: ignore[reportGeneralTypeIssues]  # a CONSTRUCT query, by read_rules
            quad = ox.Quad(*triple)  # pyright: ignore
            if any(isinstance(end, ox.BlankNode) and not _occurs(end, store) for end in quad.triple):
                raise refused(
                    tbox.name, rule.name, "gives a blank node", "Name it: BIND(IRI(CONCAT(…)) AS ?node)"
                )
            by_spelling[str(quad)] = quad
    return by_spelling


def _occurs(node: ox.BlankNode, store: ox.Store) -> bool:
    return any(any(store.quads_for_pattern(*ends)) for ends in ((node, None, None), (None, None, node)))


def bind(query: str, tick: int, focus: ox.NamedNode | None) -> str:
    """Replace ``$tick`` and ``$this`` in a rule's query, as SHACL binds them before a query runs.

    Both variables also leave the projection of a subquery, since a value needs no projection.

    >>> query = 'CONSTRUCT { $this :at ?tick } WHERE { { SELECT $this ?p WHERE { $this :p ?p } } }'
    >>> bind(query, 3, ox.NamedNode("urn:a"))
    'CONSTRUCT { <urn:a> :at 3 } WHERE { { SELECT ?p WHERE { <urn:a> :p ?p } } }'
    """
    values = {"tick": str(tick)} | ({"this": str(focus)} if focus else {})
    parts = _parts(query, tuple(values))
    return "".join([values[part] if place % 2 else part for place, part in enumerate(parts)])


@cache
def _parts(query: str, names: tuple[str, ...]) -> tuple[str, ...]:
    """Cut a query at the variables of the given names: text and name alternate."""

    def project(match: re.Match[str]) -> str:
        rest = _PROJECTED.sub(lambda m: "" if m["name"] in names else m[0], match[1]).rstrip()
        return f"SELECT{rest if '?' in rest or '$' in rest or '*' in rest else rest + ' *'} "

    text = _PROJECTION.sub(project, query)
    parts, end = [], 0
    for kind, token, start in tokens(text):
        if kind == "variable" and token[1:] in names:
            parts += (text[end:start], token[1:])
            end = start + len(token)
    return (*parts, text[end:])


def focus_nodes(rule: Rule, tbox: TBox, store: ox.Store, tick: int) -> Sequence[ox.NamedNode | None]:
    """The focus nodes of a rule's shape, by IRI; a single ``None`` for a rule without a shape.

    Raises:
        TBoxError: a focus node has no IRI.
    """
    if not rule.targets:
        return [None]
    nodes: set[Term] = set()
    for kind, term in rule.targets:
        assert isinstance(term, ox.NamedNode)
        if kind == "targetClass":
            for under in tbox.below(term):
                nodes |= {quad.subject for quad in store.quads_for_pattern(None, RDF_TYPE, under)}
        elif kind == "targetNode":
            nodes.add(term)
        else:
            quads = store.quads_for_pattern(None, term, None)
            ends = (quad.subject if kind == "targetSubjectsOf" else quad.object for quad in quads)
            nodes |= {end for end in ends if isinstance(end, ox.NamedNode | ox.BlankNode)}
    if blank := sorted(str(node) for node in nodes if not isinstance(node, ox.NamedNode)):
        what, hint = f"its focus node {blank[0]} has no IRI", "Name the node by an IRI"
        raise refused(tbox.name, rule.name, what, hint, f"tick {tick}")
    return sorted((node for node in nodes if isinstance(node, ox.NamedNode)), key=str)
