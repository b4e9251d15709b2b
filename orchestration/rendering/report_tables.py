"""Tables of results as the report shows them: seven columns first, and their files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import msgspec

from orchestration.registry import BENCHMARKS
from orchestration.rendering.page import label as words_of
from orchestration.rendering.tables import Column, Table, write_csv
from orchestration.scoring.comparability import percent
from orchestration.scoring.counting import is_detail
from orchestration.scoring.scores import Score

_MOST = 7
"""The number of columns shown at first; they fit a page of 1,200 pixels."""


class Cell(NamedTuple):
    """A cell of a table; a measured number has the name of its trace, and an interval goes below."""

    text: str
    number: str | None = None
    below: str = ""


class Row(NamedTuple):
    """A row's label and cells, and whether the row is shown only on demand."""

    label: str
    cells: list[Cell]
    more: bool = False


class ReportTable(NamedTuple):
    """A table of the run, its measured numbers tied to their scores.

    ``files`` has the places of its files by format. All columns are there, of which seven are shown at once.
    """

    name: str
    title: str
    columns: list[Column]
    rows: list[Row]
    caption: str
    files: Mapping[str, str]

    @property
    def folds(self) -> bool:
        """Tell whether some rows or columns are shown only on demand."""
        return any(row.more for row in self.rows) or any(column.place for column in self.columns)


def report_table(
    name: str, title: str, table: Table, scores: Mapping[str, Score], files: Mapping[str, str]
) -> ReportTable:
    """A table for a reader, with every cell of the other formats."""
    places = [at for at in range(len(table.heads)) if table.place(at) != "below"]
    columns: list[Column] = []
    for at in places:
        again = table.heads[at] in [column.head for column in columns]
        full = sum(not column.place for column in columns) >= _MOST
        columns.append(Column(table.heads[at], place="detail" if again or full else table.place(at)))
    rows: list[Row] = []
    for texts, numbers in zip(table.rows, table.numbers, strict=True):
        cells: list[Cell] = []
        for at in places[1:]:
            score, own = scores.get(numbers[at]), not table.cited[at]
            measured = score and own and texts[at].partition(" [")[0] == percent(score)
            below = texts[at + 1] if at + 1 < len(texts) and table.place(at + 1) == "below" else ""
            cells.append(Cell(texts[at], numbers[at] if measured else None, below))
        rows.append(_row(texts[0], numbers[0], cells))
    return ReportTable(name, title, columns, rows, table.caption, files)


def _row(label: str, number: str, cells: list[Cell]) -> Row:
    """A row with its number in words; parts of a mean with many parts are shown on demand."""
    own = BENCHMARKS.get(number.partition("/")[0])
    if own is None:
        return Row(label, cells)
    if label in own.numbers:
        label = words_of(label)
    return Row(label, cells, is_detail(number, own.numbers))


def write_files(table: Table, name: str, tex: Path, out: Path) -> dict[str, str]:
    """Write a table as CSV, JSON Lines and TeX into the report's folder; return the paths by format."""
    folder = out / "tables"
    folder.mkdir(exist_ok=True)
    write_csv(folder / f"{name}.csv", [table.heads, *table.rows])
    # Repeated heads get a number.
    heads = [f"{head} {at + 1}" if head in table.heads[:at] else head for at, head in enumerate(table.heads)]
    lines = [msgspec.json.encode(dict(zip(heads, row, strict=True))) for row in table.rows]
    (folder / f"{name}.jsonl").write_bytes(b"".join(line + b"\n" for line in lines))
    (folder / f"{name}.tex").write_bytes(tex.read_bytes())
    formats = {"CSV": "csv", "JSON Lines": "jsonl", "TeX": "tex"}
    return {title: f"tables/{name}.{suffix}" for title, suffix in formats.items()}
