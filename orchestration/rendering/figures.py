"""Matplotlib figures as inline SVG: the same bytes on every run, selectable text, and the page's colours.

Colours are drawn as hex values and then replaced by CSS variables, so that the page chooses light or dark.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

import msgspec

from orchestration.scoring.statistics import wilson

if TYPE_CHECKING:
    from matplotlib.axes import Axes

INK, FAINT, MEASURED, PAPER, NS_DR, ALOE = "#111111", "#aaaaaa", "#0072b2", "#56b4e9", "#d55e00", "#009e73"
MUTED = "#555555"
_VARIABLES = {
    INK: "currentColor",
    MUTED: "var(--muted)",
    FAINT: "var(--line)",
    MEASURED: "var(--measured)",
    PAPER: "var(--paper)",
    NS_DR: "var(--ns_dr)",
    ALOE: "var(--aloe)",
}
# The style of all figures; its colours are those of :data:`INK` and :data:`FAINT`.
_STYLE = Path(__file__).with_name("figures.mplstyle")


class Series(msgspec.Struct, frozen=True):
    """A line of a curve, as points of (x, correct, n)."""

    name: str
    points: list[tuple[float, int, int]]


class Curve(msgspec.Struct, frozen=True):
    """The accuracy of an ablation as a parameter moves."""

    name: str
    x_label: str
    y_label: str
    series: list[Series]


def ablation_curve(name: str, curve: Curve) -> str:
    """Accuracy with its Wilson band over a parameter, a line a series.

    The lines borrow the colours of systems, and show none of them.
    """

    def draw(axes: Axes) -> None:
        for series, colour, marker in zip(curve.series, (MEASURED, NS_DR, ALOE, PAPER), "os^D", strict=False):
            points = sorted((x, correct, n) for x, correct, n in series.points if n)
            xs, shares = [x for x, _, _ in points], [100 * correct / n for _, correct, n in points]
            low, high = ([100 * wilson(*point[1:])[edge] for point in points] for edge in (0, 1))
            axes.fill_between(xs, low, high, color=colour, alpha=0.15, linewidth=0)
            style = {"color": colour, "marker": marker, "markersize": 4, "linewidth": 1.5}
            axes.plot(xs, shares, label=series.name, **style)
        axes.set_xlabel(curve.x_label)
        axes.set_ylabel(f"{curve.y_label}, %")
        if len(curve.series) > 1:
            axes.legend(fontsize=9)

    about = f"{curve.name}: {curve.y_label} against {curve.x_label}, with 95 % intervals."
    return svg(name, about, draw)


# Held while matplotlib draws: its settings and fonts are global, and stages run in threads.
_DRAWING = Lock()


def svg(
    name: str, description: str, draw: Callable[[Axes], None], *, height: float = 3.3, alone: bool = False
) -> str:
    """A figure 5 inches wide as an SVG element that fills its column; ids start with the figure's name.

    Args:
        height: in inches.
        alone: whether it is a separate file, on white, rather than an element of a page.
    """
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    text = io.StringIO()
    with _DRAWING, rc_context({"svg.hashsalt": name}, fname=_STYLE):
        figure = Figure(figsize=(5, height), layout="constrained")
        draw(figure.add_subplot())
        none: dict[str, Any] = dict.fromkeys(("Date", "Creator", "Format", "Type"))
        figure.savefig(text, format="svg", transparent=not alone, metadata=none)
    return text.getvalue() if alone else _page_ready(text.getvalue(), name, description)


def _page_ready(svg: str, name: str, description: str) -> str:
    """The SVG element with the page's size, colours and font, and unique ids.

    >>> style = "fill: #0072b2; font-size: 10px; font-family: 'DejaVu Sans'; x: 0"
    >>> drawn = f'<?xml?><svg width="3pt" viewBox="0 0 3 3"><g id="a" style="{style}"/></svg>'
    >>> _page_ready(drawn, "f", "A b.")
    '<svg role="img" aria-label="A b." viewBox="0 0 3 3"><g id="f-a" style="fill: var(--measured); font-size:
    10px; x: 0"/></svg>'
    """
    opening = rf'<svg role="img" aria-label="{description}" \1>'
    svg = re.sub(r'.*?<svg[^>]*(viewBox="[^"]*")[^>]*>', opening, svg.strip(), count=1, flags=re.DOTALL)
    svg = re.sub(r"<defs>\s*<style.*?</style>\s*</defs>\s*", "", svg, flags=re.DOTALL)
    svg = re.sub(r'\bid="', f'id="{name}-', svg)
    svg = re.sub(r'(url\(|href=")#', rf"\1#{name}-", svg)
    svg = svg.replace("font-family: 'DejaVu Sans'; ", "")
    return page_coloured(svg).replace("xlink:href", "href")


def page_coloured(svg: str) -> str:
    """Replace a drawing's colours by the page's."""
    for colour, variable in _VARIABLES.items():
        svg = svg.replace(colour, variable)
    return svg
