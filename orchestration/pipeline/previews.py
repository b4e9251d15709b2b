"""Previews of a stage's outs for the UI: rows, accuracies, the first lines as a table, a plot.

Everything is read from the files themselves, so a stage that was skipped shows what one that ran does.
"""

from __future__ import annotations

import base64
import csv
import io
from array import array
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any

import dagster as dg
import msgspec

from orchestration.rendering.figures import DRAWING, whiskers
from orchestration.scoring.counting import line_count
from orchestration.scoring.likeness import beside, marked
from orchestration.scoring.scores import Score, read_metrics
from orchestration.scoring.statistics import wilson
from orchestration.studies.study import counted
from orchestration.workspace.tables import read_index

Metadata = dict[str, Any]
_SHOWN = 10
_CELL = 80


def preview(outs: Sequence[Path], inputs: Sequence[Path] = ()) -> Metadata:
    """Metadata of a materialisation, by what its outs are.

    Args:
        outs: files or folders that a stage made.
        inputs: those it read; a table's plot shows the scores that it was rendered from.
    """
    scores = read_scores(outs)
    metadata: Metadata = _of_scores(scores) if scores else {}
    for out in () if scores else outs:
        metadata |= next((show(out) for fits, show in _SHOWS if fits(out)), {})
    if from_scores := () if scores else read_scores(inputs):
        metadata["plot"] = _accuracies({one.name: (one.correct, one.n) for one in from_scores})
    if isinstance(table := metadata.get("preview"), dg.TableMetadataValue):
        metadata["dagster/column_schema"] = table.schema
    return metadata


def read_scores(paths: Sequence[Path]) -> list[Score]:
    """The scores among some files."""
    found: list[Score] = []
    for path in paths:
        if path.parent.name == "metrics":
            with suppress(msgspec.ValidationError):
                found += read_metrics(path)
    return found


def _of_scores(scores: Sequence[Score]) -> Metadata:
    """Each accuracy as a number, which Dagster draws over the runs; all of them as a table and a plot."""
    accuracies = {score.name: score.accuracy for score in scores if score.accuracy is not None}
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
    return {
        "dagster/row_count": len(scores),
        **accuracies,
        "preview": _table(rows),
        "plot": _accuracies({score.name: (score.correct, score.n) for score in scores}),
    }


def _of_rows(path: Path) -> Metadata:
    """Answers: how many, how many of them right with Wilson's interval, accuracy by subset, the first."""
    by_subset = {subset: (count[True], count.total()) for subset, count in counted(path).items()}
    metadata: Metadata = {"dagster/row_count": line_count(path)}
    if by_subset:
        right, total = (sum(column) for column in zip(*by_subset.values(), strict=True))
        low, high = wilson(right, total)
        metadata |= {
            "accuracy": right / total,
            "interval": f"[{low:.2%}, {high:.2%}], Wilson, 95 %",
            "by subset": _table(
                [
                    {"subset": subset, "accuracy": f"{r / n:.2%}", "correct": r, "n": n}
                    for subset, (r, n) in by_subset.items()
                ]
            ),
            "plot": _accuracies(by_subset),
        }
    # A row begins with what a reader looks for first, since the page is narrower than a row.
    first = [
        {key: row[key] for key in dict.fromkeys([*_READ_FIRST, *row]) if key in row}
        for row in _first_lines(path)
    ]
    return metadata | {"preview": _table(first)}


_READ_FIRST = ("scene", "question", "predicted", "expected", "correct", "subset")


def _of_logs(index: Path) -> Metadata:
    """Event logs: how many, how many deltas, the first of the index, the deltas of each."""
    rows, counts = list[dict[str, Any]](), array("q")
    for entry in read_index(index):
        counts.append(entry.deltas)
        if len(rows) < _SHOWN:
            rows.append(
                {"name": entry.name, "deltas": entry.deltas, "source": entry.source, "log": entry.log}
            )
    return {
        "dagster/row_count": len(counts),
        "deltas": sum(counts),
        "preview": _table(rows),
        "plot": _histogram(counts, "deltas", "logs"),
    }


def _of_folder(folder: Path) -> Metadata:
    """Data: how many files and bytes, and the first of them."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    rows = [
        {"file": path.relative_to(folder).as_posix(), "bytes": path.stat().st_size} for path in files[:_SHOWN]
    ]
    return {
        "dagster/row_count": len(files),
        "bytes": sum(path.stat().st_size for path in files),
        "preview": _table(rows),
    }


def _of_lines(path: Path) -> Metadata:
    return {"dagster/row_count": line_count(path), "preview": _table(_first_lines(path))}


def _of_csv(path: Path) -> Metadata:
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return {"dagster/row_count": len(rows), "preview": _table(rows[:_SHOWN])}


def _of_markdown(path: Path) -> Metadata:
    """A text, and the rows of the table in it, which the UI shows without a click."""
    text = path.read_text("utf-8")
    lines = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in text.splitlines()
        if line.startswith("|")
    ]
    heads, rows = lines[:1], lines[2:]
    return {
        "preview": _table([dict(zip(*heads, row, strict=False)) for row in rows]),
        "table": dg.MetadataValue.md(text),
    }


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
    records = [dg.TableRecord({column: _cell(row.get(column)) for column in columns}) for row in rows]
    return dg.MetadataValue.table(
        records=records,
        schema=dg.TableSchema([dg.TableColumn(column, _type(rows, column)) for column in columns]),
    )


def _cell(value: Any) -> str | int | float | bool | None:
    if isinstance(value, list | dict):
        value = msgspec.json.encode(value).decode()
    return f"{value[: _CELL - 1]}…" if isinstance(value, str) and len(value) > _CELL else value


def _type(rows: Sequence[Mapping[str, Any]], column: str) -> str:
    kinds = {type(row.get(column)) for row in rows} - {type(None)}
    return (
        {int: "int", float: "float", bool: "bool"}.get(kinds.pop(), "string") if len(kinds) == 1 else "string"
    )


def _accuracies(counts: Mapping[str, tuple[int, int]]) -> dg.MarkdownMetadataValue | str:
    """Accuracies with their intervals, one below the other, from counts of right ones and of all."""
    measured = {name: count for name, count in counts.items() if count[1]}
    if not measured:
        return "nothing was measured"

    def draw(axes: Any) -> None:
        values, errors = whiskers(list(measured.values())[::-1], whole=1)
        axes.errorbar(values, list(measured)[::-1], xerr=errors, fmt="o", capsize=3)
        axes.set_xlim(-0.02, 1.02)
        axes.set_xlabel("accuracy, 95 % interval")
        axes.grid(axis="x", alpha=0.3)

    return _plot(draw, 0.9 + 0.24 * len(measured))


def _histogram(values: Sequence[int], x: str, y: str) -> dg.MarkdownMetadataValue | str:
    if not values:
        return "nothing is in it"

    def draw(axes: Any) -> None:
        axes.hist(values, bins=min(20, len(set(values))))
        axes.set_xlabel(x)
        axes.set_ylabel(y)

    return _plot(draw, 2.4)


def _plot(draw: Callable[[Any], None], height: float) -> dg.MarkdownMetadataValue:
    # Imported here: it takes half a second, and the Agg canvas needs no pyplot and so no state.
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    picture = io.BytesIO()
    with DRAWING:
        figure = Figure(figsize=(6, height), layout="constrained")
        draw(figure.subplots())
        FigureCanvasAgg(figure).print_png(picture)
    png = base64.b64encode(picture.getvalue()).decode()
    return dg.MetadataValue.md(f"![plot](data:image/png;base64,{png})")
