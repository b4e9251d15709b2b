"""Find likely mistakes in a TBox: rules that cannot fire, and rules that undo an intervention.

The check does not run the rules. A finding is a reason to look; no finding is no proof.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

import pyoxigraph as ox

from substrate.base.vocabulary import AWARE_OF, LOCATION, RDF_TYPE
from substrate.rules.rule import Rule, iris_of
from substrate.rules.tbox import TBox
from substrate.sparql.patterns import patterns_of
from substrate.sparql.tokens import tokens


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

    A rule cannot fire if it needs a property or class that occurs in no triple of the TBox and in no rule's
    result. A rule undoes an intervention if it gives a property of place or awareness on lasting conditions
    only, with neither ``$tick`` nor a condition of absence: in the same tick it restores what the
    intervention retracts.

    >>> from substrate.rules.tbox import TBox
    >>> lint(TBox.load("village"))
    []
    """
    given = {term.value for quad in tbox.quads for term in quad.triple if isinstance(term, ox.NamedNode)}
    given.add(RDF_TYPE.value)
    for rule in tbox.rules:
        given |= iris_of(_template(rule.construct or ""), dict(rule.prefixes))
    changeable = {term.value for upper in (LOCATION, AWARE_OF) for term in tbox.below(upper)}
    return [finding for rule in tbox.rules for finding in _of_rule(rule, given, changeable)]


def _of_rule(rule: Rule, given: set[str], changeable: set[str]) -> Iterator[Finding]:
    for query in rule.queries:
        if missing := sorted(_demanded(query, rule.prefixes) - given):
            why = f"cannot fire: nothing gives <{missing[0]}>, which it asks for"
            yield Finding("unfirable", rule.name, why)
            break
    construct = rule.construct or ""
    gives = iris_of(_template(construct), dict(rule.prefixes)) & changeable
    words = {token.text.upper() for token in tokens(construct)}
    if gives and not rule.retract and not {"$TICK", "?TICK", "NOT"} & words:
        why = "whenever its condition holds: what an intervention retracts, it gives back"
        yield Finding("undoing", rule.name, f"gives <{min(gives)}> {why}")


_INSIDE = re.compile(
    r"(?:\b(?:FILTER|NOT|EXISTS|OPTIONAL|MINUS|UNION)\s*)*(?:\{[^{}]*\}|\([^()]*\))", re.IGNORECASE
)


def _demanded(query: str, prefixes: tuple[tuple[str, str], ...]) -> set[str]:
    """The properties and classes without which a condition cannot hold.

    Nested groups (NOT EXISTS, OPTIONAL, UNION, MINUS) and a function's arguments do not count.
    """
    condition = query[query.find("{", len(_template(query)) + 1) + 1 : query.rfind("}")]
    # Each pass removes the innermost brackets; stop when a pass removes none
    while condition != (condition := _INSIDE.sub(" ", condition)):
        pass
    patterns = patterns_of(f"ASK {{ {condition} }}", prefixes) or ()
    named = {pattern.predicate for pattern in patterns} | {
        pattern.object for pattern in patterns if pattern.predicate == str(RDF_TYPE)
    }
    return {name[1:-1] for name in named if name}


def _template(query: str) -> str:
    """A CONSTRUCT query up to its WHERE."""
    end = re.search(r"\}\s*WHERE\b", query, re.IGNORECASE)
    return query[: end.start()] if end else ""
