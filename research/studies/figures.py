"""The figures of studies, and the counts that they show.

`fall` draws accuracies under conditions, `reliability_diagram` shares of what came true by probability.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from orchestration.rendering.figures import ALOE, FAINT, INK, MEASURED, NS_DR, PAPER, svg
from orchestration.scoring.statistics import wilson
from research.domains.calibration import Bin

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MARKED_POINTS: dict[str, Any] = {"markersize": 4, "elinewidth": 1}
_ABOVE: dict[str, Any] = {"loc": "lower center", "bbox_to_anchor": (0.4, 1.0), "ncols": 2}
_ABOVE |= {"fontsize": 9, "handlelength": 1.2}
"""The style of a legend above its figure."""


def whiskers(counts: Sequence[tuple[int, int]], whole: float = 100) -> tuple[list[float], list[list[float]]]:
    """The shares of some counts, and the distances to the lower and upper bounds of their 95 % intervals.

    >>> whiskers([(1, 2)], whole=1)[0]
    [0.5]
    """
    shares = [whole * correct / n for correct, n in counts]
    bounds = [wilson(correct, n) for correct, n in counts]
    # By a rounding error a bound may lie on the wrong side of its estimate.
    below = [max(0.0, value - whole * low) for value, (low, _) in zip(shares, bounds, strict=True)]
    above = [max(0.0, whole * high - value) for value, (_, high) in zip(shares, bounds, strict=True)]
    return shares, [below, above]


class Point(msgspec.Struct, frozen=True):
    """A share: ``correct`` of ``n`` questions under a condition."""

    setting: str
    condition: str
    n: int
    correct: int


class Fall(msgspec.Struct, frozen=True):
    """The fall of a benchmark's accuracy over conditions, a point per setting and condition."""

    name: str
    title: str
    points: list[Point]


def fall(name: str, series: Fall, *, alone: bool = False) -> str:
    """Draw accuracy with its interval: a line per condition, a mark per setting.

    Args:
        alone: whether the figure is a separate file rather than an element of the report.
    """
    conditions = list(dict.fromkeys(point.condition for point in series.points))
    settings = list(dict.fromkeys(point.setting for point in series.points))
    colours = (MEASURED, NS_DR, ALOE, PAPER, INK)

    def draw(axes: Axes) -> None:
        for place, (setting, colour, marker) in enumerate(zip(settings, colours, "os^Dv", strict=False)):
            points = [point for point in series.points if point.setting == setting and point.n]
            values, errors = whiskers([(point.correct, point.n) for point in points])
            apart = 0.14 * (place - (len(settings) - 1) / 2)
            lines = [conditions.index(point.condition) + apart for point in points]
            style = MARKED_POINTS | {"color": colour, "marker": marker, "linewidth": 0, "label": setting}
            axes.errorbar(values, lines, xerr=errors, **style)
        axes.set_yticks(range(len(conditions)), conditions)
        axes.invert_yaxis()
        axes.set_xlabel("accuracy per question, %")
        axes.grid(visible=False, axis="y")
        axes.legend(**_ABOVE)

    about = f"{series.title}: accuracy per question where the input is not exact, with 95 % intervals."
    return svg(name, about, draw, height=1.4 + 0.3 * len(conditions), alone=alone)


def reliability_diagram(name: str, series: Mapping[str, Sequence[Bin]], *, alone: bool = False) -> str:
    """Draw the share that is correct over the stated probability, a line for each kind of question or event.

    Args:
        alone: as for :func:`fall`.
    """
    styles = zip((MEASURED, NS_DR, ALOE), "os^", strict=False)

    def draw(axes: Axes) -> None:
        axes.plot([0, 1], [0, 1], color=FAINT, linewidth=1)
        for (title, bins), (colour, marker) in zip(series.items(), styles, strict=False):
            shares, errors = whiskers([(bin_.right, bin_.n) for bin_ in bins], whole=1)
            style = MARKED_POINTS | {"color": colour, "marker": marker, "linewidth": 1, "label": title}
            axes.errorbar([bin_.said for bin_ in bins], shares, yerr=errors, **style)
        axes.set(xlabel="probability said", ylabel="share that holds", xlim=(0, 1.02), ylim=(0, 1.02))
        if series:
            axes.legend(fontsize=9, loc="upper left")

    about = "Reliability: the share that holds against the probability said, with 95 % intervals."
    return svg(name, about, draw, height=4.2, alone=alone)
