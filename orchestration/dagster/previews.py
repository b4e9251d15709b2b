"""Previews of a stage's outs for the UI: row counts, accuracies, and the first lines as a table.

They are read from the files. The report has the figures, and Dagster plots each number over the runs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any

import dagster as dg
import msgspec

from orchestration.scoring.counting import line_count
from orchestration.scoring.likeness import beside, marked
from orchestration.scoring.scores import Score, read_metrics
from orchestration.scoring.statistics import wilson
from orchestration.studies.study import counted

Metadata = dict[str, Any]
_SHOWN = 10
_CELL = 80
_READ_FIRST = ("scene", "question", "predicted", "expected", "correct", "subset")
"""The columns shown first: the page is narrower than a row."""
_TYPES = {int: "int", float: "float", bool: "bool"}


def preview(outs: Sequence[Path]) -> Metadata:
    """Metadata of a materialisation for the files and folders that a stage made."""
    scores: list[Score] = []
    for path in (out for out in outs if out.parent.name == "metrics"):
        with suppress(msgspec.ValidationError):
            scores += read_metrics(path)
    metadata: Metadata = _of_scores(scores) if scores else {}
    for out in () if scores else outs:
        if out.is_dir():
            metadata |= _of_folder(out)
        elif out.suffix == ".jsonl":
            metadata |= _of_lines(out) | (_of_answers(out) if out.name == "answers.jsonl" else {})
        elif out.suffix == ".md":
            metadata |= _of_markdown(out)
    if isinstance(table := metadata.get("preview"), dg.TableMetadataValue):
        metadata["dagster/column_schema"] = table.schema
    return metadata


def _of_scores(scores: Sequence[Score]) -> Metadata:
    """Show each accuracy as a number, which Dagster plots over the runs, and all of them as a table."""
    rows = [
        {
            "number": score.name,
            "accuracy": "not measured" if score.accuracy is None else f"{score.accuracy:.2%}",
            "95 % interval": "" if score.wilson is None else f"{score.wilson[0]:.2%} – {score.wilson[1]:.2%}",
            "n": score.n,
            "correct": score.correct,
            "data": f"{score.data}, {score.split}" if score.data in ("official", "local") else score.data,
            **{marked(who, score.name): beside(score, who) for who in score.published},
        }
        for score in scores
    ]
    accuracies = {score.name: score.accuracy for score in scores if score.accuracy is not None}
    return {"dagster/row_count": len(scores), **accuracies, "preview": _table(rows)}


def _of_answers(path: Path) -> Metadata:
    """Show the number of right answers with Wilson's interval, and the accuracy by subset."""
    counts = counted(path)
    right, total = sum(c[True] for c in counts.values()), sum(c.total() for c in counts.values())
    if not total:
        return {}
    low, high = wilson(right, total)
    by_subset = [
        {"subset": subset, "accuracy": f"{c[True] / c.total():.2%}", "correct": c[True], "n": c.total()}
        for subset, c in counts.items()
    ]
    interval = f"[{low:.2%}, {high:.2%}], Wilson, 95 %"
    return {"accuracy": right / total, "interval": interval, "by subset": _table(by_subset)}


def _of_lines(path: Path) -> Metadata:
    """Show the number of rows and the first rows."""
    with path.open("rb") as file:
        rows: list[dict[str, Any]] = [msgspec.json.decode(line) for line in islice(file, _SHOWN)]
    first = [{key: row[key] for key in dict.fromkeys([*_READ_FIRST, *row]) if key in row} for row in rows]
    return {"dagster/row_count": line_count(path), "preview": _table(first)}


def _of_folder(folder: Path) -> Metadata:
    """Show the number of files and bytes, and the first files."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    rows = [{"file": path.relative_to(folder).as_posix(), "bytes": path.stat().st_size} for path in files]
    size = sum(row["bytes"] for row in rows)
    return {"dagster/row_count": len(files), "bytes": size, "preview": _table(rows[:_SHOWN])}


def _of_markdown(path: Path) -> Metadata:
    """Show a text, and the rows of its table, which the UI displays without a click."""
    text = path.read_text("utf-8")
    lines = [line.strip("|").split("|") for line in text.splitlines() if line.startswith("|")]
    heads, *rows = [[cell.strip() for cell in line] for line in lines] or [[]]
    table = _table([dict(zip(heads, row, strict=False)) for row in rows[1:]])
    return {"preview": table, "table": dg.MetadataValue.md(text)}


def _table(rows: Sequence[Mapping[str, Any]]) -> dg.TableMetadataValue | str:
    """Rows as a table of the UI: one column per key, nested values as JSON, long values cut."""
    if not rows:
        return "nothing is in it"
    columns = list(dict.fromkeys(key for row in rows for key in row))
    records = [dg.TableRecord({column: _cell(row.get(column)) for column in columns}) for row in rows]
    types = {column: _TYPES.get(type(rows[0].get(column)), "string") for column in columns}
    schema = dg.TableSchema([dg.TableColumn(name, type_) for name, type_ in types.items()])
    return dg.MetadataValue.table(records, schema)


def _cell(value: Any) -> str | int | float | bool | None:
    if isinstance(value, list | dict):
        value = msgspec.json.encode(value).decode()
    return f"{value[: _CELL - 1]}…" if isinstance(value, str) and len(value) > _CELL else value
