"""Every number in one file, for who draws or compares them."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

from orchestration.pipeline.stage import stage
from orchestration.scoring.scores import METRICS, read_scores
from orchestration.workspace import Workspace

HEADS = ("number", "n", "correct", "accuracy", "low", "high")


@stage(
    "tables/numbers",
    outs=["artifacts/{profile}/tables/numbers.csv"],
    needs=[f"{benchmark}/scores" for benchmark in METRICS],
    code=["orchestration/pipeline/assets/numbers.py"],
)
def numbers(workspace: Workspace, out: Path) -> dict[str, Any]:
    """Every measured number with its counts and 95 % interval as CSV; `dvc plots` draws it."""
    scores = [
        score
        for benchmark in METRICS
        for score in read_scores(workspace.artifacts / "scores", benchmark).values()
    ]
    measured = [
        (s.name, s.n, s.correct, s.accuracy, *s.wilson)
        for s in scores
        if s.accuracy is not None and s.wilson is not None
    ]
    with out.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([HEADS, *measured])
    return {"numbers": len(measured)}
