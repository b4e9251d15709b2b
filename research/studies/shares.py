"""The shares that a study counted: a table, and a figure for each benchmark."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from markupsafe import Markup

from orchestration.rendering.tables import FORMATS, Place, Table, read_list, write_csv
from orchestration.scoring.formatting import bounds, share
from orchestration.scoring.scores import count_of
from orchestration.stage import Stage
from orchestration.studies.study import Part, Study, counted
from orchestration.workspace.dataset_files import kind_of
from orchestration.workspace.folders import Workspace
from research.studies.figures import Fall, Point, fall
from substrate.base.files import write_json

FALLS = "falls.json"
"""The counts behind a study's table and figures."""


class Shares(NamedTuple):
    """The table of a study: a row for each setting and condition among its rows' subsets.

    Attributes:
        title: its heading in the report.
        caption: its caption, with ``{seed}`` and ``{profile}``; a list of the measured data is added.
        heads: its columns.
        conditions: their order in the table; if empty, the order of their first rows.
        pooled: true for shares of all answers of a setting, false for shares of a condition's answers.
        drawn: whether the counts are also written as CSV and JSON, with a figure for each part.
        about: the report's text above those figures.
    """

    title: str
    caption: str
    heads: Sequence[str]
    conditions: Sequence[str] = ()
    pooled: bool = False
    drawn: bool = False
    about: str = ""


class Cell(NamedTuple):
    """A setting under a condition. Rows name both in one text, their subset; a table has a line for both.

    >>> Cell.of(Cell("predictive.C", "as it is").subset)
    Cell(setting='predictive.C', condition='as it is')
    """

    setting: str
    condition: str

    @property
    def subset(self) -> str:
        """The subset of the rows, "SETTING: CONDITION"."""
        return f"{self.setting}: {self.condition}"

    @classmethod
    def of(cls, subset: str) -> Cell:
        """The setting and the condition of a subset."""
        setting, _, condition = subset.partition(": ")
        return cls(setting, condition)


class Weighed(msgspec.Struct, frozen=True):
    """A number of answers of a case that have something in common."""

    benchmark: str
    split: str
    subset: str
    scene: int | str
    n: int
    correct: bool = True


def table_of(falls: Sequence[Fall], caption: str, heads: Sequence[str]) -> Table:
    """A table with a row for each setting and condition; missing counts appear as not measured."""
    points = [(series.title, point) for series in falls for point in series.points]
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
    """The measured points as lines of a CSV file, heads first; proportions have six digits."""
    heads = ("benchmark", "asked", "input", "n", "correct", "accuracy", "low", "high")
    lines: list[tuple[object, ...]] = []
    for series in falls:
        for point in series.points:
            if point.n:
                count = count_of(point.correct, point.n)
                measured = point.n, point.correct, count.accuracy, *(count.wilson or ())
                lines.append((series.name, point.setting, point.condition, *measured))
    return [heads, *lines]


def tabled(study: str, shares: Shares) -> dict[str, Any]:
    """The fields of a study that has a table."""
    drawn = {"figures": partial(figures_of, study, shares.about)} if shares.drawn else {}
    return {"title": shares.title, "stages": partial(table_stages, shares), **drawn}


def figures_of(study: str, about: str, workspace: Workspace) -> tuple[str, list[tuple[str, Markup]]]:
    """The text about a study's figures, and the title and figure of each benchmark, for the report."""
    falls = read_list(workspace.artifacts / study / FALLS, Fall)
    measured = (series for series in falls if any(point.n for point in series.points))
    return about, [(series.title, Markup(fall(f"fall-{series.name}", series))) for series in measured]


def table_stages(shares: Shares, study: Study) -> list[Stage]:
    """Make the stage of a study's table and of the figures of the same counts."""
    outs = [study.file(f"table.{suffix}") for suffix in FORMATS]
    about = f"{shares.title}: counts, shares and Wilson's interval, a row for each thing that was counted"
    if shares.drawn:
        about += ", and a figure of each benchmark"
        drawn = ("table.csv", FALLS, *(f"{part.name}.svg" for part in study.parts))
        outs += map(study.file, drawn)
    rows = [f"{study.name}/{part.name}" for part in study.parts]
    data = [f"{part.base.source.name}/dataset" for part in study.parts]
    needs = tuple(dict.fromkeys([*rows, *data]))
    make = partial(make_table, study, shares)
    return [Stage(f"tables/{study.name}", tuple(outs), make, f"{about}.", needs=needs, parameters=("seed",))]


def make_table(study: Study, shares: Shares, workspace: Workspace, *outs: Path) -> dict[str, Any]:
    """Count a study's rows by setting and condition, and write the counts as a table."""
    falls = [_fall(study, shares, part, workspace) for part in study.parts]
    sources = dict.fromkeys(
        f"{part.base.source.title} {kind_of(workspace, part.base.source)}" for part in study.parts
    )
    caption = shares.caption.format(seed=workspace.settings.seed, profile=workspace.settings.profile)
    table = table_of(falls, f"{caption} Measured on: {', '.join(sources)}.", shares.heads)
    for suffix, out in zip(FORMATS, outs, strict=False):
        out.write_text(table.render(suffix), "utf-8")
    if shares.drawn:
        lines, counts, *drawings = outs[len(FORMATS) :]
        write_csv(lines, lines_of(falls))
        write_json(counts, falls, indent=1)
        for curve, out in zip(falls, drawings, strict=True):
            out.write_text(fall(f"fall-{curve.name}", curve, alone=True), "utf-8")
    return {"rows": len(table.rows)}


def _fall(study: Study, shares: Shares, part: Part, workspace: Workspace) -> Fall:
    """The counts of a part, for its table."""
    subsets = counted(workspace.path(study.rows_file(part))).items()
    counts = {Cell.of(subset): count for subset, count in subsets}
    of_setting: Counter[str] = Counter()
    for cell, count in counts.items():
        of_setting[cell.setting] += count.total()
    cells = [Cell.of(subset) for subset in part.subsets]
    if not cells:
        order = shares.conditions or dict.fromkeys(cell.condition for cell in counts)
        every = (Cell(setting, condition) for setting in of_setting for condition in order)
        cells = [cell for cell in every if cell in counts]
    points: list[Point] = []
    for cell in cells:
        count = counts.get(cell, Counter[bool]())
        n = of_setting[cell.setting] if shares.pooled else count.total()
        points.append(Point(*cell, n, count[True]))
    return Fall(part.name, part.base.title, points)
