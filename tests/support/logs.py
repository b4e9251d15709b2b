"""Event logs that tests write line by line, and TBoxes by their Turtle."""

from __future__ import annotations

from collections.abc import Iterable

from substrate import EventLog, TBox, unfold

PREFIXES = """
@prefix core: <urn:substrate:> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> . @prefix sh: <http://www.w3.org/ns/shacl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
"""


def log_of(lines: Iterable[tuple[int, str]]) -> EventLog:
    """A log of lines of RDF Patch, each with its tick."""
    log = EventLog()
    log.extend_lines(lines)
    return log


def box_of(turtle: str, base: str = "urn:t:", name: str = "t") -> TBox:
    """A TBox whose own names have the empty prefix."""
    return TBox(name, f"{PREFIXES}@prefix : <{base}> .\n{turtle}")


def unfolded(name: str, until: int) -> tuple[TBox, EventLog]:
    """A shipped TBox, and the log that its rules unfold from its own opening up to a tick."""
    box = TBox.load(name)
    return box, unfold(box, box.opening(), until=until)
