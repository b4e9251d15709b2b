"""Tables in Markdown, LaTeX, HTML and JSON; and records that a run left as JSON."""

from __future__ import annotations

import html
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TypeVar

import msgspec
from tabulate import LATEX_ESCAPE_RULES, tabulate

from orchestration.base.templates import text_template

T = TypeVar("T")


def read_list(path: Path, of: type[T]) -> list[T]:
    """The records of a JSON file; none where a run did not make it."""
    return msgspec.json.decode(path.read_bytes(), type=list[of]) if path.is_file() else []


@dataclass(frozen=True)
class Table:
    """A caption, column heads and rows of text; the first column is a label, the others are numbers."""

    caption: str
    heads: Sequence[str]
    rows: Sequence[Sequence[str]]
    numbers: Sequence[Sequence[str]] = ()
    """The name of the number that each cell speaks of."""
    cited: Sequence[Mapping[str, str]] = ()
    """For each column, the citations of its published numbers by who is cited; none for our own."""

    def render(self, suffix: str) -> str:
        """The table as text in the format of a file suffix of :data:`FORMATS`."""
        return FORMATS[suffix](self)


def _drawn(heads: Sequence[str], rows: Sequence[Sequence[str]], style: str) -> str:
    aligned = ["left"] + ["right"] * (len(heads) - 1)
    return tabulate(rows, heads, tablefmt=style, colalign=aligned, disable_numparse=True)


def _markdown(table: Table) -> str:
    rows = [[_plain(cell) for cell in row] for row in table.rows]
    body = _drawn([_plain(head) for head in table.heads], rows, "github")
    return f"{body}\n\n*{_plain(table.caption)}*\n"


def _plain(text: str) -> str:
    """Text that Markdown shows as it is: a name is no markup, no link and no end of a cell."""
    return " ".join(text.splitlines()).translate(_MARKDOWN).replace("](", "]\\(")


_MARKDOWN = str.maketrans({"\\": "\\\\", "&": "&amp;", "<": "&lt;", "|": "\\|"})
_TEX = str.maketrans(LATEX_ESCAPE_RULES)


def _latex(table: Table) -> str:
    body = _drawn(table.heads, table.rows, "latex_booktabs")
    caption = table.caption.translate(_TEX)
    return f"\\begin{{table*}}[t]\n\\centering\\small\n{body}\n\\caption{{{caption}}}\n\\end{{table*}}\n"


def _html(table: Table) -> str:
    body = _drawn(table.heads, table.rows, "html")
    titled = body.replace("<table>", f"<table>\n<caption>{html.escape(table.caption)}</caption>", 1)
    page = text_template(__file__, "table.html.j2", e=html.escape)
    return page.render(title=table.caption.partition(",")[0], table=titled)


def _json(table: Table) -> str:
    return msgspec.json.format(msgspec.json.encode(asdict(table)), indent=2).decode() + "\n"


FORMATS: dict[str, Callable[[Table], str]] = {"md": _markdown, "tex": _latex, "html": _html, "json": _json}
"""Renderings by file suffix."""
