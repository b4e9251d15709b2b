"""The shares that a study counted: a table, and a figure for each benchmark."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from orchestration.rendering.figures import Fall, fall
from orchestration.rendering.tables import Place, Table, read_list
from orchestration.scoring.formatting import bounds, share
from orchestration.scoring.scores import count_of
from orchestration.studies.study import Study
from orchestration.workspace.folders import Workspace

FALLS = "falls.json"
"""The counts behind a study's table and figures."""


def table_of(falls: Sequence[Fall], caption: str, heads: Sequence[str]) -> Table:
    """A table with a row for each setting and condition; missing counts appear as not measured."""
    points = [(fall.title, point) for fall in falls for point in fall.points]
    rows: list[list[str]] = []
    for title, point in points:
        right, n = point.correct, point.n
        shares = [share(right, n), bounds(right, n)] if n else ["not measured", ""]
        rows.append([title, point.setting, point.condition, f"{right:,}", f"{n:,}", *shares])
    beside: list[Place] = [""] * (len(heads) - 1)
    return Table(
        caption, heads, rows, [[""] * len(heads) for _ in rows], [{} for _ in heads], [*beside, "below"]
    )


def lines_of(falls: Sequence[Fall]) -> list[tuple[object, ...]]:
    """The same rows as lines of a CSV file, heads first; proportions have six digits."""
    heads = ("benchmark", "asked", "input", "n", "correct", "accuracy", "low", "high")
    points = [(fall.name, of, count_of(of.correct, of.n)) for fall in falls for of in fall.points if of.n]
    lines = [
        (name, of.setting, of.condition, of.n, of.correct, count.accuracy, *(count.wilson or ()))
        for name, of, count in points
    ]
    return [heads, *lines]


def figures_of(study: Study, workspace: Workspace) -> list[tuple[str, Markup]]:
    """The title and figure of each benchmark in a study, for the report."""
    return [
        (series.title, Markup(fall(f"fall-{series.name}", series)))
        for series in read_list(workspace.path(study.file(FALLS)), Fall)
        if any(point.n for point in series.points)
    ]
