"""Tables in the shape of the paper's."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import dagster as dg

from orchestration.rendering.tables import FORMATS, clevrer_table
from orchestration.scores import read_scores
from orchestration.stage import stage
from orchestration.workspace import Workspace


@stage(
    "tables/clevrer",
    outs=[f"artifacts/{{profile}}/tables/clevrer.{suffix}" for suffix in FORMATS],
    needs=["clevrer/scores"],
    parameters=["seed", "profiles.{profile}.clevrer", "clevrer"],
    code=["orchestration/rendering/tables.py", "orchestration/published.yaml"],
)
def clevrer_tables(workspace: Workspace, *outs: Path) -> dict[str, Any]:
    """Table 1: accuracy on CLEVRER by subset, beside NS-DR and ALOE."""
    table = clevrer_table(read_scores(workspace.artifacts / "scores", "clevrer"), workspace.settings)
    for suffix, out in zip(FORMATS, outs, strict=True):
        out.write_text(table.render(suffix), "utf-8")
    return {"table": dg.MetadataValue.md(table.render("md"))}
