"""The stages of a benchmark, from its declaration: dataset, logs, answers, scores."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from orchestration.base.progress import advance
from orchestration.benchmarks.benchmark import Benchmark, Data, Interpreted, Logger, Source
from orchestration.fetch.downloads import fetch, unpack
from orchestration.fetch.sources import has_address
from orchestration.scoring.counting import count
from orchestration.scoring.scores import Score, metrics_file, score, score_file, write_metrics
from orchestration.spark.answers import Condition, answer_cases
from orchestration.spark.logs import build_logs
from orchestration.spark.scenes import make_scenes
from orchestration.stage import Stage
from orchestration.workspace import dataset_files, official_files
from orchestration.workspace.folders import Workspace
from substrate.base.errors import ParameterError
from substrate.base.files import sha256, write_json


def source_stage(source: Source) -> Stage:
    """Make the stage of a source's data."""
    made_by = tuple(call for world in source.world for call in (world.numbers, world.make, world.write))
    profile = f"profiles.{{profile}}.{source.name}"
    return Stage(
        f"{source.name}/dataset",
        (f"data/{{profile}}/{source.name}",),
        partial(make_dataset, source),
        source.about,
        parameters=("seed", profile) if source.world else (profile,),
        functions=made_by,
        kinds=tuple(kind for world in source.world for kind in (*world.needs, "spark")),
        pinned_by="data.dvc",
        outside=partial(files_outside, source),
    )


def log_stage(logger: Logger) -> Stage:
    """Make the stage of a logger's logs."""
    return Stage(
        f"{logger.name}/logs",
        (f"artifacts/{{profile}}/{logger.name}/logs/index.jsonl",),
        partial(make_logs, logger),
        f"{logger.about} The index holds their digests.",
        needs=(f"{logger.source.name}/dataset",),
        parameters=logger.depends_on,
        functions=(logger.source.cases, logger.logs),
        kinds=("spark", "rdf"),
    )


def answer_stage(benchmark: Interpreted) -> Stage:
    """Make the stage of a benchmark's answers."""
    name = benchmark.name
    return Stage(
        f"{name}/answers",
        (f"artifacts/{{profile}}/{name}/answers.jsonl",),
        partial(make_answers, benchmark),
        benchmark.about["answers"],
        needs=(f"{benchmark.source.name}/dataset", f"{benchmark.logger.name}/logs"),
        parameters=benchmark.keys,
        functions=(benchmark.source.cases, benchmark.logger.logs, benchmark.rows, benchmark.is_asked),
        kinds=("spark", "rdf"),
    )


def score_stage(benchmark: Benchmark) -> Stage:
    """Make the stage of a benchmark's scores."""
    name, source = benchmark.name, benchmark.source.name
    metrics = f"artifacts/{{profile}}/{metrics_file(name)}"
    return Stage(
        f"{name}/scores",
        (*(f"artifacts/{{profile}}/scores/{score_file(number)}" for number in benchmark.numbers), metrics),
        partial(make_scores, benchmark),
        benchmark.about["scores"],
        needs=(f"{name}/answers", f"{source}/dataset"),
        parameters=(f"profiles.{{profile}}.{source}",),
        functions=tuple(metric.measure for metric in benchmark.metrics.values()),
        shown=(metrics,),
    )


def files_outside(source: Source, workspace: Workspace) -> dict[str, Path]:
    """The files that a profile names, by role. A relative path starts at the project, or for official files
    at their folder.
    """
    if official := official_files.names_of(workspace, source):
        return {what: official_files.folder_of(workspace) / name for what, name in official.items()}
    data = workspace.settings.data(source.name)
    given = {name: getattr(data, name, None) for name in source.inputs}
    return {name: workspace.root / path for name, path in given.items() if isinstance(path, str)}


def make_dataset(source: Source, workspace: Workspace, out: Path) -> dict[str, Any]:
    """Write a profile's data of a source in the official layout; an empty folder if it has none."""
    data: Data = workspace.settings.data(source.name)
    out.mkdir()
    if data.source == "official" and has_address(source.name):
        _unpack_downloads(source, workspace, out)
        return {"source": "official"}
    if data.source == "generated" and source.world:
        (world,) = source.world
        made = make_scenes(workspace, source, world, f"{source.name}/dataset", out)
        return {"source": "generated", world.counted[0]: made, "seed": workspace.settings.seed}
    official_files.require_whole(workspace, source)
    if given := files_outside(source, workspace):
        _copy_files(source, given, out)
        whose = "official files" if data.source == "real" else "files that a user named"
        return {"source": whose, **{name: str(path) for name, path in given.items()}}
    return {"source": "no data are named: nothing is measured"}


def _unpack_downloads(source: Source, workspace: Workspace, out: Path) -> None:
    """Download a source's official files, unpack them into a dataset, and list them there."""
    root, data = workspace.root, workspace.settings.data(source.name)

    def progress(name: str, done: int, total: int | None) -> None:
        advance(f"{source.name}/dataset", done, total or 0, f"bytes of {name}")

    downloads, pins = root / "downloads" / source.name, root / "pins" / "downloads.json"
    fetched = fetch(source.name, downloads, pins=pins, base=data.mirror, progress=progress)
    unpack(source.name, downloads, out)
    official = [dataset_files.OfficialFile(file.name, f"sha256:{file.sha256}", file.blob) for file in fetched]
    write_json(out / dataset_files.OFFICIAL, official, indent=1)


def _copy_files(source: Source, given: Mapping[str, Path], out: Path) -> None:
    """Copy files by role into a dataset, and list them there."""
    for name, path in given.items():
        if not path.exists():
            hint = f"Correct profiles.PROFILE.{source.name}.{name}"
            raise ParameterError("is not there", where=(path,), hint=hint)
        if path.is_dir():
            shutil.copytree(path, out / source.inputs[name][-1], dirs_exist_ok=True)
        else:
            shutil.copyfile(path, out / source.inputs[name][0])
    files = {name: dataset_files.NamedFile(path.name, sha256(path)) for name, path in given.items()}
    write_json(out / dataset_files.NAMED, files, indent=1)


def make_logs(logger: Logger, workspace: Workspace, out: Path) -> dict[str, Any]:
    """Build the logs of every case, and their index."""
    return {"logs": build_logs(workspace, logger, f"{logger.name}/logs", out)}


def make_answers(benchmark: Interpreted, workspace: Workspace, out: Path) -> dict[str, Any]:
    """Answer every case, one row per question."""
    answer_cases(workspace, benchmark, f"{benchmark.name}/answers", out, Condition())
    return {}


def make_scores(benchmark: Benchmark, workspace: Workspace, *outs: Path) -> dict[str, Any]:
    """Write counts of correct rows with intervals, and their data: a file per number and a file of all."""
    data = dataset_files.kind_of(workspace, benchmark.source)
    split = dataset_files.split_of(workspace, benchmark.source)
    counts = count(workspace.answers(benchmark.name), benchmark.numbers, benchmark.metrics)
    scores: list[Score] = []
    *files, metrics = outs
    for name, out in zip(benchmark.numbers, files, strict=True):
        _, questions = counts.get(name.replace("/per_option", "/per_question"), counts[name])
        record = score(name, *counts[name], data, split, questions)
        write_json(out, record, indent=2)
        scores.append(record)
    write_metrics(metrics, scores)
    return {of.name: "no questions" if of.accuracy is None else of.accuracy for of in scores}
