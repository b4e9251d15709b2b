"""What the ablations have beside answers and scores: two curves, and the same bytes in five ways."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from orchestration.benchmarks.clevrer import CLEVRER
from orchestration.files import write_json
from orchestration.pipeline import determinism
from orchestration.pipeline.cases import answer_cases
from orchestration.pipeline.spark import readable, spark_session
from orchestration.scoring.scores import count
from orchestration.stage import Stage
from orchestration.studies.ablations import ABLATIONS, CURVES, POINTS, Variant, rows
from orchestration.workspace import Workspace


def ablation_stages() -> Iterator[Stage]:
    """The stages beside those of every benchmark."""
    base = CLEVRER
    needs = (f"{base.name}/dataset", f"{base.name}/logs")
    yield Stage(
        "ablations/curves",
        ("artifacts/{profile}/ablations/curves.jsonl", "artifacts/{profile}/ablations/curves.json"),
        make_curves,
        "Predictive accuracy per question as τ and the horizon move: the rows, and the counts a figure is "
        "drawn "
        "from.",
        needs=needs,
        parameters=("clevrer",),
        functions=(base.source.cases, base.logger.logs, rows),
        kinds=("spark", "rdf"),
    )
    yield Stage(
        "ablations/determinism",
        ("artifacts/{profile}/ablations/determinism.json",),
        make_determinism,
        "The same answers computed twice, in two numbers of partitions and under two hash seeds, with the "
        "hash "
        "of each.",
        needs=needs,
        parameters=("clevrer",),
        functions=(base.source.cases, base.logger.logs, base.rows, determinism.main),
        kinds=("spark", "rdf"),
    )


def make_curves(workspace: Workspace, answers: Path, out: Path) -> dict[str, Any]:
    """Answer the predictive questions at every point of every curve, and count."""
    answer_cases(workspace, ABLATIONS, "ablations/curves", answers, rows=partial(rows, POINTS))
    session = spark_session(workspace.settings.spark)
    with readable(workspace, answers) as (given,):
        counts = count(session, given, {_number(variant) for variant in POINTS})
    drawn: list[dict[str, Any]] = []
    for curve in CURVES:
        series: list[dict[str, Any]] = []
        for value in curve.values:
            points = [(point, *counts[_number(curve.variant(point, value))]) for point in curve.points]
            series.append({"name": f"{curve.standing} {value:g}", "points": points})
        drawn.append(
            {
                "name": curve.name,
                "x_label": curve.x_label,
                "y_label": "accuracy per question",
                "series": series,
            }
        )
    write_json(out, drawn, indent=1)
    return {"variants": len(POINTS)}


def _number(variant: Variant) -> str:
    return f"ablations/{variant.name}/per_question"


def make_determinism(workspace: Workspace, out: Path) -> dict[str, Any]:
    """Compute the same answers in every way, and hold the hashes side by side."""
    found = determinism.runs(workspace, CLEVRER, "ablations/determinism")
    write_json(out, found, indent=1)
    return {"distinct hashes": len({run.sha256 for run in found})}
