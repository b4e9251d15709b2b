"""Scores: counts of correct rows, with intervals, beside what was published."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from orchestration.scores import CLEVRER_METRICS, clevrer_counts, score
from orchestration.spark import spark_session
from orchestration.stage import stage
from orchestration.workspace import Workspace


@stage(
    "clevrer/scores",
    outs=[f"artifacts/{{profile}}/scores/{name.replace('/', '.')}.json" for name in CLEVRER_METRICS],
    needs=["clevrer/answers"],
    code=["orchestration/scores.py", "orchestration/statistics.py", "orchestration/published.yaml"],
    kinds=["spark"],
)
def clevrer_scores(workspace: Workspace, *outs: Path) -> dict[str, Any]:
    """Per-question and per-option accuracy of each subset, with Wilson's interval."""
    counts = clevrer_counts(spark_session(workspace.settings.spark), workspace.artifacts / "clevrer" / "answers.jsonl")
    metadata = {}
    for name, out in zip(CLEVRER_METRICS, outs, strict=True):
        record = score(name, *counts[name])
        out.write_bytes(msgspec.json.format(msgspec.json.encode(record), indent=2) + b"\n")
        metadata[name] = record.accuracy if record.accuracy is not None else "no questions"
    return metadata
