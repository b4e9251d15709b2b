"""A rule's queries run by Oxigraph on a state, for what is not joined in this room (:mod:`.premises`)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

import pyoxigraph as ox

from substrate.base.delta import Term
from substrate.base.errors import TBoxError
from substrate.base.vocabulary import RDF_TYPE
from substrate.log.state import State
from substrate.rules.rule import Rule
from substrate.rules.tbox import TBox
from substrate.sparql.tokens import tokens

_PROJECTION = re.compile(r"\bSELECT\b(.*?)(?=\bWHERE\b|\{)", re.IGNORECASE | re.DOTALL)
_PROJECTED = re.compile(r"\((?:[^()]|\([^()]*\))*\)|\s[?$](?P<name>this|tick)\b")


def constructed(rule: Rule, query: str, tbox: TBox, state: State, tick: int) -> set[str]:
    """The triples that a rule's query gives, spelled as in N-Triples.

    Raises:
        TBoxError: the query is not SPARQL, or it gives a blank node; names the rule.
    """
    foci = focus_nodes(rule, tbox, state) if rule.targets else [None]
    return {text for focus in foci for text in _construct(rule, tbox, state, bind(query, tick, focus))}


def _construct(rule: Rule, tbox: TBox, state: State, query: str) -> Iterator[str]:
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
            yield str(quad)
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
    for kind, token, start in tokens(text):
        if kind == "variable" and token[1:] in names:
            parts += (text[end:start], token[1:])
            end = start + len(token)
    return (*parts, text[end:])


def focus_nodes(rule: Rule, tbox: TBox, state: State) -> list[ox.NamedNode]:
    """The nodes that a rule's shape is about, by IRI.

    Raises:
        TBoxError: one of them has no IRI.
    """
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
