"""The questions of CLEVRER's validation split that MVBench selected, answered by each method."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from orchestration.benchmarks import benchmark as bm
from orchestration.benchmarks.clevrer import CLEVRER
from orchestration.benchmarks.real import MEASURED_ON
from orchestration.studies.ablations import ABLATIONS, VARIANTS, Variant, variant_rows
from research.benchmarks import REAL
from substrate.cause.explanation import Explanation
from substrate.domains.clevrer.parameters import Parameters
from substrate.domains.clevrer.scene import Scene
from substrate.domains.rows import Row

NAME = "clevrer_validation"
SELECTED: Mapping[str, Variant] = {
    variant.name: variant
    for variant in (Variant("descriptive", "", ()), *VARIANTS)
    if variant.subset in ("descriptive", "counterfactual") and variant.label not in ("printed", "bullet")
}
"""The ways in which the questions that MVBench selected are answered, by the names of their numbers."""


def selected_rows(case: bm.Case, logs: bm.Logs, parameters: Parameters, split: str) -> Iterable[Row]:
    """The rows of a scene's descriptive questions, and of its counterfactual ones by each method."""
    common = {"benchmark": NAME, "split": split, "scene": case.scene, "log": logs[0].digest}
    rows = variant_rows(SELECTED, case, Scene.of(logs[0]), parameters, common)
    return sorted(rows, key=lambda row: int(row.question))


def explain_selected(
    case: bm.Case, logs: bm.Logs, parameters: Parameters, subset: str, question: str
) -> Explanation | None:
    """Explain an answer by one of the methods."""
    return CLEVRER.explain(case, logs, SELECTED[subset].parameters(parameters), "", question)


_SELECTED = replace(
    CLEVRER.source,
    name=NAME,
    title="CLEVRER, questions that MVBench selected",
    about="Questions of CLEVRER's validation split that MVBench selected, with true events and tracks.",
    world=(),
    profiles=REAL,
)
CLEVRER_VALIDATION = replace(
    ABLATIONS,
    name=NAME,
    title="CLEVRER, selected by MVBench",
    numbers=(
        "clevrer_validation/descriptive/per_question",
        *bm.per_choice(NAME, *(name for name in SELECTED if name != "descriptive")),
    ),
    form="clevrer_validation/METHOD/SCENE/QUESTION",
    source=_SELECTED,
    logger=replace(CLEVRER.logger, name=NAME, source=_SELECTED),
    rows=selected_rows,
    explain=explain_selected,
    trivial={
        "counterfactual.filmed": "what was filmed",
        "counterfactual.filmed_partner": "what was filmed, and partners",
    },
    about={
        **ABLATIONS.about,
        MEASURED_ON: "validation split, selected by MVBench: one right choice each, none negated; true "
        "events, tracks every 5 frames",
    },
)
