"""Tables in the shape of the paper's."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import dagster as dg
import msgspec

from orchestration.pipeline.determinism import Run
from orchestration.pipeline.stage import stage
from orchestration.rendering.results import (
    BEYOND,
    MODELS,
    ablations_table,
    clevrer_table,
    transfer_table,
    twin_table,
)
from orchestration.rendering.tables import FORMATS, Table
from orchestration.scoring.scores import Comparison, read_scores
from orchestration.workspace import Workspace

CODE = [
    "orchestration/rendering/tables.py",
    "orchestration/rendering/results.py",
    "orchestration/scoring/published.yaml",
]
TRANSFER = ("comphy", "comphy_inferred", "gqa", "babi", "clevrer_humans", *MODELS)
TWIN = ("twin", "twin_direct", "twin_concordia")


@stage(
    "tables/clevrer",
    outs=[f"artifacts/{{profile}}/tables/clevrer.{suffix}" for suffix in FORMATS],
    needs=["clevrer/scores", "ablations/scores"],
    parameters=["seed", "profiles.{profile}.clevrer", "clevrer"],
    code=CODE,
)
def clevrer_tables(workspace: Workspace, *outs: Path) -> dict[str, Any]:
    """Table 1: accuracy on CLEVRER by subset, beside NS-DR and ALOE, and what simulated forks reach."""
    scores, beyond = (
        read_scores(workspace.artifacts / "scores", benchmark) for benchmark in ("clevrer", "ablations")
    )
    return _render(clevrer_table(scores | {name: beyond[name] for name in BEYOND}, workspace.settings), outs)


@stage(
    "tables/transfer",
    outs=[f"artifacts/{{profile}}/tables/transfer.{suffix}" for suffix in FORMATS],
    needs=[f"{benchmark}/scores" for benchmark in TRANSFER],
    parameters=[
        "seed",
        "profiles.{profile}.babi",
        "profiles.{profile}.gqa",
        "profiles.{profile}.comphy",
        "comphy",
        "comphy_inferred",
    ],
    code=CODE,
)
def transfer_tables(workspace: Workspace, *outs: Path) -> dict[str, Any]:
    """Transfer: accuracy on the other benchmarks, beside what was published."""
    scores = {
        name: score
        for benchmark in TRANSFER
        for name, score in read_scores(workspace.artifacts / "scores", benchmark).items()
    }
    return _render(transfer_table(scores, workspace.settings), outs)


@stage(
    "tables/twin",
    outs=[f"artifacts/{{profile}}/tables/twin.{suffix}" for suffix in FORMATS],
    needs=[*(f"{benchmark}/scores" for benchmark in TWIN), "twin/comparisons"],
    parameters=["seed", "profiles.{profile}.twin", "baselines.twin_direct", "baselines.twin_concordia"],
    code=CODE,
)
def twin_tables(workspace: Workspace, *outs: Path) -> dict[str, Any]:
    """Table 2: Twin-EventLog, the substrate beside two language-model baselines, and the paired difference."""
    scores = {
        name: score
        for benchmark in TWIN
        for name, score in read_scores(workspace.artifacts / "scores", benchmark).items()
    }
    comparisons = msgspec.json.decode(
        (workspace.artifacts / "twin" / "comparisons.json").read_bytes(), type=list[Comparison]
    )
    return _render(twin_table(scores, comparisons, workspace.settings), outs)


@stage(
    "tables/ablations",
    outs=[f"artifacts/{{profile}}/tables/ablations.{suffix}" for suffix in FORMATS],
    needs=["ablations/scores", "ablations/determinism"],
    parameters=["seed", "profiles.{profile}.clevrer", "clevrer"],
    code=[*CODE, "orchestration/benchmarks/ablations.py"],
)
def ablations_tables(workspace: Workspace, *outs: Path) -> dict[str, Any]:
    """The ablations: each algorithm's variants side by side, and whether the bytes of answers depend on how
    they are computed.
    """
    runs = msgspec.json.decode(
        (workspace.artifacts / "ablations" / "determinism.json").read_bytes(), type=list[Run]
    )
    return _render(
        ablations_table(read_scores(workspace.artifacts / "scores", "ablations"), runs, workspace.settings),
        outs,
    )


def _render(table: Table, outs: tuple[Path, ...]) -> dict[str, Any]:
    for suffix, out in zip(FORMATS, outs, strict=True):
        out.write_text(table.render(suffix), "utf-8")
    return {"table": dg.MetadataValue.md(table.render("md"))}
