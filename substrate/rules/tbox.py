"""TBoxes: a domain's classes, predicates, shapes and rules in one Turtle file (paper, section 2)."""

from __future__ import annotations

import importlib.resources
from collections.abc import Iterable
from copy import copy
from functools import cached_property
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import TYPE_CHECKING

import pyoxigraph as ox

from substrate.base.arguments import path_of, require
from substrate.base.delta import Op, Term, Triple, triple_of
from substrate.base.errors import TBoxError
from substrate.base.extras import import_extra
from substrate.base.inputs import refusal
from substrate.base.rdflib_terms import rdflib_term
from substrate.base.turtle import read_turtle
from substrate.base.vocabulary import EXOGENOUS, RDF_TYPE, RDFS_LABEL, SUBCLASS, SUBPROPERTY
from substrate.log.event_log import EventLog
from substrate.log.state import State
from substrate.rules._known_terms import require_known_terms
from substrate.rules.limits import Limit, limits
from substrate.rules.rule import Rule, RuleSource, read_rules
from substrate.rules.validation import Result, Violation, results, violations
from substrate.sparql.tokens import require_shallow

if TYPE_CHECKING:
    import rdflib


def shipped_tboxes() -> Traversable:
    """The folder of the shipped TBoxes: inside an installed package, next to the package in a checkout.

    >>> (shipped_tboxes() / "village.ttl").is_file()
    True
    """
    package = importlib.resources.files("substrate")
    inside = package / "tboxes"
    return inside if inside.is_dir() else Path(str(package)).resolve().parent / "tboxes"


class TBox:
    """A TBox file: axioms, SHACL shapes and rules over a fixed vocabulary.

    >>> TBox.load("village").name
    'village'
    """

    def __init__(self, name: str, turtle: str) -> None:
        require(name, str, "a text", "name")
        require(turtle, str, "Turtle text", "turtle")
        self.name = name
        self.turtle = turtle
        self._below: dict[ox.NamedNode, frozenset[ox.NamedNode]] = {}
        self._names: dict[Term, set[str]] = {}
        require_shallow(turtle, TBoxError, name)
        try:
            self.quads, self.prefixes = read_turtle(turtle)
        except SyntaxError as error:
            raise TBoxError(f"not Turtle ({error})", where=(name,), hint="Correct the TBox file") from error
        require_known_terms(name, self.quads, self.prefixes)

    @classmethod
    def load(cls, source: str | Path) -> TBox:
        """Load a TBox that ships with the package, by name, or a TBox from a Turtle file.

        Raises:
            TBoxError: there is no such TBox, or it is not Turtle.
        """
        path = path_of(source)
        shipped = shipped_tboxes() / f"{source}.ttl"
        if path.suffix and (why := refusal(path)):
            raise TBoxError(why, where=(source,), hint="Give a Turtle file")
        try:
            return cls(path.stem, path.read_text("utf-8") if path.suffix else shipped.read_text("utf-8"))
        except (OSError, UnicodeDecodeError) as error:
            raise TBoxError(
                "no such TBox", where=(source,), hint="Give a Turtle file, or the name of a shipped TBox"
            ) from error

    @cached_property
    def graph(self) -> rdflib.Graph:
        """The TBox as an rdflib graph.

        Raises:
            TBoxError: it uses triple terms or other parts of RDF 1.2, which rdflib does not know.
        """
        import rdflib

        # Built from the triples: to read Turtle rdflib needs the current folder, which may no longer exist
        graph = rdflib.Graph()
        for quad in self.quads:
            nodes = tuple(rdflib_term(term) for term in triple_of(quad))
            if None in nodes:
                what = f"its shapes cannot be read ({quad.triple} has what rdflib does not know)"[:300]
                raise TBoxError(what, where=(self.name,), hint="Write the TBox in Turtle 1.1")
            graph.add(nodes)  # pyright: ignore[reportArgumentType]  # three terms in, three out
        return graph

    @cached_property
    def vocabulary(self) -> frozenset[str]:
        """Every IRI that is a subject in the TBox."""
        return frozenset(quad.subject.value for quad in self.quads if isinstance(quad.subject, ox.NamedNode))

    @cached_property
    def classes(self) -> frozenset[Term]:
        """The classes that it declares."""
        return frozenset(
            quad.subject
            for quad in self.quads
            if quad.predicate == RDF_TYPE
            and str(quad.object).endswith("#Class>")
            and isinstance(quad.subject, ox.NamedNode)
        )

    @cached_property
    def store(self) -> ox.Store:
        """The TBox's own triples, to query."""
        store = ox.Store()
        store.extend(self.quads)
        return store

    @cached_property
    def rules(self) -> tuple[Rule, ...]:
        """The TBox's rules in the order in which they are applied; see :mod:`substrate.rules.rule`."""
        return read_rules(RuleSource(self.name, self.prefixes, self.store, self.classes, self.label))

    @cached_property
    def exogenous(self) -> frozenset[Term]:
        """The properties and classes that are given from outside: no rule derives them."""
        return frozenset(
            quad.subject
            for quad in self.quads
            if quad.predicate == EXOGENOUS and quad.object == ox.Literal(True)
        )

    @cached_property
    def functional(self) -> frozenset[ox.NamedNode]:
        """The properties that have one object at a time: an ``owl:FunctionalProperty``, or the path of an
        active shape with ``sh:maxCount 1``, whatever the shape's class; see :attr:`limits`.

        >>> ox.NamedNode("urn:substrate:village:at") in TBox.load("village").functional
        True
        """
        return frozenset(
            limit.property
            for limit in self.limits
            if limit.most == 1 and {kind for kind, _ in limit.targets} != {"targetNode"}
        )

    @cached_property
    def limits(self) -> list[Limit]:
        """The most objects that a property has at a time: one of an ``owl:FunctionalProperty``, and those of
        active shapes.

        ``sh:maxCount`` counts in a shape with a target, in the shapes of its ``sh:node``, and in the members
        of its ``sh:and``; inside ``sh:not``, ``sh:or`` or ``sh:xone`` it sets no limit.

        Raises:
            TBoxError: a limit is no whole number; names the shape.

        >>> {limit.most for limit in TBox.load("village").limits}
        {1}
        """
        return limits(self.name, self.store, self.classes)

    def below(self, term: ox.NamedNode) -> frozenset[ox.NamedNode]:
        """A class or property and all its descendants by ``rdfs:subClassOf`` or ``rdfs:subPropertyOf``.

        >>> from substrate.base.vocabulary import LOCATION
        >>> sorted(term.value for term in TBox.load("village").below(LOCATION))
        ['urn:substrate:location', 'urn:substrate:village:at']
        """
        if term in self._below:
            return self._below[term]
        below = {term}
        queue = [term]
        while queue:
            upper = queue.pop()
            for relation in (SUBCLASS, SUBPROPERTY):
                for quad in self.store.quads_for_pattern(None, relation, upper):
                    if isinstance(quad.subject, ox.NamedNode) and quad.subject not in below:
                        below.add(quad.subject)
                        queue.append(quad.subject)
        return self._below.setdefault(term, frozenset(below))

    def label(self, term: Term) -> str:
        """A term's name: its ``rdfs:label`` in the TBox, else in the log (:meth:`naming`), else the last part
        of its IRI.

        >>> TBox("t", "<urn:t:Flu> a <urn:t:Illness> .").label(ox.NamedNode("urn:t:Flu"))
        'Flu'
        """
        if isinstance(term, ox.Triple):
            return " ".join(map(self.label, (term.subject, term.predicate, term.object)))
        if not isinstance(term, ox.NamedNode):
            return term.value
        labels = sorted(
            q.object.value
            for q in self.store.quads_for_pattern(term, RDFS_LABEL, None)
            if isinstance(q.object, ox.Literal)
        )
        labels = labels or sorted(self._names.get(term, ()))
        return labels[0] if labels else term.value.replace("#", ":").replace("/", ":").rsplit(":", 1)[-1]

    def naming(self, log: EventLog) -> TBox:
        """This TBox, which also knows the labels that a log gives to its own entities.

        >>> log = EventLog()
        >>> log.extend_lines([(0, 'A <urn:t:ann> <http://www.w3.org/2000/01/rdf-schema#label> "Ann" .')])
        >>> TBox("t", "").naming(log).label(ox.NamedNode("urn:t:ann"))
        'Ann'
        """
        named = copy(self)
        named._names = {}
        for op, quad in log.changes():
            if quad.predicate == RDFS_LABEL and op is Op.INSERT and isinstance(quad.object, ox.Literal):
                named._names.setdefault(quad.subject, set()).add(quad.object.value)
        return named

    def opening(self) -> EventLog:
        """The TBox's initial ABox, the paper's A0, as tick 0 of a log: its individuals and the triples about
        them.

        Every node with a class that the TBox declares is an individual; classes, properties, shapes and
        rules are not.

        >>> len(TBox.load("village").opening().state(0)) > 20
        True
        """
        individuals = {q.subject for q in self.quads if q.predicate == RDF_TYPE and q.object in self.classes}
        log = EventLog()
        log.extend_lines(
            (0, f"A {line} .") for line in sorted({str(q) for q in self.quads if q.subject in individuals})
        )
        log.opening = len(log)
        return log

    def validate(self, state: State, log: EventLog | None = None) -> list[Violation]:
        """The sorted violations of the shapes in a state; empty if the state conforms.

        Shapes see a triple term as an opaque node.

        Args:
            state: the ABox to check.
            log: the state's log; with it, each violation names the delta behind it.

        Raises:
            MissingExtraError: the extra ``shacl`` is not installed.
            TBoxError: a shape cannot be checked; names the shape and the fault.
        """
        return violations(self.results(state), state.tick, log)

    def results(self, triples: Iterable[Triple]) -> list[Result]:
        """The shapes' violations in a state, each with its shape; errors as :meth:`validate`."""
        import_extra("pyshacl")  # before the graph, which needs rdflib: the extra has both
        return results(triples, self.graph, self.name)
