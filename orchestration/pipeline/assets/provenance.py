"""Provenance: the way of every number to its sources, as PROV-O and as an RO-Crate.

It is declared after all other stages: it describes them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from orchestration.lineage.crate import WORKFLOW, write_crate
from orchestration.lineage.number import Lineage, trace_number
from orchestration.lineage.prov import write_prov
from orchestration.pipeline.stage import STAGES, ordered_stages, stage
from orchestration.scoring.scores import METRICS
from orchestration.workspace import Workspace


def _described() -> list[str]:
    """The stages behind scores and tables, by name."""
    found: set[str] = set()
    todo = [name for name in STAGES if name.startswith("tables/") or name.endswith("/scores")]
    while todo:
        name = todo.pop()
        if name not in found:
            found.add(name)
            todo += STAGES[name].needs
    return sorted(found)


DESCRIBED = _described()


@stage(
    "provenance/crate",
    outs=["artifacts/{profile}/provenance/prov.ttl", "artifacts/{profile}/provenance/crate"],
    needs=DESCRIBED,
    # What it says of the stages, so that it is made again where their code or parameters are other ones.
    parameters=sorted({key for name in DESCRIBED for key in STAGES[name].parameters}),
    code=sorted(
        {file for name in DESCRIBED for file in STAGES[name].code}
        | {
            "orchestration/lineage/crate.py",
            "orchestration/lineage/number.py",
            "orchestration/lineage/prov.py",
            WORKFLOW,
        }
    ),
    kinds=["rdf"],
    pinned_by="nothing",
)
def provenance_crate(workspace: Workspace, prov: Path, crate: Path) -> dict[str, Any]:
    """The way of every number to its sources: PROV-O for SPARQL, and a Workflow Run RO-Crate with the tables
    and scores in it.
    """
    lineage = Lineage(workspace, DESCRIBED)
    ways = [
        trace_number(lineage, number, rows=False)
        for benchmark, names in METRICS.items()
        if f"{benchmark}/scores" in DESCRIBED
        for number in names
    ]
    write_prov(lineage, ways, prov)
    order = [stage.name for stage in ordered_stages() if stage.name in DESCRIBED]
    write_crate(lineage, order, ways, prov, crate)
    return {"numbers": len(ways), "problems": sorted({problem for way in ways for problem in way.problems})}
