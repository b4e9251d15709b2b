"""Datasets: generated worlds, or the official files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from orchestration.clevrer import Generate
from orchestration.downloads import fetch_shown
from orchestration.spark import spark_session, write_lines
from orchestration.stage import stage
from orchestration.workspace import Workspace
from substrate.domains.clevrer.format import SceneQuestions


@stage(
    "clevrer/dataset",
    outs=["data/{profile}/clevrer"],
    parameters=["seed", "profiles.{profile}.clevrer"],
    code=["substrate/worlds/clevrer", "substrate/domains/clevrer/format.py"],
    kinds=["bullet", "spark"],
    pinned_by="data.dvc",
)
def clevrer_dataset(workspace: Workspace, out: Path) -> dict[str, Any]:
    """CLEVRER's annotations and questions: simulated rigid-body scenes with gold of their own, or the official validation split."""
    data = workspace.settings.data.clevrer
    out.mkdir()
    if data.source == "official":
        for file in fetch_shown("clevrer", workspace.root / "downloads" / "clevrer", pins=workspace.root / "pins" / "downloads.json", base=data.mirror):
            (out / file.name).hardlink_to(file.path)
        return {"source": "official"}
    from substrate.worlds.clevrer import write_questions

    session = spark_session(workspace.settings.spark)
    scenes = range(data.first_scene, data.first_scene + data.scenes)
    lines = out / "questions.jsonl"
    write_lines(session, scenes, Generate(out, workspace.settings.seed), lines, stage="clevrer/dataset", partitions=max(workspace.settings.spark.partitions, data.scenes // 20))
    records = map(msgspec.json.Decoder(SceneQuestions).decode, lines.read_bytes().splitlines())
    write_questions(out, records)
    lines.unlink()
    return {"source": "generated", "scenes": data.scenes, "seed": workspace.settings.seed}
