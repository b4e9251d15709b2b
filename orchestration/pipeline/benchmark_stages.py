"""The stages of a benchmark, made from its declaration: dataset, logs, answers, scores."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from orchestration.benchmarks.benchmark import Benchmark, Data
from orchestration.fetch.downloads import fetch_shown
from orchestration.named import NAMED, OFFICIAL, NamedFile, OfficialFile, kind_of, split_of
from orchestration.pipeline.cases import answer_cases, build_logs, make_scenes
from orchestration.pipeline.spark import readable, spark_session
from orchestration.scoring.scores import count, score, score_file
from orchestration.stage import Stage
from orchestration.workspace import Workspace
from substrate.base.errors import ParameterError
from substrate.base.files import sha256, write_json


def stages_of_benchmark(benchmark: Benchmark, measured_on: Benchmark | None = None) -> Iterator[Stage]:
    """Its stages, as far as it has them: some are asked on another's data or answered from another's logs.

    Args:
        measured_on: the benchmark on whose cases its numbers are measured, where that is another one.
    """
    name, about = benchmark.name, benchmark.about
    if benchmark.data:
        world = benchmark.world
        yield Stage(
            f"{name}/dataset",
            (f"data/{{profile}}/{name}",),
            partial(make_dataset, benchmark),
            about["dataset"],
            parameters=("seed", f"profiles.{{profile}}.{name}")
            if world
            else (f"profiles.{{profile}}.{name}",),
            functions=tuple(f for f in (world and world.make, world and world.write, benchmark.unpack) if f),
            kinds=(*world.needs, "spark") if world else (),
            pinned_by="data.dvc",
            outside=partial(files_outside, benchmark),
        )
    if benchmark.cases and benchmark.logs and benchmark.logs_of == name:
        yield Stage(
            f"{name}/logs",
            (f"artifacts/{{profile}}/{name}/logs/index.jsonl",),
            partial(make_logs, benchmark),
            f"{about['logs']} The index holds their digests.",
            needs=(f"{benchmark.data_of}/dataset",),
            parameters=benchmark.logs_parameters,
            functions=(benchmark.cases, benchmark.logs),
            kinds=("spark", "rdf"),
        )
    if benchmark.cases and benchmark.rows:
        yield Stage(
            f"{name}/answers",
            (f"artifacts/{{profile}}/{name}/answers.jsonl",),
            partial(make_answers, benchmark),
            about["answers"],
            needs=(f"{benchmark.data_of}/dataset", f"{benchmark.logs_of}/logs"),
            parameters=(benchmark.parameters[0],) if benchmark.parameters else (),
            functions=(benchmark.cases, benchmark.logs or benchmark.cases, benchmark.rows),
            kinds=("spark", "rdf"),
        )
    of_data = measured_on or benchmark
    yield Stage(
        f"{name}/scores",
        tuple(f"artifacts/{{profile}}/scores/{score_file(number)}" for number in benchmark.numbers),
        partial(make_scores, benchmark, of_data),
        about["scores"],
        needs=(f"{name}/answers", f"{of_data.data_of}/dataset"),
        parameters=(f"profiles.{{profile}}.{of_data.data_of}",),
        kinds=("spark",),
    )


def is_measured(benchmark: Benchmark, data: Data) -> bool:
    """Whether a profile has data of a benchmark: generated, official, or files that a user named."""
    return data.source != "none" or bool(named_files(benchmark, data))


def named_files(benchmark: Benchmark, data: Data) -> dict[str, str]:
    """The files that a profile names, by what they are."""
    named = {name: getattr(data, name, None) for name in benchmark.inputs}
    return {name: path for name, path in named.items() if isinstance(path, str)}


def files_outside(benchmark: Benchmark, workspace: Workspace) -> dict[str, Path]:
    """The files that a profile names, by what they are; a relative path begins in the project."""
    named = named_files(benchmark, workspace.settings.data(benchmark.name))
    return {name: workspace.root / path for name, path in named.items()}


def make_dataset(benchmark: Benchmark, workspace: Workspace, out: Path) -> dict[str, Any]:
    """A profile's data of a benchmark in the official layout; an empty folder where it has none."""
    data = workspace.settings.data(benchmark.name)
    out.mkdir()
    if data.source == "official" and benchmark.unpack:
        downloads = workspace.root / "downloads" / benchmark.name
        pins = workspace.root / "pins" / "downloads.json"
        fetched = fetch_shown(benchmark.name, downloads, pins=pins, base=data.mirror)
        benchmark.unpack({file.name: file.path for file in fetched}, out)
        official = [OfficialFile(file.name, f"sha256:{file.sha256}", file.blob) for file in fetched]
        write_json(out / OFFICIAL, official, indent=1)
        return {"source": "official"}
    if data.source == "generated" and benchmark.world:
        made = make_scenes(workspace, benchmark, f"{benchmark.name}/dataset", out)
        return {"source": "generated", benchmark.world.counted[0]: made, "seed": workspace.settings.seed}
    if named := named_files(benchmark, data):
        for name, path in files_outside(benchmark, workspace).items():
            _place(path, name, benchmark, out)
        files = {
            name: NamedFile(path.name, sha256(path))
            for name, path in files_outside(benchmark, workspace).items()
        }
        write_json(out / NAMED, files, indent=1)
        return {"source": "files that a user named", **named}
    return {"source": "no data are named: nothing is measured"}


def _place(given: Path, name: str, benchmark: Benchmark, out: Path) -> None:
    """Copy a user's file or folder to where a dataset has it."""
    if not given.exists():
        hint = f"Correct profiles.PROFILE.{benchmark.name}.{name}"
        raise ParameterError("is not there", where=(given,), hint=hint)
    names = benchmark.inputs[name]
    target = out / (names[-1] if given.is_dir() else names[0])
    if given.is_dir():
        shutil.copytree(given, target, dirs_exist_ok=True)
    else:
        shutil.copyfile(given, target)


def make_logs(benchmark: Benchmark, workspace: Workspace, out: Path) -> dict[str, Any]:
    """The logs of every case, and their index."""
    if not benchmark.files(workspace.data / benchmark.data_of):
        out.touch()
        return {"not measured": "no data"}
    return {"logs": build_logs(workspace, benchmark, f"{benchmark.name}/logs", out)}


def make_answers(benchmark: Benchmark, workspace: Workspace, out: Path) -> dict[str, Any]:
    """The rows of every case."""
    if not benchmark.files(workspace.data / benchmark.data_of):
        out.touch()
        return {"not measured": "no data"}
    return {"cases": answer_cases(workspace, benchmark, f"{benchmark.name}/answers", out)}


def make_scores(
    benchmark: Benchmark, measured_on: Benchmark, workspace: Workspace, *outs: Path
) -> dict[str, Any]:
    """A file a number: counts of correct rows, with intervals, and the data they were measured on."""
    data, split = kind_of(workspace, measured_on), split_of(workspace, measured_on)
    session = spark_session(workspace.settings.spark)
    answers = workspace.artifacts / benchmark.name / "answers.jsonl"
    with readable(workspace, answers) as (rows,):
        counts = count(session, rows, benchmark.numbers, paired=benchmark.paired)
    metadata: dict[str, Any] = {}
    for name, out in zip(benchmark.numbers, outs, strict=True):
        _, asked = counts.get(name.replace("/per_option", "/per_question"), counts[name])
        record = score(name, *counts[name], data, split, asked)
        write_json(out, record, indent=2)
        metadata[name] = "no questions" if record.accuracy is None else record.accuracy
    return metadata
