"""Tables of results as the report shows them: seven columns first, and their files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from orchestration.lineage.number import NUMBERS
from orchestration.rendering.page import label as words_of
from orchestration.rendering.tables import Table, write_csv
from orchestration.scoring.comparability import percent
from orchestration.scoring.counting import is_detail
from orchestration.scoring.scores import Score

_MOST = 7
"""The number of columns shown at first; they fit a page of 1,200 pixels."""


def report_table(
    title: str, table: Table, scores: Mapping[str, Score], files: Mapping[str, str]
) -> dict[str, Any]:
    """A table as the report's page shows it, with every cell of the other formats.

    A column is a head; a row is a label and its cells; each also tells whether it is shown only on demand. A
    cell is its text, the number whose trace it opens (empty unless it was measured), and the interval below.

    Args:
        files: the places of the table's files by format.
    """
    places = [at for at in range(len(table.heads)) if table.place(at) != "below"]
    columns: list[tuple[str, bool]] = []
    for at in places:
        again = table.heads[at] in [head for head, _ in columns]
        full = sum(not more for _, more in columns) >= _MOST
        columns.append((table.heads[at], again or full or table.place(at) == "detail"))
    rows: list[tuple[str, bool, list[tuple[str, str, str]]]] = []
    for texts, numbers in zip(table.rows, table.numbers, strict=True):
        cells: list[tuple[str, str, str]] = []
        for at in places[1:]:
            score, own = scores.get(numbers[at]), not table.cited[at]
            measured = score and own and texts[at].partition(" [")[0] == percent(score)
            below = texts[at + 1] if at + 1 < len(texts) and table.place(at + 1) == "below" else ""
            cells.append((texts[at], numbers[at] if measured else "", below))
        known = NUMBERS[numbers[0]].numbers if numbers[0] in NUMBERS else ()
        # Parts of a mean with many parts are shown on demand.
        label = words_of(texts[0]) if texts[0] in known else texts[0]
        rows.append((label, is_detail(numbers[0], known), cells))
    return {"title": title, "columns": columns, "rows": rows, "caption": table.caption, "files": files}


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
