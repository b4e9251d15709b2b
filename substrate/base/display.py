"""Looks of a value: a line for ``repr``, a table for a notebook and for rich.

A class says by ``_listing`` what of it is shown, as a :class:`Listing`, and takes its looks from here:
``__repr__ = line``, ``_repr_html_ = as_html`` (Jupyter), ``__rich__ = as_rich``.
"""

from __future__ import annotations

import html
from collections.abc import Iterable
from typing import Any, NamedTuple

from substrate.base.extras import needed

ROWS = 20
"""Rows that a table shows; below it stands how many more there are."""


class Listing(NamedTuple):
    """A title, and the first rows of a table of ``total`` rows.

    >>> Listing("2 deltas", ("tick",), [("0",), ("3",)], 2).title
    '2 deltas'
    """

    title: str
    columns: tuple[str, ...]
    rows: list[tuple[str, ...]]
    total: int

    @property
    def more(self) -> str:
        """The number of rows that are not shown, in words; empty where all are."""
        hidden = self.total - len(self.rows)
        return f"… and {hidden} more" if hidden else ""


def listing(value: Any) -> Listing:
    """The listing of a delta, state, log, history or difference.

    >>> from substrate.log.event_log import EventLog
    >>> listing(EventLog()).title
    'EventLog: empty'
    """
    return value._listing()


def line(self: Any) -> str:
    """The title of a value's listing, for ``__repr__``.

    >>> from substrate.log.event_log import EventLog
    >>> line(EventLog())
    '<EventLog: empty>'
    """
    try:
        return f"<{listing(self).title}>"
    except (AttributeError, TypeError):
        # Its parts are not what they should be: they are shown as they are.
        return tuple.__repr__(self) if isinstance(self, tuple) else object.__repr__(self)


def as_html(value: Any) -> str:
    """A value as an HTML table, for ``_repr_html_``."""
    return to_html(listing(value))


def as_rich(value: Any) -> Any:
    """A value as a table of rich, for ``__rich__``; needs the extra ``cli``."""
    shown = listing(value)
    table = needed("rich.table").Table(title=_plain(shown.title), caption=shown.more or None)
    for name in shown.columns:
        table.add_column(name)
    for row in shown.rows:
        table.add_row(*map(_plain, row))
    return table


def to_html(shown: Listing) -> str:
    """A listing as an HTML table, every text escaped.

    >>> to_html(Listing("a & b", (), [], 0))
    '<p>a &amp; b</p>'
    """
    title = f"<p>{html.escape(shown.title)}</p>"
    if not shown.rows:
        return title
    head = "".join(f"<th>{html.escape(name)}</th>" for name in shown.columns)
    body = "".join(
        "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in shown.rows
    )
    more = f"<p>{shown.more}</p>" if shown.more else ""
    return f"{title}<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"


def terms_in_words(triple: Iterable[object]) -> str:
    """The terms of a triple in a line.

    >>> terms_in_words(("<urn:a>", "<urn:p>", "<urn:b>"))
    '<urn:a> <urn:p> <urn:b>'
    """
    return " ".join(map(str, triple))


def counted(number: int, noun: str) -> str:
    """A number with its noun.

    >>> counted(1, "delta"), counted(2, "delta")
    ('1 delta', '2 deltas')
    """
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _plain(text: str) -> str:
    return needed("rich.markup").escape(text)
