"""CLEVRER-Humans through the pipeline, where the released files are named."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from orchestration.pipeline.resources import WorkspaceResource
from orchestration.pipeline.run import run_stages


def test_named_files_give_the_row_its_numbers(real_data: Path, make_project: Callable[..., Path]) -> None:
    root = make_project()
    files = {
        "events": real_data / "clevrer/ground_truth_train.jsonl.gz",
        "questions": real_data / "clevrer_humans/train.json.gz",
    }
    overrides = [f"profiles.sample.clevrer_humans.{name}={path}" for name, path in files.items()]
    run_stages(
        [f"clevrer_humans/{stage}" for stage in ("dataset", "logs", "answers", "scores")],
        WorkspaceResource(profile="sample", overrides=overrides),
    )
    (experiment,) = (root / "experiments").glob("[!.]*")
    scores = experiment / "artifacts/sample/scores"
    score = json.loads((scores / "clevrer_humans.explanatory.per_question.json").read_bytes())
    assert (score["n"], score["correct"]) == (564, 312)
