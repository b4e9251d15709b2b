"""TBoxes: a domain's classes, predicates and shapes in one Turtle file, and validation against them."""

from __future__ import annotations

import importlib.resources
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import pyshacl
import rdflib
from rdflib.namespace import SH

from substrate.errors import TBoxError
from substrate.log import EventLog
from substrate.replay import State


class Violation(NamedTuple):
    """One broken shape: the focus node, the path and value that break it, what the shape says."""

    focus: str
    path: str
    value: str
    message: str
    tick: int | None = None
    """Tick of the delta that introduced the offending triple, where a log was given."""

    def __str__(self) -> str:
        place = " ".join(filter(None, (self.focus, self.path, self.value)))
        return f"{place}: {self.message}" + (f" (introduced at tick {self.tick})" if self.tick is not None else "")


class TBox:
    """A TBox file: axioms and SHACL shapes over a fixed vocabulary.

    >>> TBox.load("clevrer").name
    'clevrer'
    """

    def __init__(self, name: str, turtle: str) -> None:
        self.name = name
        self.turtle = turtle
        try:
            self.graph = rdflib.Graph().parse(data=turtle, format="turtle")
        except SyntaxError as error:
            raise TBoxError(f"not Turtle ({error})", where=(name,), hint="Correct the TBox file") from error

    @classmethod
    def load(cls, source: str | Path) -> TBox:
        """A TBox by the name of one that ships with the package, or from a Turtle file.

        Raises:
            TBoxError: there is no such TBox, or it is not Turtle.
        """
        path = Path(source)
        shipped = importlib.resources.files("tboxes") / f"{source}.ttl"
        try:
            return cls(path.stem, path.read_text("utf-8") if path.suffix else shipped.read_text("utf-8"))
        except OSError as error:
            raise TBoxError("no such TBox", where=(source,), hint="Give a Turtle file, or the name of a shipped TBox") from error

    @cached_property
    def vocabulary(self) -> frozenset[str]:
        """Every IRI the TBox is the subject of."""
        return frozenset(str(subject) for subject in self.graph.subjects() if isinstance(subject, rdflib.URIRef))

    def validate(self, state: State, log: EventLog | None = None) -> list[Violation]:
        """What in a state breaks the shapes, sorted; empty where it conforms.

        Args:
            state: the ABox to check.
            log: the log it came from; each violation then names the tick of the delta behind it.
        """
        # SHACL runs on an rdflib graph: over an Oxigraph store pyshacl is quadratic in violations and misreads sh:in.
        data = rdflib.Graph().parse(data=state.nquads(), format="nt")
        conforms, report, _ = pyshacl.validate(data, shacl_graph=self.graph, ont_graph=self.graph, advanced=True, inplace=True)
        if conforms or not isinstance(report, rdflib.Graph):
            return []
        return sorted(self._violation(report, result, log) for result in report.objects(None, SH.result))

    def _violation(self, report: rdflib.Graph, result: rdflib.term.Node, log: EventLog | None) -> Violation:
        focus, path, value = (report.value(result, p) for p in (SH.focusNode, SH.resultPath, SH.value))
        message = str(report.value(result, SH.resultMessage) or "breaks a shape")
        text = [term.n3() if isinstance(term, rdflib.term.Identifier) else "" for term in (focus, path, value)]
        tick = _introduced(log, *text) if log else None
        return Violation(*text, message, tick)


def _introduced(log: EventLog, *terms: str) -> int | None:
    """The tick of the last insertion whose triple holds all the given terms."""
    wanted = [term for term in terms if term]
    found = None
    for tick, op, triple in log:
        if op.value == "A" and all(term in map(str, triple) for term in wanted):
            found = tick
    return found


def require_conformance(violations: Iterable[Violation], where: str) -> None:
    """Raise where there are violations.

    Raises:
        TBoxError: names the first five and counts the rest.
    """
    if found := list(violations):
        shown = "; ".join(map(str, found[:5])) + (f"; and {len(found) - 5} more" if len(found) > 5 else "")
        raise TBoxError(shown, where=(where,), hint="Correct the deltas named, or the TBox")
