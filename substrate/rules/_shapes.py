"""Check shapes with pyshacl; an error names a shape that cannot be checked."""

from __future__ import annotations

import logging
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from substrate.base.errors import TBoxError
from substrate.base.extras import needed

if TYPE_CHECKING:
    import rdflib

_HINT = "Correct the shape"


def report_on(data: rdflib.Graph, shapes: rdflib.Graph, name: str) -> rdflib.Graph | None:
    """Report a graph's violations of shapes; ``None`` if there are none.

    Args:
        data: the graph.
        shapes: the shapes.
        name: the TBox's name in an error.

    Raises:
        TBoxError: a shape has a value that its datatype does not allow, refers to itself, or is not valid
            SHACL; the error names the shape and the fault.
    """
    from rdflib import Graph, Literal

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
    return report if isinstance(report, Graph) else None


def _checked(data: rdflib.Graph, shapes: rdflib.Graph, **only: Any) -> Any:
    pyshacl, errors = needed("pyshacl"), needed("pyshacl.errors")
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
