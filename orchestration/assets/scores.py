"""Scores: counts of correct rows, with intervals, beside what was published."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import dagster as dg
import msgspec

from orchestration.scores import METRICS, count, score
from orchestration.spark import spark_session
from orchestration.stage import stage
from orchestration.workspace import Workspace


def _scores_of(benchmark: str, description: str) -> dg.AssetsDefinition:
    """The stage that scores a benchmark's answers, a file a number."""

    def scores(workspace: Workspace, *outs: Path) -> dict[str, Any]:
        counts = count(spark_session(workspace.settings.spark), workspace.artifacts / benchmark / "answers.jsonl", METRICS[benchmark])
        metadata = {}
        for name, out in zip(METRICS[benchmark], outs, strict=True):
            record = score(name, *counts[name])
            out.write_bytes(msgspec.json.format(msgspec.json.encode(record), indent=2) + b"\n")
            metadata[name] = "no questions" if record.accuracy is None else record.accuracy
        return metadata

    scores.__doc__ = description
    declare: Callable[..., dg.AssetsDefinition] = stage(
        f"{benchmark}/scores",
        outs=[f"artifacts/{{profile}}/scores/{name.replace('/', '.')}.json" for name in METRICS[benchmark]],
        needs=[f"{benchmark}/answers"],
        code=["orchestration/scores.py", "orchestration/paired.py", "orchestration/statistics.py", "orchestration/published.yaml"],
        kinds=["spark"],
    )
    return declare(scores)


clevrer_scores = _scores_of("clevrer", "Per-question and per-option accuracy of each subset, with Wilson's interval.")
babi_scores = _scores_of("babi", "Accuracy of each task, and how often the supporting facts are the file's, with Wilson's interval.")
gqa_scores = _scores_of("gqa", "Accuracy with objects resolved by name and by id, with Wilson's interval.")
comphy_scores = _scores_of("comphy", "Accuracy of each subset in the paper's setting, with Wilson's interval.")
comphy_inferred_scores = _scores_of("comphy_inferred", "Accuracy of each subset with hidden properties inferred, with Wilson's interval.")
clevrer_humans_scores = _scores_of("clevrer_humans", "Accuracy on people's causal questions, with Wilson's interval.")
ablations_scores = _scores_of("ablations", "Per-question and per-option accuracy of each variant, with Wilson's interval.")
twin_scores = _scores_of("twin", "Accuracy by arm, of both arms at once, and of saying whether they differ, with Wilson's interval.")
