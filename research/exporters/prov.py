"""Traces of numbers to their sources as PROV-O, for queries with SPARQL.

A cell is quoted from a publication, or derived from a number; a number is derived from its score's file. A
stage generated a file; it used files and parameters, with its code as plan. The output does not depend on
when or where it is made. ``prov.ttl.j2`` writes these statements in any order, with repeats.

https://www.w3.org/TR/prov-o/
"""

from __future__ import annotations

from collections.abc import Iterable
from importlib.metadata import version
from pathlib import Path
from urllib.parse import quote

import msgspec
import pyoxigraph as ox

from orchestration.base.templates import text_template
from orchestration.lineage.number import Lineage, Trace
from orchestration.settings import flattened
from substrate.base.files import replacing

BASE = "urn:substrate:"
AGENT = f"{BASE}software:event-graph-substrate"
PREFIXES = {
    "prov": "http://www.w3.org/ns/prov#",
    "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
    "schema": "https://schema.org/",
    "xsd": "http://www.w3.org/2001/XMLSchema#",
}


def file_iri(path: str) -> str:
    """The IRI of a file or folder of the project.

    >>> file_iri("artifacts/sample/tables/transfer.md")
    'urn:substrate:file:artifacts/sample/tables/transfer.md'
    """
    return f"{BASE}file:{quote(path)}"


def write_prov(lineage: Lineage, ways: Iterable[Trace], path: Path) -> None:
    """Write traces as Turtle; equal traces give equal bytes."""
    ways = list(ways)
    steps = {step.stage: step for way in ways for step in way.steps}
    paths = {path for step in steps.values() for path in (*step.inputs, *step.outs)}
    template = text_template(
        __file__,
        "prov.ttl.j2",
        lit=lambda value: str(ox.Literal(value)),
        file=lambda path, part="": f"<{file_iri(path)}{part}>",
        urn=lambda text, kind, part="": f"<{BASE}{kind}:{quote(text)}{part}>",
        hex=lambda digest: digest.removeprefix("sha256:"),
        json=lambda value: msgspec.json.encode(value).decode(),
        flattened=flattened,
    )
    text = template.render(
        prefixes=PREFIXES,
        agent=AGENT,
        version=version("event-graph-substrate"),
        ways=ways,
        profile=lineage.workspace.settings.profile,
        steps=steps.values(),
        folders={path for path in paths if lineage.workspace.path(path).is_dir()},
        sources={source.file.path: source for way in ways for source in way.sources}.values(),
    )
    triples = {quad.triple for quad in ox.parse(text, ox.RdfFormat.TURTLE)}
    turtle = ox.serialize(sorted(triples, key=str), format=ox.RdfFormat.TURTLE, prefixes=PREFIXES)
    with replacing(path) as fresh:
        fresh.write_bytes(turtle or b"")
