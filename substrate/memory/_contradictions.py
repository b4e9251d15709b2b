"""The constraints of a TBox that an observation can contradict: a property's number and kind of objects, and
disjoint classes.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Literal, NamedTuple

import pyoxigraph as ox

from substrate.base.delta import Term, Triple
from substrate.base.vocabulary import RDF_TYPE, SUBCLASS
from substrate.log.state import State
from substrate.rules.limits import Limit, read_limit
from substrate.rules.tbox import TBox

# A memory's strategies for an observation that contradicts its facts
Contradictions = Literal["keep", "refuse", "end", "doubt"]

_PREFIXES = """
PREFIX core: <urn:substrate:>
PREFIX owl: <http://www.w3.org/2002/07/owl#>
PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>
PREFIX rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#>
"""
_RESTRICTIONS = """SELECT ?restriction ?property ?most {
  ?restriction owl:onProperty ?property ; owl:maxCardinality|owl:cardinality ?most FILTER isIRI(?property)
  ?class (rdfs:subClassOf|owl:equivalentClass)/(owl:intersectionOf/rdf:rest*/rdf:first)* ?restriction
}"""
_RANGES = "SELECT ?property ?kind { ?property rdfs:range ?kind FILTER isIRI(?kind) }"
_DISJOINT = """ASK {
  ?one rdfs:subClassOf* ?a . ?other rdfs:subClassOf* ?b . ?a owl:disjointWith|^owl:disjointWith ?b
}"""
_DEFEASIBLE = "SELECT ?property { ?property core:defeasible true }"
_XSD = "http://www.w3.org/2001/XMLSchema#"
_RDFS = "http://www.w3.org/2000/01/rdf-schema#"
_INTEGERS = {f"{_XSD}{kind}" for kind in ("integer", "decimal")}


class Clash(NamedTuple):
    """A contradiction.

    Attributes:
        others: the contradicted triples; none if only the TBox contradicts the observation.
        why: the reason, in words.
        against: the property or class of the TBox.
        excess: the number of the other triples that would have to go.
    """

    others: Sequence[Triple]
    why: str
    against: Term
    excess: int = 0


class Vocabulary:
    """A TBox's constraints that an observation can contradict."""

    def __init__(self, tbox: TBox) -> None:
        self._tbox = tbox
        self._disjoint: dict[tuple[Term, Term], bool] = {}

    @cached_property
    def defeasible(self) -> frozenset[Term]:
        """The properties whose records, without their last ground, are doubted instead of withdrawn."""
        return frozenset(row["property"] for row in self._rows(_DEFEASIBLE))

    def clashes(self, state: State, fact: Triple) -> list[Clash]:
        """The contradictions between a triple and a state."""
        subject, predicate, object_ = fact
        if predicate == RDF_TYPE:
            return self._of_classes(state, fact)
        clashes: list[Clash] = []
        limits = self._limits.get(predicate, ())
        if limits and fact not in state:
            others = sorted(state.match(subject, predicate), key=str)
            reached = (limit for limit in limits if len(others) >= limit.most)
            most = next((limit.most for limit in reached if self._applies(state, fact, limit)), None)
            if most is not None:
                has = ", ".join(str(other[2]) for other in others)
                objects = "one object" if most == 1 else f"at most {most} objects"
                why = f"{predicate} has {objects}, and {subject} has {has} already"
                clashes.append(Clash(others, why, predicate, len(others) - most + 1))
        kind = self._ranges.get(predicate)
        if kind is not None and not self._fits(state, object_, kind):
            clashes.append(Clash((), f"{predicate} has objects of {kind}, but {object_} is not one", kind))
        return clashes

    def _of_classes(self, state: State, fact: Triple) -> list[Clash]:
        held = sorted(state.match(fact[0], RDF_TYPE), key=str)
        disjoint = [other for other in held if self._are_disjoint(fact[2], other[2])]
        if not disjoint:
            return []
        names = ", ".join(str(other[2]) for other in disjoint)
        return [Clash(disjoint, f"{fact[0]} is {names}, which excludes {fact[2]}", fact[2], len(disjoint))]

    def _fits(self, state: State, object_: Term, kind: ox.NamedNode) -> bool:
        if kind.value.startswith(_XSD):
            if not isinstance(object_, ox.Literal):
                return False
            given = object_.datatype.value
            # An integer is also a decimal
            return given == kind.value or ({given, kind.value} <= _INTEGERS and given.endswith("integer"))
        if kind.value in (f"{_RDFS}Literal", f"{_RDFS}Resource"):
            return kind.value == f"{_RDFS}Resource" or isinstance(object_, ox.Literal)
        if isinstance(object_, ox.Literal):
            return False
        held = [] if isinstance(object_, ox.Triple) else state.match(object_, RDF_TYPE)
        return not any(self._are_disjoint(kind, other) for *_, other in held)

    def _are_disjoint(self, kind: Term, other: Term) -> bool:
        if (kind, other) not in self._disjoint:
            given = {ox.Variable("one"): kind, ox.Variable("other"): other}
            answer = self._tbox.store.query(_PREFIXES + _DISJOINT, substitutions=given)
            self._disjoint[kind, other] = bool(answer)
        return self._disjoint[kind, other]

    def _applies(self, state: State, fact: Triple, limit: Limit) -> bool:
        """Tell whether a limit is one of a fact's subject; a subject without a class may have any class."""
        subject, predicate, _ = fact
        classes = [class_ for *_, class_ in state.match(subject, RDF_TYPE)]
        for class_ in classes:
            classes += [upper for *_, upper in state.match(class_, SUBCLASS) if upper not in classes]  # type: ignore[arg-type]
        return not limit.targets or any(
            (kind == "targetNode" and subject == term)
            or (kind == "targetSubjectsOf" and (predicate == term or any(state.match(subject, term))))  # type: ignore[arg-type]
            or (kind == "targetObjectsOf" and any(state.match(None, term, subject)))  # type: ignore[arg-type]
            or (kind == "targetClass" and (not classes or not self._tbox.below(term).isdisjoint(classes)))  # type: ignore[arg-type]
            for kind, term in limit.targets
        )

    @cached_property
    def _limits(self) -> dict[Term, list[Limit]]:
        tbox, limits, given = self._tbox, dict[Term, list[Limit]](), list(self._tbox.limits)
        for restriction, property_, number in self._rows(_RESTRICTIONS):
            most = read_limit(tbox.name, tbox.store, restriction, "a cardinality", number)
            given.append(Limit(property_, most, ()))  # type: ignore[arg-type]
        for limit in sorted(given, key=lambda limit: limit.most):
            limits.setdefault(limit.property, []).append(limit)
        return limits

    @cached_property
    def _ranges(self) -> dict[Term, ox.NamedNode]:
        return {row["property"]: row["kind"] for row in self._rows(_RANGES)}  # type: ignore[misc]

    def _rows(self, query: str) -> list[ox.QuerySolution]:
        solutions = self._tbox.store.query(_PREFIXES + query)
        assert isinstance(solutions, ox.QuerySolutions)
        return list(solutions)
