"""The paper's ablations: CLEVRER's questions, answered again with one setting changed."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from orchestration.benchmarks.benchmark import Case, Explained, Logs, Table, per_choice
from orchestration.benchmarks.clevrer import CLEVRER
from orchestration.benchmarks.real import MEASURED_ON
from orchestration.settings import convert, override
from orchestration.studies.study import Part, Study, counted
from substrate.base.files import write_json
from substrate.cause.explanation import Explanation
from substrate.domains.clevrer.answers import LANGUAGE
from substrate.domains.clevrer.answers import rows as clevrer_rows
from substrate.domains.clevrer.counterfactual import METHODS
from substrate.domains.clevrer.format import SceneQuestions
from substrate.domains.clevrer.parameters import Parameters, Predictive
from substrate.domains.clevrer.program import World
from substrate.domains.clevrer.scene import Scene
from substrate.domains.rows import Row


class Variant(NamedTuple):
    """A setting of CLEVRER's interpreter for the questions of one subset.

    >>> Variant("explanatory", "global", ("explanatory.reference_frame=global",)).name
    'explanatory.global'
    """

    subset: str
    label: str
    overrides: tuple[str, ...]

    @property
    def name(self) -> str:
        """The subset's name in rows and numbers."""
        return f"{self.subset}.{self.label}" if self.label else self.subset

    @property
    def simulates(self) -> bool:
        """Tell whether it needs motion; a log without any is not asked."""
        return self.subset == "predictive" or "counterfactual.method=simulated" in self.overrides

    @cache  # noqa: B019 - there are few variants, and they live as long as the module
    def parameters(self, base: Parameters) -> Parameters:
        """The settings with this variant's changes.

        A variant of the kinematics is a configuration as printed: it drops settings made for another.
        """
        raw, printed = msgspec.to_builtins(base), f"predictive.configuration={base.predictive.configuration}"
        if self.subset == "predictive" and printed not in self.overrides:
            raw["predictive"] = msgspec.to_builtins(Predictive())
        return convert(override(raw, self.overrides), Parameters, self.name)


def _of(subset: str, key: str, *values: str) -> list[Variant]:
    return [Variant(subset, value, (f"{subset}.{key}={value}",)) for value in values]


# The rows of the tables, in order.
VARIANTS = (
    *_of("explanatory", "reference_frame", "event", "printed", "global"),
    *_of("counterfactual", "method", *METHODS),
    Variant("counterfactual", "video", ("counterfactual.method=simulated", "counterfactual.horizon=0")),
    Variant("counterfactual", "bullet", ("counterfactual.method=simulated", "engine=bullet")),
    *_of("predictive", "configuration", "A", "B", "C", "S"),
    Variant("predictive", "bullet", ("predictive.configuration=S", "engine=bullet")),
)


class Curve(NamedTuple):
    """Accuracy under Algorithm 3 as a parameter moves, for a few values of a second, fixed parameter.

    Configurations B and C differ only in τ, which moves here: the curves of C are B's too.
    """

    moving: str
    points: tuple[float, ...]
    fixed: str
    values: tuple[float, ...]
    x_label: str
    configuration: str = "C"

    @property
    def name(self) -> str:
        """The title of the figure."""
        of = "" if self.configuration == "C" else f", configuration {self.configuration}"
        return f"predictive over {self.moving}{of}"

    def variant(self, point: float, value: float) -> Variant:
        """The setting of a point on a curve."""
        settings = (f"{self.moving}={point:g}", f"{self.fixed}={value:g}")
        label = settings if self.configuration == "C" else (self.configuration, *settings)
        overrides = (f"configuration={self.configuration}", *settings)
        return Variant("predictive", ",".join(label), tuple(f"predictive.{setting}" for setting in overrides))


_TAUS = (0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1.0, 1.3, 1.7, 2.1)
_HORIZONS = (15, 30, 50, 75, 100, 150, 200, 300)
_OF_C = (
    Curve("tau", _TAUS, "horizon", (75, 300), "τ (scene units)"),
    Curve("horizon", _HORIZONS, "tau", (0.4, 1.7), "horizon (frames)"),
)
# The curves of the figures. CLEVRER's truth ends about 2 s after the video: 75 frames.
CURVES = (*_OF_C, *(curve._replace(configuration="A") for curve in _OF_C))

# The settings of all curves; some belong to two curves.
POINTS = tuple(
    curve.variant(point, value) for curve in CURVES for value in curve.values for point in curve.points
)


def rows(
    variants: Sequence[Variant], case: Case, logs: Logs, parameters: Parameters, split: str
) -> Iterator[Row]:
    """The rows of each question under each variant of its subset, by question, then variant."""
    common = {"benchmark": NAME, "split": split, "scene": case.scene, "log": logs[0].digest}
    by_name = {variant.name: variant for variant in variants}
    unsorted = variant_rows(by_name, case, Scene.of(logs[0]), parameters, common)
    # The sort is stable: the rows of a question keep the order of the variants.
    yield from sorted(unsorted, key=lambda row: row.question)


def variant_rows(
    variants: Mapping[str, Variant], case: Case, scene: Scene, parameters: Parameters, common: dict[str, Any]
) -> Iterator[Row]:
    """The rows of a case under some variants, keyed by the subset that the rows name.

    Args:
        common: the fields that all rows share.
    """
    scene_questions = msgspec.json.decode(case.questions, type=SceneQuestions).questions
    for subset, variant in variants.items():
        if variant.simulates and not scene.has_motion:
            continue
        questions = [question for question in scene_questions if question.question_type == variant.subset]
        world = World(scene, variant.parameters(parameters))
        yield from clevrer_rows(questions, world, LANGUAGE, lambda _, name=subset: name, common)


def explain(case: Case, logs: Logs, parameters: Parameters, subset: str, question: str) -> Explanation | None:
    """Explain a variant's answer: CLEVRER's explanation under the variant's settings."""
    for variant in (*VARIANTS, *POINTS):
        if variant.name == subset:
            return CLEVRER.explain(case, logs, variant.parameters(parameters), "", question)
    return None


NAME = "ablations"
TABLE = Table(
    name="ablations",
    title="Ablations",
    about="The ablations: each algorithm's variants side by side, and whether the bytes of answers depend on "
    "how they are computed.",
    layout="by variant",
    needs=("ablations/determinism",),
    trivial=("questions/trivial",),
    labels={
        "explanatory": "reference frame",
        "counterfactual": "world without an object",
        "predictive": "motion after the video",
    },
)
ABLATIONS = Explained(
    name=NAME,
    title="Ablations on CLEVRER",
    numbers=per_choice(NAME, *(variant.name for variant in VARIANTS)),
    form="ablations/VARIANT/SCENE/QUESTION",
    table=(TABLE, 0),
    source=CLEVRER.source,
    logger=CLEVRER.logger,
    parameters=CLEVRER.parameters,
    rows=partial(rows, VARIANTS),
    explain=explain,
    picture=CLEVRER.picture,
    wordings=CLEVRER.wordings,
    # Explaining an answer from a simulated fork takes ten times as long as explaining others.
    worked=100,
    about={
        "answers": "A row a question and variant: reference frame, removed-partner rule, kinematics.",
        "scores": "Per-question and per-option accuracy of each variant, with Wilson's interval.",
        MEASURED_ON: CLEVRER.about[MEASURED_ON],
    },
)


def expected_rows(variants: Iterable[Variant], case: Case) -> dict[str, int]:
    """The number of a case's rows under each variant, by the variant's name: a row per question of its
    subset.
    """
    questions = msgspec.json.decode(case.questions, type=SceneQuestions).questions if case.questions else []
    counts = Counter(question.question_type for question in questions)
    return {variant.name: counts[variant.subset] for variant in variants}


def draw_curves(rows: Path, out: Path) -> dict[str, Any]:
    """Count right answers at every point of every curve."""
    counts = defaultdict(Counter[bool], counted(rows))
    drawn: list[dict[str, Any]] = []
    for curve in CURVES:
        series: list[dict[str, Any]] = []
        for value in curve.values:
            of_point = {point: counts[curve.variant(point, value).name] for point in curve.points}
            points = [(point, count[True], count.total()) for point, count in of_point.items()]
            series.append({"name": f"{curve.fixed} {value:g}", "points": points})
        about = {"name": curve.name, "x_label": curve.x_label, "y_label": "accuracy per question"}
        drawn.append({**about, "series": series})
    write_json(out, drawn, indent=1)
    return {"variants": len(POINTS)}


STUDY = Study(
    name=NAME,
    parts=(
        Part(
            name="curves",
            base=CLEVRER,
            about="Predictive accuracy per question as τ and the horizon move: the rows, and the counts a "
            "figure is drawn from.",
            rows=partial(rows, POINTS),
            expected=partial(expected_rows, POINTS),
            shown=("artifacts/{profile}/ablations/curves.json",),
        ),
    ),
    draw=draw_curves,
)
