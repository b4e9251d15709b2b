"""The tables of a run on a terminal: the most important columns, on lines of at most 110 characters."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from textwrap import wrap

from orchestration.registry import BENCHMARKS
from orchestration.rendering.layouts.results import by_number
from orchestration.rendering.tables import Table, drawn, read_table, wrapped
from orchestration.scoring.counting import is_detail
from orchestration.scoring.names import name_of
from orchestration.scoring.scores import read_scores
from orchestration.stage import Stages
from orchestration.workspace.folders import Workspace
from substrate.base.words import counted

# The most characters per line.
WIDTH = 110
# The most lines of a caption.
_CAPTION = 2
# The characters after which a label and a cell wrap; words are not broken.
_LABEL, _CELL = 30, 24
_SILENT = re.compile(r"(not (reported|compared)\b.*)?")  # an empty cell too


def run_tables(
    workspace: Workspace, stages: Stages, names: Sequence[str], only: str | None
) -> Iterator[tuple[Table, str]]:
    """Yield the tables that a run made, each with the place of the whole table; of a table that benchmarks
    share, only the benchmark's own rows.
    """
    benchmark = BENCHMARKS.get(only or "")
    place = f"/{only}/" if only and not benchmark else "/tables/"
    made = [out for name in names for out in stages[name].outs if place in out and out.endswith(".md")]
    for path in map(workspace.path, made):
        yield read_table(path.with_suffix(".json")), str(path.relative_to(workspace.root))
    if benchmark and not made:
        scores = read_scores(workspace.artifacts, benchmark.numbers)
        table = by_number(benchmark.table[0], [benchmark], scores, workspace)
        own = replace(table, caption=table.caption.removeprefix("Transfer: "))
        yield own, f"`substrate trace --list {only}`"


def on_terminal(table: Table, rest: str) -> str:
    """Format a table for a terminal.

    Args:
        table: the table and its caption.
        rest: the place of the complete table.

    >>> print(on_terminal(Table("Two arms.", ["number", "n"], [["meadow/all", "500"]]), "all.md"))
    number        n
    ----------  ---
    meadow/all  500
    Two arms.
    """
    heads, rows = table.heads, table.rows
    plain = [row for row in rows if not _is_detail(row, rows)]
    filled = {at for row in plain for at, cell in enumerate(row) if at == 0 or not _SILENT.fullmatch(cell)}
    details = {at for at in filled if table.place(at) == "detail" or heads[at] in heads[:at]}
    columns: list[int] = []
    for at in sorted(filled, key=lambda at: (at > 0, at in details, at)):
        if max(map(len, _drawn(heads, plain, [*columns, at]))) <= WIDTH:
            columns.append(at)
    fewer = {"column": len(heads) - len(columns), "row": len(rows) - len(plain)}
    hidden = " and ".join(counted(n, what) for what, n in fewer.items() if n)
    ends = [f"{hidden} more: {rest}"] if hidden else []
    caption = wrap(table.caption, WIDTH)
    if len(caption) > _CAPTION:
        caption = wrap(table.caption.partition(". ")[0] + ".", WIDTH)[:_CAPTION]
        ends = ends or [f"The caption says more: {rest}"]
    return "\n".join([*_drawn(heads, plain, columns), *caption, *ends])


def _drawn(heads: Sequence[str], rows: Iterable[Sequence[str]], columns: Iterable[int]) -> list[str]:
    """The lines of the given columns of a table, in that order."""
    order = sorted(columns)
    cells = [[wrapped(row[at], _CELL if at else _LABEL) for at in order] for row in (heads, *rows)]
    return drawn(cells[0], cells[1:], "simple").splitlines()


def _is_detail(row: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    """Tell whether a row is one of many parts of a shown mean, or has a single figure."""
    label, labels = row[0], [other[0] for other in rows]
    is_part = is_detail(label, labels) and len({name_of(other).benchmark for other in labels}) > 1
    return is_part or (": " in label and sum(map(bool, row[1:])) == 1)
