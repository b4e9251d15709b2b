"""Validate a state with pyshacl: the verdict on every shape, whatever parts of SHACL the shape uses.

:mod:`substrate.rules.shapes` asks pyshacl only where its own fast check cannot judge a change. pyshacl works
on graphs of rdflib, so terms are converted there and back. If pyshacl fails, the error names the shape.
"""

from __future__ import annotations

import logging
import re
import warnings
from collections.abc import Hashable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

import pyoxigraph as ox

from substrate.base.delta import Op, Term, Triple
from substrate.base.errors import TBoxError
from substrate.base.extras import import_extra
from substrate.base.rdflib_terms import rdflib_term
from substrate.log.event_log import EventLog

if TYPE_CHECKING:
    import rdflib
    from rdflib.term import Node

_HINT = "Correct the shape"


class Violation(NamedTuple):
    """A broken shape: the focus node, the path and value that break it, the shape's message.

    Terms are written as in N-Triples; a term that the shape does not name is empty.

    >>> str(Violation("<urn:ann>", "<urn:at>", "<urn:cafe>", "is at two places", 4))
    '<urn:ann> <urn:at> <urn:cafe>: is at two places (introduced at tick 4)'
    """

    focus: str
    path: str
    value: str
    message: str
    tick: int | None = None
    """Tick of the delta that introduced the offending triple, if a log was given."""
    position: int | None = None
    """That delta's position in the log."""

    def __str__(self) -> str:
        place = " ".join(filter(None, (self.focus, self.path, self.value)))
        when = f" (introduced at tick {self.tick})" if self.tick is not None else ""
        return f"{place}: {self.message}{when}"


class Result(NamedTuple):
    """A violation, its shape, the triple that breaks the shape as far as known, and its mark.

    Two results with one mark are one violation: the same constraint at the same node, whose path has the same
    values.
    """

    violation: Violation
    shape: str
    subject: Term | None
    predicate: ox.NamedNode | None
    object: Term | None
    mark: Hashable


def results(triples: Iterable[Triple], tbox: rdflib.Graph, name: str) -> list[Result]:
    """The violations of a TBox's shapes in a state.

    Args:
        triples: the state.
        tbox: the TBox's graph, with the shapes.
        name: the TBox's name in an error.

    Raises:
        TBoxError: a shape has a value that its datatype does not allow, refers to itself, or is not valid
            SHACL; the error names the shape and the fault.
    """
    import rdflib
    from rdflib.namespace import SH

    # SHACL runs on an rdflib graph: over an Oxigraph store pyshacl is quadratic in violations and
    # misreads sh:in.
    terms: dict[Node, Term] = {}
    data, shapes = rdflib.Graph(), rdflib.Graph()
    with _quiet():
        for triple in sorted(triples, key=lambda t: str(ox.Quad(*t))):
            # Three terms in, three out
            data.add(tuple(_rdflib(term, terms) for term in triple))  # pyright: ignore[reportArgumentType]
        for triple in tbox:
            if triple[1] != SH.rule:
                shapes.add(triple)
        return _results(data, shapes, terms, name)


def _rdflib(term: Term, terms: dict[Node, Term]) -> Node:
    """Convert a term to rdflib's; ``terms`` maps it back."""
    import rdflib

    node = rdflib_term(term)
    if node is None:
        fresh = rdflib.URIRef("urn:substrate:triple-term:" + str(len(terms)))
        node = next((known for known, original in terms.items() if original == term), fresh)
    terms[node] = term
    return node


def _results(data: rdflib.Graph, shapes: rdflib.Graph, terms: Mapping[Node, Term], name: str) -> list[Result]:
    """The violations of shapes in a graph; ``terms`` has the terms of the graph's nodes."""
    from rdflib import BNode, Graph, Literal, URIRef
    from rdflib.namespace import SH

    for subject, _, value in shapes:
        if isinstance(value, Literal) and value.ill_typed:
            what = f"{value.n3()} is not a value of its datatype"
            raise TBoxError(what, where=(name, f"shape {_named(shapes, subject)}"), hint=_HINT)
    try:
        report = _checked(data, shapes)
    except Exception as error:
        shape, fault = next(_faults(data, shapes), ("", error))
        # If a shape refers to itself, only the error's text names it
        shape = shape or next(iter(re.findall(r"<NodeShape ([^>\s]+)>", str(error))), "")
        what = str(fault).strip().split("\n")[0].removeprefix("Warning, ").rstrip(".")
        where = (name, f"shape <{shape}>" if shape else "shapes")
        raise TBoxError(f"cannot be checked ({what})", where=where, hint=_HINT) from error
    if not isinstance(report, Graph):
        return []

    def read(result: Node) -> Result:
        properties = (SH.focusNode, SH.value, SH.resultPath, SH.resultMessage, SH.sourceConstraintComponent)
        focus, value, path, message, component = (report.value(result, word) for word in properties)
        inverse = report.value(path, SH.inversePath) if isinstance(path, BNode) else None
        predicate = inverse or path
        named = ox.NamedNode(str(predicate)) if isinstance(predicate, URIRef) else None
        ends = [terms.get(term) if term is not None else None for term in (focus, value)]
        # A node of the shapes, such as a target, may not be in the graph
        texts = [
            str(term) if term else node.n3() if node is not None else ""
            for term, node in zip(ends, (focus, value), strict=True)
        ]
        subject, object_ = ends if inverse is None else ends[::-1]
        values = data.objects(focus, path) if inverse is None else data.subjects(inverse, focus)
        details = frozenset(read(detail).mark for detail in report.objects(result, SH.detail))
        path_text = f"{'^' if inverse is not None else ''}{named or ''}"
        return Result(
            Violation(texts[0], path_text, texts[1], str(message or "breaks a shape")),
            _named(shapes, report.value(result, SH.sourceShape)),
            subject,
            named,
            object_,
            (focus, value, named and path, component, message, frozenset(values if named else ()), details),
        )

    return [read(result) for result in report.objects(None, SH.result)]


def _checked(data: rdflib.Graph, shapes: rdflib.Graph, **only: Any) -> Any:
    pyshacl, errors = import_extra("pyshacl"), import_extra("pyshacl.errors")
    with warnings.catch_warnings():
        warnings.simplefilter("error", errors.ShapeRecursionWarning)
        conforms, report, _ = pyshacl.validate(
            data, shacl_graph=shapes, ont_graph=shapes, advanced=True, inplace=True, **only
        )
    if isinstance(report, Exception):
        raise report
    return None if conforms else report


def _faults(data: rdflib.Graph, shapes: rdflib.Graph) -> Iterator[tuple[str, Exception]]:
    """Check shapes one at a time; give the shapes on which pyshacl fails."""
    from rdflib import RDF, URIRef
    from rdflib.namespace import SH

    for shape in sorted(
        shape for shape in shapes.subjects(RDF.type, SH.NodeShape) if isinstance(shape, URIRef)
    ):
        try:
            _checked(data, shapes, use_shapes=[shape])
        except Exception as error:
            yield str(shape), error


def _named(shapes: rdflib.Graph, node: Any) -> str:
    """The IRI of the shape that a node belongs to."""
    from rdflib import BNode

    seen = set[Any]()
    while isinstance(node, BNode) and node not in seen:
        seen.add(node)
        node = next(shapes.subjects(None, node), node)
    return node.n3()


@contextmanager
def _quiet() -> Iterator[None]:
    """Silence rdflib about malformed literals, and pyshacl about faults that our error reports."""
    logs = [logging.getLogger(name) for name in ("rdflib.term", "pyshacl-validate")]
    before = [log.disabled for log in logs]
    try:
        for log in logs:
            log.disabled = True
        yield
    finally:
        for log, disabled in zip(logs, before, strict=True):
            log.disabled = disabled


def violations(results: Iterable[Result], tick: int, log: EventLog | None) -> list[Violation]:
    """The violations of a state at a tick, sorted; with the state's log, each names the delta behind it."""
    listed: list[Violation] = []
    for result in results:
        position = None if log is None else _introduced(log, tick, result)
        when = None if log is None or position is None else log[position].tick
        listed.append(result.violation._replace(tick=when, position=position))
    return sorted(listed, key=lambda v: (v.focus, v.path, v.value, v.message))


def _introduced(log: EventLog, tick: int, result: Result) -> int | None:
    """Find the position of the delta behind a violation.

    It is the last insertion of the offending triple. If the shape names no value, or no such triple exists,
    it is the focus node's last change by the predicate, or else its last change of any kind.
    """
    best: tuple[int, int] = -1, -1
    for position, (op, quad) in enumerate(log.changes(0, log.position(tick))):
        ends = quad.subject, quad.object
        if result.subject in ends or (result.object is not None and result.object in ends):
            exact = op is Op.INSERT and ends == (result.subject, result.object)
            # Rank 2: the triple itself; 1: the predicate at an end; 0: another triple at an end
            best = max(best, ((1 + exact) * (quad.predicate == result.predicate), position))
    return best[1] if best[0] >= 0 else None
