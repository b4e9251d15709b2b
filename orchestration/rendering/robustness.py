"""Robustness and reliability as the report shows them: a table, and a figure for each benchmark."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from markupsafe import Markup

from orchestration.rendering.figures import Fall, fall, reliability_diagram
from orchestration.rendering.tables import Table, read_list
from orchestration.scoring.formatting import bounds, share
from orchestration.scoring.scores import count_of
from orchestration.studies.reliability import EVENTS, RELIABILITY, Reliability, bins_file
from orchestration.studies.robustness import ROBUSTNESS
from orchestration.workspace.folders import Workspace

FALLS = ROBUSTNESS.file("falls.json")
"""The counts that table and figures are drawn from."""


def table_of(falls: Sequence[Fall], caption: str, heads: Sequence[str]) -> Table:
    """A row for each setting and condition; what was not asked is not measured."""
    points = [(one.title, point) for one in falls for point in one.points]
    rows: list[list[str]] = []
    for title, point in points:
        right, n = point.correct, point.n
        said = [share(right, n), bounds(right, n)] if n else ["not measured", ""]
        rows.append([title, point.setting, point.condition, f"{right:,}", f"{n:,}", *said])
    return Table(caption, heads, rows, [[""] * len(heads) for _ in rows], [{} for _ in heads])


def lines_of(falls: Sequence[Fall]) -> list[tuple[object, ...]]:
    """The same as lines of a CSV file, heads first; proportions with six digits."""
    heads = ("benchmark", "asked", "input", "n", "correct", "accuracy", "low", "high")
    points = [(one.name, of, count_of(of.correct, of.n)) for one in falls for of in one.points if of.n]
    lines = [
        (name, of.setting, of.condition, of.n, of.correct, count.accuracy, *(count.wilson or ()))
        for name, of, count in points
    ]
    return [heads, *lines]


def reliability_figures(workspace: Workspace) -> dict[str, dict[str, Any]]:
    """For the report: by the part of the study that said some probabilities, the diagram of all subsets, and
    a line of words for each.
    """
    drawn: dict[str, dict[str, Any]] = {}
    for part in RELIABILITY.parts:
        if found := [one for one in read_list(workspace.path(bins_file(part.name)), Reliability) if one.n]:
            series = {one.subset: one.bins for one in found}
            svg = Markup(reliability_diagram(f"reliability-{part.name}", series))
            drawn[part.name] = {"svg": svg, "lines": [in_words(one) for one in found]}
    return drawn


def in_words(one: Reliability) -> str:
    """A subset's Brier score beside what simpler words would have."""
    what = "" if one.subset in EVENTS else " choices"
    return (
        f"{one.subset}: {one.n:,}{what}, Brier score {one.brier:.4f} ({one.plain:.4f} if 0 or 1 were said "
        f"as is likelier, {one.constant:.4f} if how common it is)"
    )


def robustness_figures(workspace: Workspace) -> list[tuple[str, Markup]]:
    """For the report: the title of each benchmark that was measured, with its figure."""
    return [
        (one.title, Markup(fall(f"fall-{one.name}", one)))
        for one in read_list(workspace.path(FALLS), Fall)
        if any(point.n for point in one.points)
    ]
