"""The paper's ablations: CLEVRER's questions answered again with one thing changed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import msgspec

from orchestration.benchmarks.clevrer import log_name, questions_by_scene
from orchestration.settings import convert, override
from substrate.domains.clevrer.interpreter import LANGUAGE, rows
from substrate.domains.clevrer.parameters import Parameters
from substrate.domains.clevrer.program import World
from substrate.domains.clevrer.scene import Scene
from substrate.log import EventLog
from substrate.rows import encode


class Variant(NamedTuple):
    """A setting of CLEVRER's interpreter, asked the questions of one subset.

    >>> Variant("explanatory", "global", ("explanatory.reference_frame=global",)).name
    'explanatory.global'
    """

    subset: str
    label: str
    overrides: tuple[str, ...]

    @property
    def name(self) -> str:
        """The subset's name in rows and numbers."""
        return f"{self.subset}.{self.label}"

    def parameters(self, base: Parameters) -> Parameters:
        """The settings with this variant's on top."""
        return convert(override(msgspec.to_builtins(base), self.overrides), Parameters, self.name)


def _of(subset: str, key: str, *values: str) -> list[Variant]:
    return [Variant(subset, value, (f"{subset}.{key}={value}",)) for value in values]


VARIANTS = (
    *_of("explanatory", "reference_frame", "event", "printed", "global"),
    *_of("counterfactual", "method", "duality", "partner", "simulated"),
    Variant("counterfactual", "bullet", ("counterfactual.method=simulated", "engine=bullet")),
    *_of("predictive", "configuration", "A", "B", "C", "S"),
    Variant("predictive", "bullet", ("predictive.configuration=S", "engine=bullet")),
)
"""What the tables show, in their order."""


class Curve(NamedTuple):
    """Configuration C's accuracy as one parameter moves and another stands at each of a few values."""

    moving: str
    points: tuple[float, ...]
    standing: str
    values: tuple[float, ...]
    x_label: str

    def variant(self, point: float, value: float) -> Variant:
        """The setting of one point."""
        settings = (f"{self.moving}={point:g}", f"{self.standing}={value:g}")
        return Variant(
            "predictive",
            ",".join(settings),
            ("predictive.configuration=C", *(f"predictive.{setting}" for setting in settings)),
        )


CURVES = (
    Curve("tau", (0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1.0, 1.3, 1.7, 2.1), "horizon", (75, 300), "τ (scene units)"),
    Curve("horizon", (15, 30, 50, 75, 100, 150, 200, 300), "tau", (0.4, 1.7), "horizon (frames)"),
)
"""What the figures show. CLEVRER's truth ends about 2 s after the video: 75 frames."""

POINTS = tuple(
    curve.variant(point, value) for curve in CURVES for value in curve.values for point in curve.points
)
"""The settings of all curves; some of them belong to two."""


@dataclass(frozen=True)
class AnswerVariants:
    """Event logs and questions ► a row for each question of a subset and each of its variants."""

    logs: Path
    questions: Path
    parameters: Parameters
    split: str
    variants: tuple[Variant, ...]

    def __call__(self, scenes: Sequence[int]) -> Iterator[str]:
        """The rows of the scenes as JSON lines, by scene, then question, then variant."""
        asked = questions_by_scene(self.questions)
        worlds = [(variant, variant.parameters(self.parameters)) for variant in dict.fromkeys(self.variants)]
        for number in scenes:
            log = EventLog.read(self.logs / log_name(number))
            scene, common = (
                Scene(log),
                {"benchmark": "ablations", "split": self.split, "scene": number, "log": log.digest},
            )
            found = []
            for variant, parameters in worlds:
                questions = [q for q in asked[number].questions if q.question_type == variant.subset]
                found += rows(
                    questions, World(scene, parameters), LANGUAGE, lambda _, name=variant.name: name, common
                )
            # A stable sort: the rows of one question stay in the order of the variants.
            yield from (encode(row).decode() for row in sorted(found, key=lambda row: row.question))
