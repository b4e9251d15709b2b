"""The report: one page for a reader of the whole run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import dagster as dg

from orchestration.pipeline.stage import stage
from orchestration.rendering.report import render
from orchestration.scoring.scores import METRICS
from orchestration.workspace import Workspace

PAGE = "artifacts/{profile}/report/index.html"
TABLES = ("tables/clevrer", "tables/transfer", "tables/twin", "tables/ablations")
EXPLAINED = ("clevrer", "comphy_inferred", "babi", "gqa", "twin")


@stage(
    "report/html",
    outs=[PAGE],
    needs=[
        *TABLES,
        "ablations/curves",
        *(f"{benchmark}/scores" for benchmark in METRICS),
        *(f"{benchmark}/{what}" for benchmark in EXPLAINED for what in ("answers", "logs")),
        *(f"{benchmark}/dataset" for benchmark in ("clevrer", "comphy", "babi", "gqa", "twin")),
    ],
    parameters=["seed", "profiles.{profile}", "clevrer", "comphy", "comphy_inferred"],
    # The page shows the code version of every stage, so it is made anew when any code changes.
    code=[
        "orchestration",
        "substrate",
        "substrate/tboxes/village.ttl",
        "substrate/tboxes/clinical.ttl",
        "orchestration/rendering/report.html.j2",
        "orchestration/rendering/report.css",
    ],
    pinned_by="nothing",
)
def report(workspace: Workspace, out: Path) -> dict[str, Any]:
    """Tables, figures, worked explanations and traces on one HTML page that loads nothing."""
    page = render(workspace)
    out.write_text(page, "utf-8")
    place = workspace.path(PAGE)
    return {
        "page": dg.MetadataValue.path(place),
        "link": dg.MetadataValue.url(place.as_uri()),
        "preview": dg.MetadataValue.md(f"[The report]({place.as_uri()})"),
        "bytes": len(page.encode()),
    }
