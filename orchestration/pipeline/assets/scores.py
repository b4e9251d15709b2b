"""Scores: counts of correct rows, with intervals, beside what was published."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import dagster as dg

from orchestration.files import write_json
from orchestration.pipeline.spark import spark_session
from orchestration.pipeline.stage import stage
from orchestration.scoring.scores import METRICS, compare, count, score
from orchestration.workspace import Workspace


def _scores_of(benchmark: str, description: str) -> dg.AssetsDefinition:
    """The stage that scores a benchmark's answers, a file a number."""

    def scores(workspace: Workspace, *outs: Path) -> dict[str, Any]:
        counts = count(
            spark_session(workspace.settings.spark),
            workspace.artifacts / benchmark / "answers.jsonl",
            METRICS[benchmark],
        )
        metadata = {}
        for name, out in zip(METRICS[benchmark], outs, strict=True):
            record = score(name, *counts[name])
            write_json(out, record, indent=2)
            metadata[name] = "no questions" if record.accuracy is None else record.accuracy
        return metadata

    scores.__doc__ = description
    declare: Callable[..., dg.AssetsDefinition] = stage(
        f"{benchmark}/scores",
        outs=[f"artifacts/{{profile}}/scores/{name.replace('/', '.')}.json" for name in METRICS[benchmark]],
        needs=[f"{benchmark}/answers"],
        code=[
            "orchestration/scoring/scores.py",
            "orchestration/scoring/pairs.py",
            "substrate/domains/smallville/judging.py",
            "orchestration/scoring/statistics.py",
            "orchestration/scoring/published.yaml",
        ],
        kinds=["spark"],
    )
    return declare(scores)


clevrer_scores = _scores_of(
    "clevrer", "Per-question and per-option accuracy of each subset, with Wilson's interval."
)
babi_scores = _scores_of(
    "babi",
    "Accuracy of each task, and how often the supporting facts are the file's, with Wilson's interval.",
)
gqa_scores = _scores_of("gqa", "Accuracy with objects resolved by name and by id, with Wilson's interval.")
comphy_scores = _scores_of(
    "comphy", "Accuracy of each subset in the paper's setting, with Wilson's interval."
)
comphy_inferred_scores = _scores_of(
    "comphy_inferred", "Accuracy of each subset with hidden properties inferred, with Wilson's interval."
)
controlled_scores = _scores_of(
    "controlled", "Accuracy of a language model that reads the event log as text, with Wilson's interval."
)
twin_direct_scores = _scores_of(
    "twin_direct",
    "Accuracy of a language model that reads the whole village, by arm, of both, and of saying whether they differ.",
)
twin_concordia_scores = _scores_of(
    "twin_concordia",
    "Accuracy of a Concordia-style simulation, by arm, of both, and of saying whether they differ.",
)
gqa_vision_scores = _scores_of(
    "gqa_vision", "Accuracy of a vision model on GQA's photographs, with Wilson's interval."
)
gqa_extractor_scores = _scores_of(
    "gqa_extractor",
    "Accuracy of the substrate on scene graphs that a model extracted, with Wilson's interval.",
)
clevrer_humans_scores = _scores_of(
    "clevrer_humans", "Accuracy on people's causal questions, with Wilson's interval."
)
ablations_scores = _scores_of(
    "ablations", "Per-question and per-option accuracy of each variant, with Wilson's interval."
)
twin_scores = _scores_of(
    "twin",
    "Accuracy by arm, of both arms at once, and of saying whether they differ, with Wilson's interval.",
)


@stage(
    "twin/comparisons",
    outs=["artifacts/{profile}/twin/comparisons.json"],
    needs=[
        "clevrer/answers",
        "controlled/answers",
        "twin/answers",
        "twin_direct/answers",
        "twin_concordia/answers",
    ],
    code=[
        "orchestration/scoring/scores.py",
        "orchestration/scoring/pairs.py",
        "substrate/domains/smallville/judging.py",
        "orchestration/scoring/statistics.py",
    ],
    kinds=["spark"],
)
def comparisons(workspace: Workspace, out: Path) -> dict[str, Any]:
    """The substrate against each language model on what both were asked: Newcombe's interval of the
    difference, McNemar's exact p.
    """
    session = spark_session(workspace.settings.spark)
    pairs = (("twin", "twin_direct"), ("twin", "twin_concordia"), ("clevrer", "controlled"))
    found = [
        compare(session, *(workspace.artifacts / name / "answers.jsonl" for name in pair)) for pair in pairs
    ]
    write_json(out, found, indent=1)
    return {
        f"{comparison.first} - {comparison.second}": comparison.difference or "not measured"
        for comparison in found
    }
