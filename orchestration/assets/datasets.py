"""Datasets: generated worlds, or the official files."""

from __future__ import annotations

import tarfile
import zipfile
from pathlib import Path
from typing import Any

import msgspec

from orchestration.clevrer import Generate
from orchestration.downloads import fetch_shown
from orchestration.gqa import questions_of, scene_graphs_of
from orchestration.spark import spark_session, write_lines
from orchestration.stage import stage
from orchestration.workspace import Workspace
from substrate.domains.clevrer.format import SceneQuestions


def _official(workspace: Workspace, benchmark: str, mirror: str | None) -> dict[str, Path]:
    """A benchmark's official files by name, fetched into ``downloads/`` where they are not there yet."""
    folder = workspace.root / "downloads" / benchmark
    return {file.name: file.path for file in fetch_shown(benchmark, folder, pins=workspace.root / "pins" / "downloads.json", base=mirror)}


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
    data, settings = workspace.settings.data.clevrer, workspace.settings
    out.mkdir()
    if data.source == "official":
        for name, path in _official(workspace, "clevrer", data.mirror).items():
            (out / name).hardlink_to(path)
        return {"source": "official"}
    from substrate.worlds.clevrer import write_questions

    scenes = range(data.first_scene, data.first_scene + data.scenes)
    lines = out / "questions.jsonl"
    # Simulating takes long and varies: more tasks than cores keep both busy to the end.
    partitions = max(settings.spark.partitions, data.scenes // 20)
    write_lines(spark_session(settings.spark), scenes, Generate(out, settings.seed), lines, stage="clevrer/dataset", partitions=partitions)
    write_questions(out, map(msgspec.json.Decoder(SceneQuestions).decode, lines.read_bytes().splitlines()))
    lines.unlink()
    return {"source": "generated", "scenes": data.scenes, "seed": settings.seed}


@stage(
    "babi/dataset",
    outs=["data/{profile}/babi"],
    parameters=["seed", "profiles.{profile}.babi"],
    code=["substrate/worlds/babi", "substrate/domains/babi/format.py"],
    pinned_by="data.dvc",
)
def babi_dataset(workspace: Workspace, out: Path) -> dict[str, Any]:
    """bAbI's 20 tasks: stories told by a little world with gold of its own, or the official test files."""
    data = workspace.settings.data.babi
    out.mkdir()
    if data.source == "official":
        (archive,) = _official(workspace, "babi", data.mirror).values()
        with tarfile.open(archive) as tar:
            for member in tar:
                path = Path(member.name)
                if path.parent.name == "en" and path.name.endswith("_test.txt") and (source := tar.extractfile(member)):
                    (out / path.name).write_bytes(source.read())
        return {"source": "official"}
    from substrate.worlds.babi import write_tasks

    write_tasks(out, questions=data.questions, seed=workspace.settings.seed)
    return {"source": "generated", "questions": 20 * data.questions, "seed": workspace.settings.seed}


_GQA_MEMBERS = {"sceneGraphs.zip": "val_sceneGraphs.json", "questions1.2.zip": "val_balanced_questions.json"}


@stage(
    "gqa/dataset",
    outs=["data/{profile}/gqa"],
    parameters=["seed", "profiles.{profile}.gqa"],
    code=["substrate/worlds/gqa", "substrate/domains/gqa/format.py"],
    pinned_by="data.dvc",
)
def gqa_dataset(workspace: Workspace, out: Path) -> dict[str, Any]:
    """GQA's scene graphs and questions: sampled everyday scenes with gold of their own, or the official balanced validation split."""
    data = workspace.settings.data.gqa
    out.mkdir()
    if data.source == "official":
        for name, path in _official(workspace, "gqa", data.mirror).items():
            target = scene_graphs_of(out) if name == "sceneGraphs.zip" else questions_of(out)
            with zipfile.ZipFile(path) as archive:
                member = next(m for m in archive.namelist() if Path(m).name == _GQA_MEMBERS[name])
                target.write_bytes(archive.read(member))
        return {"source": "official"}
    from substrate.worlds.gqa import write

    write(out, scenes=data.scenes, seed=workspace.settings.seed)
    return {"source": "generated", "scenes": data.scenes, "seed": workspace.settings.seed}
