"""Likely mistakes in a TBox: rules that cannot fire, rules that undo an intervention.

Nothing here runs a rule. A finding is a reason to look, and its absence is no proof.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import pyoxigraph as ox

from substrate.base.vocabulary import AWARE_OF, EXOGENOUS, LOCATION, RDF_TYPE
from substrate.rules._known_terms import iris
from substrate.sparql.tokens import tokens

if TYPE_CHECKING:
    from substrate.rules.fixpoint import Rule
    from substrate.rules.tbox import TBox


class Finding(NamedTuple):
    """A finding: its kind (``unfirable`` or ``undoing``), the rule, and why.

    >>> str(Finding("undoing", "tell", "gives back what was taken"))
    'rule tell: gives back what was taken'
    """

    kind: str
    rule: str
    why: str

    def __str__(self) -> str:
        return f"rule {self.rule}: {self.why}"


def lint(tbox: TBox) -> list[Finding]:
    """Rules that cannot fire, and rules that undo an intervention, in the order of the rules.

    A rule cannot fire where it asks for a property or class that is declared nowhere in the TBox, stands in
    no individual of it, and is given by no rule. A rule undoes an intervention where it gives a property of
    place or awareness on no ground that passes (neither ``$tick`` nor a condition of absence): what is
    retracted it gives back in the same tick.

    >>> from substrate.rules.tbox import TBox
    >>> lint(TBox.load("village"))
    []
    """
    given = _declared(tbox)
    for rule in tbox.rules:
        given |= iris(_template(rule.construct or ""), dict(rule.prefixes))
    felt = {term.value for upper in (LOCATION, AWARE_OF) for term in tbox.below(upper)}
    return [finding for rule in tbox.rules for finding in _of_rule(rule, given, felt)]


def _declared(tbox: TBox) -> set[str]:
    """Terms that a log of the TBox may hold: declared as a class or property, or used by an individual."""
    found = {quad.predicate.value for quad in tbox.quads}
    for quad in tbox.quads:
        if quad.predicate in (RDF_TYPE, EXOGENOUS) and isinstance(quad.subject, ox.NamedNode):
            found.add(quad.subject.value)
        if quad.predicate == RDF_TYPE and isinstance(quad.object, ox.NamedNode):
            found.add(quad.object.value)
    return found | {RDF_TYPE.value}


def _of_rule(rule: Rule, given: set[str], felt: set[str]) -> Iterator[Finding]:
    for query in filter(None, (rule.construct, rule.retract)):
        asked = _demanded(query[len(_template(query)) + 1 :], dict(rule.prefixes))
        if missing := sorted(asked - given):
            yield Finding(
                "unfirable", rule.name, f"cannot fire: nothing gives <{missing[0]}>, which it asks for"
            )
            break
    construct = rule.construct or ""
    gives = iris(_template(construct), dict(rule.prefixes)) & felt
    words = {token.text.upper() for token in tokens(construct)}
    if gives and not rule.retract and not {"$TICK", "?TICK", "NOT"} & words:
        yield Finding(
            "undoing",
            rule.name,
            f"gives <{min(gives)}> whenever its condition holds: "
            "what an intervention retracts, it gives back",
        )


def _template(query: str) -> str:
    """A CONSTRUCT query up to its WHERE."""
    end = re.search(r"\}\s*WHERE\b", query, re.IGNORECASE)
    return query[: end.start()] if end else ""


def _demanded(where: str, prefixes: dict[str, str]) -> set[str]:
    """The properties and classes without which a condition cannot hold: none inside NOT EXISTS, OPTIONAL,
    UNION or MINUS, nor in a function's brackets.
    """
    found: set[str] = set()
    depth, free, before = 0, 0, ""
    verb = False
    for kind, token, _ in tokens(where):
        if token in "{(":
            depth += 1
            free = free or (depth if token == "(" or (depth > 1) else 0)
        elif token in "})":
            free = 0 if free == depth else free
            depth -= 1
        elif not free and kind in ("name", "iri") and depth == 1 and (verb or before == "a"):
            found |= iris(token, prefixes)
        # A property follows `;`, or the first term after `.`, a bracket or the beginning.
        verb = kind in ("variable", "name", "iri") and before in ("", ".", "{", "}", ")")
        verb = verb or token == ";"
        before = token
    return found
