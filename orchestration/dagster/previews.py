"""Previews of a stage's outs for the UI: row counts, accuracies, and the first lines as a table.

They are read from the files. The report has the figures, and Dagster plots each number over the runs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import dagster as dg
import msgspec

from orchestration.rendering.report.page import number_page
from orchestration.rendering.tables import read_table
from orchestration.scoring.comparability import bounded, percent, stated
from orchestration.scoring.counting import line_count
from orchestration.scoring.formatting import bounds, share
from orchestration.scoring.names import name_of
from orchestration.scoring.scores import Score, read_metrics
from orchestration.studies.study import counted
from orchestration.workspace.folders import ANSWERS

Metadata = dict[str, Any]
_SHOWN = 10
_CELL = 80
# The most numbers of a result in words: the UI hides a Markdown text of 1,000 characters behind a click.
_LINES = 6
# The columns of answers that are shown: the page is narrower than a row.
_COLUMNS = ("scene", "question", "predicted", "expected", "correct", "subset", "error")


def preview(outs: Sequence[Path], report: Path | None = None) -> Metadata:
    """Metadata of a materialisation for the files and folders that a stage made: first the result in words.

    Args:
        report: the folder of the profile's report in the project, whose pages the result links to.
    """
    scores = [score for out in outs if out.parent.name == "metrics" for score in read_metrics(out)]
    if scores:
        return _of_scores(scores, report)
    metadata: Metadata = {}
    for out in outs:
        if out.is_dir():
            metadata |= _of_folder(out)
        elif out.suffix == ".jsonl":
            metadata |= (_of_answers(out) if out.name == ANSWERS else {}) | _of_lines(out)
        elif out.suffix == ".md":
            metadata |= _of_markdown(out)
    # The UI shows a schema before all else, so numbers have none: their page begins with the result.
    if isinstance(table := metadata.get("preview"), dg.TableMetadataValue):
        metadata["dagster/column_schema"] = table.schema
    return metadata


def _of_scores(scores: Sequence[Score], report: Path | None) -> Metadata:
    """State each number in words, with a link to its page, as a table, and as a value that Dagster plots.

    Published figures have a table of their own: beside the numbers they would make each row taller.
    """
    rows = [
        {
            "number": score.name,
            "accuracy": percent(score),
            "95 % interval": bounded(score),
            "n": score.n,
            "correct": score.correct,
            "data": f"{score.data}, {score.split}" if score.data in ("official", "local") else score.data,
        }
        for score in scores
    ]
    pairs = ((score, system) for score in scores for system in score.published)
    beside = [{"number": score.name, "published": stated(score, system)} for score, system in pairs]
    lines: list[str] = []
    for score in scores[:_LINES]:
        name = name_of(score.name).inside
        page = f"[{name}](/{report.as_posix()}/{number_page(score.name)})" if report else name
        # The UI cuts a line after some thirty characters, so the result stands first.
        counts = f" of {score.n:,}, {bounded(score)}" if score.n else ""
        lines.append(f"- **{percent(score)}** {page}{counts}")
    if len(scores) > _LINES:
        lines.append(f"- and {len(scores) - _LINES} more below")
    result = dg.MetadataValue.md("\n".join(lines))
    metadata = {"result": result, "preview": _table(rows), "dagster/row_count": len(scores)}
    if beside:
        metadata["published"] = _table(beside)
    return metadata | {score.name: score.accuracy for score in scores if score.accuracy is not None}


def _of_answers(path: Path) -> Metadata:
    """Show the number of right answers with Wilson's interval, and the accuracy by subset."""
    counts = counted(path)
    right, total = sum(c[True] for c in counts.values()), sum(c.total() for c in counts.values())
    if not total:
        return {}
    by_subset = [
        {"subset": subset, "accuracy": share(c[True], c.total()), "correct": c[True], "n": c.total()}
        for subset, c in counts.items()
    ]
    result = f"**{share(right, total)}** of {total:,} answers are right, {bounds(right, total)}"
    result = dg.MetadataValue.md(f"{result} (Wilson, 95 %)")
    return {"result": result, "by subset": _table(by_subset), "accuracy": right / total}


def _of_lines(path: Path) -> Metadata:
    """Show the number of rows and the first rows."""
    with path.open("rb") as file:
        rows: list[dict[str, Any]] = [msgspec.json.decode(line) for line in islice(file, _SHOWN)]
    first = [{key: row[key] for key in _COLUMNS if key in row} or row for row in rows]
    return {"preview": _table(first), "dagster/row_count": line_count(path)}


def _of_folder(folder: Path) -> Metadata:
    """Show the number of files and bytes, and the first files; of pages, a link to the first one."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    rows = [{"file": path.relative_to(folder).as_posix(), "bytes": path.stat().st_size} for path in files]
    size = sum(row["bytes"] for row in rows)
    metadata = {"dagster/row_count": len(files), "bytes": size, "preview": _table(rows[:_SHOWN])}
    if (page := folder / "index.html").is_file():
        metadata["page"] = dg.MetadataValue.path(page)
        metadata["preview"] = dg.MetadataValue.md(f"[The report]({page.as_uri()})")
    return metadata


def _of_markdown(path: Path) -> Metadata:
    """Show a table's text, and its rows, which the UI displays without a click."""
    table = read_table(path.with_suffix(".json"))
    preview = _table([dict(zip(table.heads, row, strict=True)) for row in table.rows])
    return {"preview": preview, "table": dg.MetadataValue.md(path.read_text("utf-8"))}


def _table(rows: Sequence[Mapping[str, Any]]) -> dg.TableMetadataValue | str:
    """Rows as a table of the UI: one column per key, nested values as JSON, long values cut."""
    if not rows:
        return "nothing is in it"
    columns = list(dict.fromkeys(key for row in rows for key in row))
    records = [dg.TableRecord({column: _cell(row.get(column)) for column in columns}) for row in rows]
    return dg.MetadataValue.table(records)


def _cell(value: Any) -> str | int | float | bool | None:
    if isinstance(value, list | dict):
        value = msgspec.json.encode(value).decode()
    return f"{value[: _CELL - 1]}…" if isinstance(value, str) and len(value) > _CELL else value
