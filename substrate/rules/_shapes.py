"""Check shapes with pyshacl; an error names a shape that cannot be checked."""

from __future__ import annotations

import logging
import re
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

import pyoxigraph as ox

from substrate.base.delta import Term
from substrate.base.errors import TBoxError
from substrate.base.extras import import_extra

if TYPE_CHECKING:
    import rdflib
    from rdflib.term import Node

_HINT = "Correct the shape"


class Result(NamedTuple):
    """A violation in N-Triples, its shape, the triple that breaks it, and its mark.

    Two results with one mark are one violation: the same constraint at the same node, whose path has the same
    values.
    """

    focus: str
    path: str
    value: str
    message: str
    shape: str
    triple: tuple[Term | None, Term | None, ox.NamedNode | None]
    mark: object


def results(data: rdflib.Graph, shapes: rdflib.Graph, terms: Mapping[Node, Term], name: str) -> list[Result]:
    """A graph's violations of shapes.

    Args:
        data: the graph.
        shapes: the shapes.
        terms: the terms of the graph's nodes.
        name: the TBox's name in an error.

    Raises:
        TBoxError: a shape has a value that its datatype does not allow, refers to itself, or is not valid
            SHACL; the error names the shape and the fault.
    """
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
        return Result(
            texts[0],
            f"{'^' if inverse is not None else ''}{named or ''}",
            texts[1],
            str(message or "breaks a shape"),
            _named(shapes, report.value(result, SH.sourceShape)),
            (subject, object_, named),
            (
                focus,
                value,
                path if named else None,
                component,
                message,
                frozenset(values if named else ()),
                details,
            ),
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
def quiet() -> Iterator[None]:
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
