"""The paper's ablations: one thing of CLEVRER's interpreter changed, the same questions asked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from orchestration.benchmarks import clevrer
from orchestration.benchmarks.ablations import CURVES, POINTS, VARIANTS, AnswerVariants, Variant
from orchestration.files import write_json
from orchestration.pipeline import determinism
from orchestration.pipeline.assets.answers import FORK, split_of, write_answers
from orchestration.pipeline.assets.logs import CORE
from orchestration.pipeline.spark import spark_session
from orchestration.pipeline.stage import stage
from orchestration.scoring.scores import count
from orchestration.workspace import Workspace
from substrate.domains.clevrer.format import read_questions

CODE = [
    "orchestration/benchmarks/ablations.py",
    "orchestration/benchmarks/clevrer.py",
    "substrate/domains/clevrer",
    "substrate/rows.py",
    *FORK,
    *CORE,
]


@stage(
    "ablations/answers",
    outs=["artifacts/{profile}/ablations/answers.jsonl"],
    needs=["clevrer/dataset", "clevrer/logs"],
    parameters=["clevrer"],
    code=CODE,
    kinds=["spark", "rdf"],
)
def ablations_answers(workspace: Workspace, out: Path) -> dict[str, Any]:
    """A row for each question and each variant: reference frame, removed-partner rule, kinematics."""
    return _answer(workspace, "ablations/answers", VARIANTS, out)


@stage(
    "ablations/curves",
    outs=["artifacts/{profile}/ablations/curves.jsonl", "artifacts/{profile}/ablations/curves.json"],
    needs=["clevrer/dataset", "clevrer/logs"],
    parameters=["clevrer"],
    code=[*CODE, "orchestration/scoring/scores.py"],
    kinds=["spark", "rdf"],
)
def ablations_curves(workspace: Workspace, rows: Path, out: Path) -> dict[str, Any]:
    """Predictive accuracy per question as τ and the horizon move: the rows, and the counts a figure is drawn
    from.
    """
    metadata = _answer(workspace, "ablations/curves", POINTS, rows)
    counts = count(spark_session(workspace.settings.spark), rows, {_number(variant) for variant in POINTS})
    drawn = [
        {
            "name": f"predictive over {curve.moving}",
            "x_label": curve.x_label,
            "y_label": "accuracy per question",
            "series": [
                {
                    "name": f"{curve.standing} {value:g}",
                    "points": [
                        (point, *counts[_number(curve.variant(point, value))]) for point in curve.points
                    ],
                }
                for value in curve.values
            ],
        }
        for curve in CURVES
    ]
    write_json(out, drawn, indent=1)
    return metadata


@stage(
    "ablations/determinism",
    outs=["artifacts/{profile}/ablations/determinism.json"],
    needs=["clevrer/dataset", "clevrer/logs"],
    parameters=["clevrer"],
    code=[*CODE, "orchestration/pipeline/determinism.py"],
    kinds=["spark", "rdf"],
)
def ablations_determinism(workspace: Workspace, out: Path) -> dict[str, Any]:
    """The same answers computed twice, in two numbers of partitions and under two hash seeds, with the hash
    of each.
    """
    runs = determinism.runs(workspace)
    write_json(out, runs, indent=1)
    return {"distinct hashes": len({run.sha256 for run in runs})}


def _answer(workspace: Workspace, name: str, variants: tuple[Variant, ...], out: Path) -> dict[str, Any]:
    logs, questions = (
        workspace.artifacts / "clevrer" / "logs",
        clevrer.questions_of(workspace.data / "clevrer"),
    )
    scenes = clevrer.require_scenes(read_questions(questions), clevrer.scenes_of(logs), questions, logs)
    split = split_of(workspace.settings.data.clevrer.source, "validation")
    work = AnswerVariants(logs, questions, workspace.settings.clevrer, split, variants)
    return {**write_answers(workspace, name, scenes, work, out), "variants": len(variants)}


def _number(variant: Variant) -> str:
    return f"ablations/{variant.name}/per_question"
