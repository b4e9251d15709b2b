"""Tables: a column has a head, a cell for each record and the numbers behind the cells; a renderer writes
them for a terminal and as Markdown, LaTeX and HTML. Also a reader of JSON records.
"""

from __future__ import annotations

import csv
import html
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from operator import attrgetter
from pathlib import Path
from textwrap import fill
from typing import Any, Literal, NamedTuple, TypeVar

import msgspec

from orchestration.base.templates import text_template
from orchestration.scoring.published import published

T = TypeVar("T")
Place = Literal["", "below", "detail"]


def read_list(path: Path, of: type[T]) -> list[T]:
    """The records of a JSON file; none if the file does not exist."""
    return msgspec.json.decode(path.read_bytes(), type=list[of]) if path.is_file() else []


def write_csv(path: Path, rows: Iterable[Iterable[object]]) -> None:
    """Write rows as a CSV file, heads first."""
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)


def read_table(path: Path) -> Table:
    """Read a table from its JSON file."""
    return msgspec.json.decode(path.read_bytes(), type=Table)


class Column(NamedTuple):
    """A column of a table, for records of one kind: usually a score a row.

    Attributes:
        head: its head.
        cell: makes a cell's text from the row's record.
        cited: the systems whose published figures it shows; empty for our own.
        number: gives the name of the number that the cell shows, from the row's record.
        place: where it stands if space is short: beside the others; ``below`` the figure on its left; or
            nowhere, as a ``detail``, which every file has.

    >>> accuracy = Column("accuracy", lambda row: row["percent"], number=lambda row: row["name"])
    >>> Table.of("Meadows.", [accuracy], [{"name": "meadow/joint", "percent": "51.00 %"}]).rows
    [['51.00 %']]
    """

    head: str
    cell: Callable[[Any], str] = str
    cited: Sequence[str] = ()
    number: Callable[[Any], str] = attrgetter("name")
    place: Place = ""

    def at(self, index: int) -> Column:
        """The same column for rows that are a tuple of records, of which it shows the one at an index."""
        cell, number = self.cell, self.number
        return self._replace(cell=lambda row: cell(row[index]), number=lambda row: number(row[index]))


@dataclass(frozen=True)
class Table:
    """A table as text; the first column holds labels, the others numbers.

    Attributes:
        caption: its caption.
        heads: the heads of its columns.
        rows: the texts of its cells.
        numbers: the name of each cell's number.
        cited: for each column, the citations of its published numbers by system; empty for our own.
        places: the place of each column; empty if all are beside each other.
    """

    caption: str
    heads: Sequence[str]
    rows: Sequence[Sequence[str]]
    numbers: Sequence[Sequence[str]] = ()
    cited: Sequence[Mapping[str, str]] = ()
    places: Sequence[Place] = ()

    @classmethod
    def of(cls, caption: str, columns: Sequence[Column], records: Iterable[Any]) -> Table:
        """Make the table of some records; a list has the texts of the first cells, without numbers."""
        known, rows, numbers = published().systems, list[list[str]](), list[list[str]]()
        for record in records:
            of_text = isinstance(record, list)
            rest = [""] * len(columns)
            rows.append([*record, *rest][: len(rest)] if of_text else [c.cell(record) for c in columns])
            numbers.append(rest if of_text else [c.number(record) for c in columns])
        cited = [{who: known[who].citation for who in column.cited} for column in columns]
        places: list[Place] = [column.place for column in columns]
        heads = [column.head for column in columns]
        return cls(caption, heads, rows, numbers, cited, places if any(places) else ())

    def place(self, index: int) -> Place:
        """The place of the column at an index."""
        return self.places[index] if self.places else ""

    def render(self, suffix: str) -> str:
        """The table as text, in the format of a file suffix in :data:`FORMATS`."""
        return FORMATS[suffix](self)


def drawn(heads: Sequence[str], rows: Iterable[Sequence[str]], style: str, *, words: bool = False) -> str:
    """Heads and rows in a style of tabulate: ``simple`` for a terminal, ``github`` for Markdown.

    Args:
        words: whether all columns are words, aligned left; otherwise only the first is.
    """
    from tabulate import tabulate  # slow, and definitions alone do without

    aligned = None if words else ["left"] + ["right"] * (len(heads) - 1)
    return tabulate(list(rows), heads, tablefmt=style, colalign=aligned, disable_numparse=True)


def wrapped(cell: str, width: int) -> str:
    """Break a cell's text between words into lines of at most ``width`` characters."""
    return fill(cell, width, break_on_hyphens=False, break_long_words=False)


def _markdown(table: Table) -> str:
    rows = ([plain(cell) for cell in row] for row in table.rows)
    return f"{drawn([plain(head) for head in table.heads], rows, 'github')}\n\n*{plain(table.caption)}*\n"


def plain(text: str) -> str:
    """Escape a text for Markdown: names contain no markup, no links and no ends of cells."""
    return " ".join(text.splitlines()).translate(_MARKDOWN).replace("](", "]\\(")


_MARKDOWN = str.maketrans({"\\": "\\\\", "&": "&amp;", "<": "&lt;", "|": "\\|"})


def _latex(table: Table) -> str:
    from tabulate import LATEX_ESCAPE_RULES

    body = drawn(table.heads, table.rows, "latex_booktabs")
    caption = table.caption.translate(str.maketrans(LATEX_ESCAPE_RULES))
    return f"\\begin{{table*}}[t]\n\\centering\\small\n{body}\n\\caption{{{caption}}}\n\\end{{table*}}\n"


def _html(table: Table) -> str:
    body = drawn(table.heads, table.rows, "html")
    titled = body.replace("<table>", f"<table>\n<caption>{html.escape(table.caption)}</caption>", 1)
    page = text_template(__file__, "table.html.j2", e=html.escape)
    return page.render(title=table.caption.partition(",")[0], table=titled)


def _json(table: Table) -> str:
    record = {key: value for key, value in asdict(table).items() if key != "places" or value}
    return msgspec.json.format(msgspec.json.encode(record), indent=2).decode() + "\n"


# Renderers by file suffix.
FORMATS: dict[str, Callable[[Table], str]] = {"md": _markdown, "tex": _latex, "html": _html, "json": _json}
