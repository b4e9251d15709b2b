"""Tables of results on a terminal: the columns that say most, on lines of at most 110 characters.

They are read from the Markdown that a run made, so that a run with nothing to do loads nothing for them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from textwrap import wrap

from orchestration.rendering.tables import DETAILS

WIDTH = 110
"""The most characters of a line."""
_GAP, _CAPTION = 2, 2
"""Spaces between two columns, and the most lines of a caption."""
_LABEL, _CELL = (30, 44), (24, 26)
"""The usual and the most characters of a label's and of a cell's line; longer text is wrapped."""
_SILENT = re.compile(r"|not (reported|compared)\b.*")
_MANY = 8


def on_terminal(markdown: str, rest: str) -> str:
    """A table as a terminal shows it.

    Args:
        markdown: the table, and what it says of itself.
        rest: the place that has all of it.

    >>> print(on_terminal("| number | n |\\n|---|---|\\n| meadow/all | 500 |\\n\\n*Two arms.*", "all.md"))
    number        n
    ----------  ---
    meadow/all  500
    Two arms.
    """
    lines = [line for line in markdown.splitlines() if line.startswith("|")]
    if len(lines) < 3:
        return markdown
    heads, _, *rows = ([_text(cell) for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines)
    kept = [row for row in rows if not _is_detail(row, rows)]
    columns = _columns(heads, kept)
    widths = [_width(heads, kept, at) for at in columns]
    drawn = [*_drawn([heads[at] for at in columns], widths), "  ".join("-" * width for width in widths)]
    for row in kept:
        drawn += _drawn([row[at] for at in columns], widths)
    # What a table says of itself is Markdown's emphasis there.
    said = " ".join(line.strip("*") for line in markdown.splitlines() if line and not line.startswith("|"))
    fewer = {"column": len(heads) - len(columns), "row": len(rows) - len(kept)}
    more = " and ".join(f"{n} {what}{'' if n == 1 else 's'}" for what, n in fewer.items() if n)
    caption = wrap(_text(said), WIDTH)
    if len(caption) > _CAPTION:
        caption = wrap(_text(said).partition(". ")[0] + ".", WIDTH)[:_CAPTION]
        more = more or "The caption says"
    return "\n".join([*drawn, *caption, *([f"{more} more: {rest}"] if more else [])])


def _drawn(cells: Sequence[str], widths: Sequence[int]) -> Iterator[str]:
    """The lines of a row: the label on the left, the others on the right of their columns."""
    wrapped = [wrap(cell, width, break_on_hyphens=False) for cell, width in zip(cells, widths, strict=True)]
    for parts in zip_longest(*wrapped, fillvalue=""):
        label, *rest = zip(parts, widths, strict=True)
        placed = [label[0].ljust(label[1]), *(part.rjust(width) for part, width in rest)]
        yield "  ".join(placed).rstrip()


def place_of(markdown: str, profile: str, only: str | None) -> str:
    """The place that has all of a table: its file, or the command that prints it."""
    from orchestration.workspace.root import find_root

    root = find_root()
    for path in sorted(root.glob(f"artifacts/{profile}/tables/*.md")):
        if path.read_text("utf-8") == markdown:
            return path.relative_to(root).as_posix()
    return f"`substrate reproduce{f' --only {only}' if only else ''} --json` prints them"


def _text(cell: str) -> str:
    """The text that Markdown shows for a cell."""
    return cell.strip().replace("\\|", "|").replace("&lt;", "<").replace("&amp;", "&")


def _is_detail(row: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    """Tell whether a row is one of many parts of a mean that is shown, or has a single figure."""
    label = row[0]
    of, metric = label.split("/")[0], label.split("/")[-1]
    own = [other[0] for other in rows if other[0].split("/")[0] == of]
    mean = f"{of}/mean/{metric}"
    is_part = mean in own and label != mean and _MANY < len(own) < len(rows)
    return is_part or (": " in label and sum(map(bool, row[1:])) == 1)


def _telling(rows: Sequence[Sequence[str]]) -> set[int]:
    return {at for row in rows for at, cell in enumerate(row) if not _SILENT.fullmatch(cell)}


def _columns(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> list[int]:
    """The columns that fit, in their order: first those that say something and are no detail."""
    said = _telling(rows)
    by_worth = sorted(
        range(len(heads)),
        key=lambda at: (at > 0, at not in said, heads[at] in DETAILS or heads[at] in heads[:at], at),
    )
    chosen: list[int] = []
    for at in by_worth:
        if at and at not in said:
            continue
        widths = [_width(heads, rows, one) for one in (*chosen, at)]
        if sum(widths) + _GAP * (len(widths) - 1) <= WIDTH:
            chosen.append(at)
    return sorted(chosen)


def _width(heads: Sequence[str], rows: Sequence[Sequence[str]], at: int) -> int:
    """The width of a column: that of its longest line, where long cells go on below."""
    cells = [cells[at] for cells in (heads, *rows)]
    usual, most = _CELL if at else _LABEL
    width = min(max(usual, *(len(word) for cell in cells for word in cell.split())), most)
    lines = (line for cell in cells for line in wrap(cell, width, break_on_hyphens=False))
    return max(map(len, lines), default=1)
