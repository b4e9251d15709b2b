"""The stage that describes all others for the tools of others: PROV-O."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from orchestration.benchmarks.benchmark import Benchmark
from orchestration.lineage.number import Lineage, trace_number
from orchestration.stage import Stage
from orchestration.workspace.folders import Workspace
from research.exporters.prov import write_prov


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
    lineage = Lineage(workspace, stages, known=stages)
    numbers = [number for benchmark in benchmarks for number in benchmark.numbers]
    ways = [trace_number(lineage, number, rows=False) for number in numbers]
    write_prov(lineage, ways, prov)
    return {"numbers": len(ways), "problems": sorted({problem for way in ways for problem in way.problems})}
