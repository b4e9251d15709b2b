"""Traces of numbers to their sources as PROV-O, for queries with SPARQL.

A cell is quoted from a publication, or derived from a number; a number is derived from its score's file. A
stage generated a file; it used files and parameters, with its code as plan. The output does not depend on
when or where it is made. ``prov.ttl.j2`` writes these statements in any order, with repeats;
:func:`write_prov` sorts them. The stage that :func:`prov_stage` declares writes them for all numbers.

https://www.w3.org/TR/prov-o/
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any
from urllib.parse import quote

import msgspec
import pyoxigraph as ox

from orchestration.base.templates import text_template
from orchestration.benchmarks.benchmark import Benchmark
from orchestration.lineage.number import Lineage, Trace, trace_number
from orchestration.settings import flattened
from orchestration.stage import Stage
from orchestration.workspace.folders import Workspace
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


def write_prov(lineage: Lineage, traces: Iterable[Trace], path: Path) -> None:
    """Write traces as Turtle; equal traces give equal bytes."""
    traces = list(traces)
    steps = {step.stage: step for trace in traces for step in trace.steps}
    files = {file for step in steps.values() for file in (*step.inputs, *step.outs)}
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
        traces=traces,
        profile=lineage.workspace.settings.profile,
        steps=steps.values(),
        folders={file for file in files if lineage.workspace.path(file).is_dir()},
        sources={source.file.path: source for trace in traces for source in trace.sources}.values(),
    )
    triples = {quad.triple for quad in ox.parse(text, ox.RdfFormat.TURTLE)}
    turtle = ox.serialize(sorted(triples, key=str), format=ox.RdfFormat.TURTLE, prefixes=PREFIXES)
    with replacing(path) as fresh:
        fresh.write_bytes(turtle or b"")


def prov_stage(benchmarks: Sequence[Benchmark], described: Sequence[Stage]) -> Stage:
    """The provenance of all numbers of some benchmarks, made by some stages."""
    keys = tuple(sorted({key for stage in described for key in stage.parameters}))
    return Stage(
        "provenance/prov",
        ("artifacts/{profile}/provenance/prov.ttl",),
        partial(make_provenance, tuple(benchmarks), tuple(described)),
        "The way of every number to its sources, as PROV-O for SPARQL.",
        needs=tuple(stage.name for stage in described),
        parameters=keys,
        describes=tuple(described),
        kinds=("rdf",),
        pinned_by="nothing",
    )


def make_provenance(
    benchmarks: Sequence[Benchmark], described: Sequence[Stage], workspace: Workspace, prov: Path
) -> dict[str, Any]:
    """The traces of all numbers as PROV-O."""
    stages = {stage.name: stage for stage in described}
    lineage = Lineage(workspace, stages)
    numbers = [number for benchmark in benchmarks for number in benchmark.numbers]
    traces = [trace_number(lineage, number, rows=False) for number in numbers]
    write_prov(lineage, traces, prov)
    problems = sorted({problem for trace in traces for problem in trace.problems})
    return {"numbers": len(traces), "problems": problems}
