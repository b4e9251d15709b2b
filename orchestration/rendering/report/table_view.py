"""Tables as the report's page shows them: seven columns first, others on demand; and their files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import msgspec

from orchestration.lineage.number import NUMBERS
from orchestration.rendering.tables import Table, write_csv
from orchestration.rendering.wording import label
from orchestration.scoring.comparability import percent
from orchestration.scoring.counting import is_detail
from orchestration.scoring.scores import Score

# The number of columns shown at first; they fit a page of 1,200 pixels.
_MOST = 7
Cell = tuple[str, str, str]  # its text, the number whose trace it opens (or nothing), the interval below


class TableView(NamedTuple):
    """A table as the report's page shows it, with every cell of the other formats.

    Attributes:
        title: its heading.
        columns: the heads, each with whether its column is shown only on demand.
        rows: the labels, each with whether its row is shown only on demand, and the cells.
        caption: its caption.
        files: the places of the table's files by format.
    """

    title: str
    columns: list[tuple[str, bool]]
    rows: list[tuple[str, bool, list[Cell]]]
    caption: str
    files: Mapping[str, str]


def table_view(title: str, table: Table, scores: Mapping[str, Score], files: Mapping[str, str]) -> TableView:
    """Choose what the page shows of a table at first, and which cells open the trace of a number."""
    places = [at for at in range(len(table.heads)) if table.place(at) != "below"]
    columns: list[tuple[str, bool]] = []
    for at in places:
        again = table.heads[at] in [head for head, _ in columns]
        full = sum(not more for _, more in columns) >= _MOST
        columns.append((table.heads[at], again or full or table.place(at) == "detail"))
    rows: list[tuple[str, bool, list[Cell]]] = []
    for texts, numbers in zip(table.rows, table.numbers, strict=True):
        cells: list[Cell] = []
        for at in places[1:]:
            # Every cell of a row names the row's number; only the cell with its percentage opens the trace.
            score, own = scores.get(numbers[at]), not table.cited[at]
            measured = score and own and texts[at].partition(" [")[0] == percent(score)
            below = texts[at + 1] if at + 1 < len(texts) and table.place(at + 1) == "below" else ""
            cells.append((texts[at], numbers[at] if measured else "", below))
        known = NUMBERS[numbers[0]].numbers if numbers[0] in NUMBERS else ()
        # Parts of a mean with many parts are shown on demand.
        words = label(texts[0]) if texts[0] in known else texts[0]
        rows.append((words, is_detail(numbers[0], known), cells))
    return TableView(title, columns, rows, table.caption, files)


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
