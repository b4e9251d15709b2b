"""Datasets: generated worlds, or the official files."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path, PurePosixPath
from typing import Any

import msgspec

from orchestration.benchmarks import twin
from orchestration.benchmarks.gqa import questions_of, scene_graphs_of
from orchestration.fetch.archives import extract
from orchestration.fetch.downloads import fetch_shown
from orchestration.pipeline.spark import Work, spark_session, write_lines
from orchestration.pipeline.stage import stage
from orchestration.workspace import Workspace
from substrate.domains.clevrer.format import SceneQuestions
from substrate.domains.comphy.format import TargetQuestions
from substrate.reading import read_bytes


def _official(workspace: Workspace, benchmark: str, mirror: str | None) -> dict[str, Path]:
    """A benchmark's official files by name, fetched into ``downloads/`` where they are not there yet."""
    folder = workspace.root / "downloads" / benchmark
    return {
        file.name: file.path
        for file in fetch_shown(
            benchmark, folder, pins=workspace.root / "pins" / "downloads.json", base=mirror
        )
    }


@stage(
    "clevrer/dataset",
    outs=["data/{profile}/clevrer"],
    parameters=["seed", "profiles.{profile}.clevrer"],
    code=[
        "orchestration/pipeline/generate.py",
        "substrate/worlds/clevrer",
        "substrate/domains/clevrer/format.py",
    ],
    kinds=["bullet", "spark"],
    pinned_by="data.dvc",
)
def clevrer_dataset(workspace: Workspace, out: Path) -> dict[str, Any]:
    """CLEVRER's annotations and questions: simulated rigid-body scenes with gold of their own, or the
    official validation split.
    """
    data, settings = workspace.settings.data.clevrer, workspace.settings
    out.mkdir()
    if data.source == "official":
        for name, path in _official(workspace, "clevrer", data.mirror).items():
            (out / name).hardlink_to(path)
        return {"source": "official"}
    from orchestration.pipeline.generate import Generate
    from substrate.worlds.clevrer import write_questions, write_scene

    scenes = range(data.first_scene, data.first_scene + data.scenes)
    _generate(
        workspace,
        "clevrer/dataset",
        scenes,
        Generate(write_scene, out, settings.seed),
        out,
        SceneQuestions,
        write_questions,
    )
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
        extract(archive, _babi_task, out, what="en/qaN_…_test.txt")
        return {"source": "official"}
    from substrate.worlds.babi import write_tasks

    write_tasks(out, questions=data.questions, seed=workspace.settings.seed)
    return {"source": "generated", "questions": 20 * data.questions, "seed": workspace.settings.seed}


def _babi_task(member: PurePosixPath) -> str | None:
    return member.name if member.parent.name == "en" and member.name.endswith("_test.txt") else None


def _only(wanted: str, name: str) -> Callable[[PurePosixPath], str | None]:
    return lambda member: name if member.name == wanted else None


_GQA_MEMBERS = {"sceneGraphs.zip": "val_sceneGraphs.json", "questions1.2.zip": "val_balanced_questions.json"}


@stage(
    "gqa/dataset",
    outs=["data/{profile}/gqa"],
    parameters=["seed", "profiles.{profile}.gqa"],
    code=["substrate/worlds/gqa", "substrate/domains/gqa/format.py"],
    pinned_by="data.dvc",
)
def gqa_dataset(workspace: Workspace, out: Path) -> dict[str, Any]:
    """GQA's scene graphs and questions: sampled everyday scenes with gold of their own, or the official
    balanced validation split.
    """
    data = workspace.settings.data.gqa
    out.mkdir()
    if data.source == "official":
        for name, path in _official(workspace, "gqa", data.mirror).items():
            target = scene_graphs_of(out) if name == "sceneGraphs.zip" else questions_of(out)
            extract(path, _only(_GQA_MEMBERS[name], target.name), target.parent, what=_GQA_MEMBERS[name])
        return {"source": "official"}
    from substrate.worlds.gqa import write

    write(out, scenes=data.scenes, seed=workspace.settings.seed)
    return {"source": "generated", "scenes": data.scenes, "seed": workspace.settings.seed}


@stage(
    "comphy/dataset",
    outs=["data/{profile}/comphy"],
    parameters=["seed", "profiles.{profile}.comphy"],
    code=[
        "orchestration/pipeline/generate.py",
        "substrate/worlds/comphy",
        "substrate/worlds/clevrer",
        "substrate/domains/comphy/format.py",
        "substrate/domains/clevrer/format.py",
    ],
    kinds=["bullet", "spark"],
    pinned_by="data.dvc",
)
def comphy_dataset(workspace: Workspace, out: Path) -> dict[str, Any]:
    """ComPhy's targets with four reference videos each: rigid bodies with mass and charge that nothing but
    motion shows.
    """
    data, settings = workspace.settings.data.comphy, workspace.settings
    out.mkdir()
    if data is None:
        return {
            "source": "the release has no direct address: nothing is measured; `substrate answer comphy` takes files got by hand"
        }
    from orchestration.pipeline.generate import Generate
    from substrate.worlds.comphy import write_questions, write_target

    _generate(
        workspace,
        "comphy/dataset",
        range(data.targets),
        Generate(write_target, out, settings.seed),
        out,
        TargetQuestions,
        write_questions,
    )
    return {"source": "generated", "targets": data.targets, "seed": settings.seed}


@stage(
    "twin/dataset",
    outs=["data/{profile}/twin"],
    parameters=["seed", "profiles.{profile}.twin"],
    code=["substrate/worlds/smallville", "substrate/domains/smallville/format.py"],
    kinds=["spark"],
    pinned_by="data.dvc",
)
def twin_dataset(workspace: Workspace, out: Path) -> dict[str, Any]:
    """Twin-EventLog's specifications with gold by SQL over the raw schedule, and their datasheet."""
    from substrate.worlds.smallville import write_specs

    settings, specs = workspace.settings, range(workspace.settings.data.twin.specs)
    out.mkdir()
    lines = out / "lines"
    # Drawing until one fits varies as much as simulating.
    write_lines(
        spark_session(settings.spark),
        specs,
        twin.Generate(settings.seed),
        lines,
        stage="twin/dataset",
        partitions=max(settings.spark.partitions, len(specs) // 20),
    )
    write_specs(out, lines.read_bytes().splitlines(), settings.seed)
    lines.unlink()
    return {"source": "generated", "specs": len(specs), "seed": settings.seed}


HUMANS = ("events", "questions")


@stage(
    "clevrer_humans/dataset",
    outs=["data/{profile}/clevrer_humans"],
    parameters=["profiles.{profile}.clevrer_humans"],
    code=["substrate/domains/clevrer/humans.py"],
    pinned_by="data.dvc",
)
def clevrer_humans_dataset(workspace: Workspace, out: Path) -> dict[str, Any]:
    """CLEVRER-Humans: the files a user has of it, plain; an empty folder where none are named."""
    out.mkdir()
    data = workspace.settings.data.clevrer_humans
    if data.events is None or data.questions is None:
        return {"source": "no files are named: nothing is measured"}
    for name in HUMANS:
        (out / name).write_bytes(read_bytes(workspace.root / getattr(data, name)))
    return {"source": "released files"}


def _generate(
    workspace: Workspace,
    name: str,
    scenes: range,
    work: Work,
    out: Path,
    record: type[Any],
    write: Callable[[Path, Iterable[Any]], Path],
) -> None:
    """Run a generator of scenes on Spark, and write the question records it gives as one file."""
    settings = workspace.settings.spark
    lines = out / "questions.jsonl"
    # Simulating takes long and varies: more tasks than cores keep all of them busy to the end.
    write_lines(
        spark_session(settings),
        scenes,
        work,
        lines,
        stage=name,
        partitions=max(settings.partitions, len(scenes) // 20),
    )
    write(out, map(msgspec.json.Decoder(record).decode, lines.read_bytes().splitlines()))
    lines.unlink()
