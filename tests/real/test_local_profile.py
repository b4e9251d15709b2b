"""A user's own official files through the whole platform: Dagster, Spark, scores, tables, report, trace."""

from __future__ import annotations

import gzip
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from commands import invoke

from orchestration.dagster.resources import WorkspaceResource
from orchestration.dagster.run import run_stages
from substrate.base.files import sha256
from substrate.domains.rows import decode

EXPLANATORY = "clevrer/explanatory/per_question"


def named(**benchmarks: dict[str, Path]) -> list[str]:
    """The options that name files of some benchmarks."""
    return [
        f"profiles.local.{benchmark}.{what}={path}"
        for benchmark, files in benchmarks.items()
        for what, path in files.items()
    ]


def clevrer_files(real_data: Path, folder: Path) -> dict[str, Path]:
    """The real questions, and the events of the scenes that they ask about; copies that may be changed."""
    given = real_data / "clevrer"
    questions = folder / "explanatory_train.jsonl.gz"
    shutil.copy(given / questions.name, questions)
    with gzip.open(questions, "rt", encoding="utf-8") as lines:
        scenes = {json.loads(line)["scene_index"] for line in lines}
    return {"events": clevrer_events(real_data, folder, scenes), "questions": questions}


def clevrer_events(real_data: Path, folder: Path, scenes: set[int]) -> Path:
    """A copy of the real events of some scenes."""
    events = folder / "ground_truth_train.jsonl"
    with gzip.open(real_data / "clevrer/ground_truth_train.jsonl.gz", "rt", encoding="utf-8") as lines:
        events.write_text(
            "".join(line for line in lines if json.loads(line)["scene_index"] in scenes), "utf-8"
        )
    return events


def read_score(root: Path, number: str) -> dict[str, Any]:
    path = root / "artifacts/local/scores" / f"{number.replace('/', '.')}.json"
    return json.loads(path.read_bytes())


def test_real_questions_run_through_the_platform_and_a_changed_file_is_seen(
    real_data: Path, make_project: Callable[..., Path], tmp_path: Path
) -> None:
    root = make_project()
    files = clevrer_files(real_data, tmp_path)
    options = [option for override in named(clevrer=files) for option in ("--set", override)]
    done = invoke("reproduce", "--tables", "--profile", "local", "--only", "clevrer", *options)

    explanatory = read_score(root, EXPLANATORY)
    assert (explanatory["correct"], explanatory["n"]) == (564, 564)
    assert (explanatory["data"], explanatory["split"]) == ("local", "explanatory_train")
    options_ = read_score(root, "clevrer/explanatory/per_option")
    assert (options_["correct"], options_["n"]) == (2256, 2256)
    assert read_score(root, "clevrer/predictive/per_question")["n"] == 0

    table = (root / "artifacts/local/tables/clevrer.md").read_text("utf-8")
    assert "official files of the user" in table
    for path in files.values():
        assert f"{path.name} sha256 {sha256(path).removeprefix('sha256:')[:12]}" in table
    assert "not compared: split validation there, explanatory_train here" in table
    assert "official files of the user" in done.output

    traced = invoke("trace", EXPLANATORY, "--profile", "local", "--json")
    trace = json.loads(traced.stdout)["trace"]
    assert trace["problems"] == []
    (source,) = trace["sources"]
    assert source["kind"] == "official files of the user"
    assert {file["file"]: file["sha256"] for file in source["official"]} == {
        str(path): sha256(path) for path in files.values()
    }
    rows = (root / "artifacts/local/clevrer/answers.jsonl").read_bytes().splitlines()
    row = decode(rows[0])
    question = f"{row.scene}/{row.question}"
    given = ("--profile", "local", "--question", question)
    again = invoke("trace", EXPLANATORY, *given, "--reexecute", "--json")
    assert json.loads(again.stdout)["reexecution"]["same_row"]

    # A changed file is seen.
    with gzip.open(files["questions"], "rb") as lines:
        beginning = lines.readlines()[:100]
    with gzip.open(files["questions"], "wb") as lines:
        lines.writelines(beginning)
    changed = invoke("trace", EXPLANATORY, "--profile", "local", code=1)
    assert "is not what clevrer/dataset read" in " ".join(changed.stdout.split())
    stages = [f"clevrer/{stage}" for stage in ("dataset", "logs", "answers", "scores")]
    run_stages(stages, WorkspaceResource(profile="local", overrides=named(clevrer=files)))
    assert 0 < read_score(root, EXPLANATORY)["n"] < 564


def test_a_file_that_is_not_there_is_named(make_project: Callable[..., Path], tmp_path: Path) -> None:
    make_project()
    override = f"profiles.local.clevrer.events={tmp_path / 'absent.json'}"
    done = invoke("reproduce", "--profile", "local", "--only", "clevrer", "--set", override, code=1)
    assert "absent.json" in done.output
