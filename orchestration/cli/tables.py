"""Tables of results on a terminal: the most important columns, on lines of at most 110 characters.

They are read from a run's Markdown, so that a run with nothing to do imports no code for them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from textwrap import fill, wrap

from orchestration.rendering.tables import DETAILS, drawn

WIDTH = 110
"""The most characters per line."""
_CAPTION = 2
"""The most lines of a caption."""
_LABEL, _CELL = 30, 24
"""The characters after which a label and a cell wrap; words are not broken."""
_SILENT = re.compile(r"|not (reported|compared)\b.*")
_MANY = 8


def on_terminal(markdown: str, rest: str) -> str:
    """Format a table for a terminal.

    Args:
        markdown: the table and its caption.
        rest: the place of the complete table.

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
    plain = [row for row in rows if not _is_detail(row, rows)]
    filled = {at for row in plain for at, cell in enumerate(row) if at == 0 or not _SILENT.fullmatch(cell)}
    columns: list[int] = []
    for at in sorted(filled, key=lambda at: (at > 0, heads[at] in DETAILS or heads[at] in heads[:at], at)):
        if max(map(len, _drawn(heads, plain, [*columns, at]))) <= WIDTH:
            columns.append(at)
    # In Markdown the caption is emphasised.
    told = " ".join(line.strip("*") for line in markdown.splitlines() if line and not line.startswith("|"))
    fewer = {"column": len(heads) - len(columns), "row": len(rows) - len(plain)}
    more = " and ".join(f"{n} {what}{'' if n == 1 else 's'}" for what, n in fewer.items() if n)
    caption = wrap(_text(told), WIDTH)
    if len(caption) > _CAPTION:
        caption = wrap(_text(told).partition(". ")[0] + ".", WIDTH)[:_CAPTION]
        more = more or "The caption says"
    return "\n".join([*_drawn(heads, plain, columns), *caption, *([f"{more} more: {rest}"] if more else [])])


def _drawn(heads: Sequence[str], rows: Iterable[Sequence[str]], columns: Iterable[int]) -> list[str]:
    """The lines of the given columns of a table, in that order."""
    cells = [
        [
            fill(row[at], _CELL if at else _LABEL, break_on_hyphens=False, break_long_words=False)
            for at in sorted(columns)
        ]
        for row in (heads, *rows)
    ]
    return drawn(cells[0], cells[1:], "simple").splitlines()


def place_of(markdown: str, profile: str, only: str | None) -> str:
    """The place of a complete table: its file, or the command that prints it."""
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
    """Tell whether a row is one of many parts of a shown mean, or has a single figure."""
    label = row[0]
    of, metric = label.split("/")[0], label.split("/")[-1]
    own = [other[0] for other in rows if other[0].split("/")[0] == of]
    mean = f"{of}/mean/{metric}"
    is_part = mean in own and label != mean and _MANY < len(own) < len(rows)
    return is_part or (": " in label and sum(map(bool, row[1:])) == 1)
