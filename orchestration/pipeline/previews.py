"""Previews of a stage's outs for the UI: rows, accuracies, the first lines as a table.

Everything is read from the files themselves. The report has the figures, and Dagster draws each number over
the runs.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping, Sequence
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
from orchestration.workspace.tables import read_index

Metadata = dict[str, Any]
_SHOWN = 10
_CELL = 80
_READ_FIRST = ("scene", "question", "predicted", "expected", "correct", "subset")
"""The keys that a row begins with in the UI, since the page is narrower than a row."""
_TYPES = {int: "int", float: "float", bool: "bool"}


def preview(outs: Sequence[Path]) -> Metadata:
    """Metadata of a materialisation, by what its outs are: files or folders that a stage made."""
    scores: list[Score] = []
    for path in (out for out in outs if out.parent.name == "metrics"):
        with suppress(msgspec.ValidationError):
            scores += read_metrics(path)
    metadata: Metadata = _of_scores(scores) if scores else {}
    for out in () if scores else outs:
        metadata |= next((show(out) for fits, show in _SHOWS if fits(out)), {})
    if isinstance(table := metadata.get("preview"), dg.TableMetadataValue):
        metadata["dagster/column_schema"] = table.schema
    return metadata


def _of_scores(scores: Sequence[Score]) -> Metadata:
    """Each accuracy as a number, which Dagster draws over the runs, and all of them as a table."""
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


def _of_rows(path: Path) -> Metadata:
    """Answers: how many, how many of them right with Wilson's interval, accuracy by subset, the first."""
    counts = counted(path)
    metadata: Metadata = {"dagster/row_count": line_count(path)}
    if counts:
        right, total = sum(c[True] for c in counts.values()), sum(c.total() for c in counts.values())
        low, high = wilson(right, total)
        by_subset = [
            {
                "subset": subset,
                "accuracy": f"{count[True] / count.total():.2%}",
                "correct": count[True],
                "n": count.total(),
            }
            for subset, count in counts.items()
        ]
        metadata |= {
            "accuracy": right / total,
            "interval": f"[{low:.2%}, {high:.2%}], Wilson, 95 %",
            "by subset": _table(by_subset),
        }
    first = [
        {key: row[key] for key in dict.fromkeys([*_READ_FIRST, *row]) if key in row}
        for row in _first_lines(path)
    ]
    return metadata | {"preview": _table(first)}


def _of_logs(index: Path) -> Metadata:
    """Event logs: how many, how many deltas, the first of the index."""
    entries = list(read_index(index))
    rows = [msgspec.structs.asdict(entry) for entry in entries[:_SHOWN]]
    deltas = sum(entry.deltas for entry in entries)
    return {"dagster/row_count": len(entries), "deltas": deltas, "preview": _table(rows)}


def _of_folder(folder: Path) -> Metadata:
    """Data: how many files and bytes, and the first of them."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    rows = [{"file": path.relative_to(folder).as_posix(), "bytes": path.stat().st_size} for path in files]
    size = sum(row["bytes"] for row in rows)
    return {"dagster/row_count": len(files), "bytes": size, "preview": _table(rows[:_SHOWN])}


def _of_lines(path: Path) -> Metadata:
    return {"dagster/row_count": line_count(path), "preview": _table(_first_lines(path))}


def _of_csv(path: Path) -> Metadata:
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return {"dagster/row_count": len(rows), "preview": _table(rows[:_SHOWN])}


def _of_markdown(path: Path) -> Metadata:
    """A text, and the rows of the table in it, which the UI shows without a click."""
    text = path.read_text("utf-8")
    lines = [line.strip("|").split("|") for line in text.splitlines() if line.startswith("|")]
    heads, *rows = [[cell.strip() for cell in line] for line in lines] or [[]]
    table = _table([dict(zip(heads, row, strict=False)) for row in rows[1:]])
    return {"preview": table, "table": dg.MetadataValue.md(text)}


_SHOWS: Sequence[tuple[Callable[[Path], bool], Callable[[Path], Metadata]]] = (
    (lambda path: path.name == "index.jsonl", _of_logs),
    (Path.is_dir, _of_folder),
    (lambda path: path.name == "answers.jsonl", _of_rows),
    (lambda path: path.suffix == ".jsonl", _of_lines),
    (lambda path: path.suffix == ".csv", _of_csv),
    (lambda path: path.suffix == ".md", _of_markdown),
)


def _first_lines(path: Path) -> list[Mapping[str, Any]]:
    with path.open("rb") as file:
        return [msgspec.json.decode(line) for line in islice(file, _SHOWN)]


def _table(rows: Sequence[Mapping[str, Any]]) -> dg.TableMetadataValue | str:
    """Rows as the UI shows them: a column for every key, nested values as JSON, long ones cut."""
    if not rows:
        return "nothing is in it"
    columns = list(dict.fromkeys(key for row in rows for key in row))
    kinds = {column: {type(row.get(column)) for row in rows} - {type(None)} for column in columns}
    types = {name: _TYPES.get(next(iter(kind)), "string") for name, kind in kinds.items() if len(kind) == 1}
    return dg.MetadataValue.table(
        records=[dg.TableRecord({column: _cell(row.get(column)) for column in columns}) for row in rows],
        schema=dg.TableSchema([dg.TableColumn(name, types.get(name, "string")) for name in columns]),
    )


def _cell(value: Any) -> str | int | float | bool | None:
    if isinstance(value, list | dict):
        value = msgspec.json.encode(value).decode()
    return f"{value[: _CELL - 1]}…" if isinstance(value, str) and len(value) > _CELL else value
