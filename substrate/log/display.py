"""How a log and its parts look: a line for ``repr``, a table for a notebook and for rich.

What is shown is a :class:`Listing`: a title and the first rows. One entry of :data:`LISTINGS` a class;
importing the package gives these classes ``__repr__``, ``_repr_html_`` (Jupyter) and ``__rich__``.
"""

from __future__ import annotations

import html
from collections.abc import Callable, Iterable, Mapping
from itertools import islice
from typing import Any, NamedTuple

import pyoxigraph as ox

from substrate.base.extras import needed
from substrate.log.event_log import Delta, EventLog, Triple
from substrate.log.history import Difference, History
from substrate.log.replay import State

ROWS = 20
"""Rows that a table shows; below it stands how many more there are."""


class Listing(NamedTuple):
    """What is shown of a value: a line, and the first rows of a table.

    >>> Listing("2 deltas", ("tick",), [("0",), ("3",)], 2).title
    '2 deltas'
    """

    title: str
    columns: tuple[str, ...]
    rows: list[tuple[str, ...]]
    total: int

    @property
    def more(self) -> str:
        """How many rows are not shown; empty where all are."""
        hidden = self.total - len(self.rows)
        return f"… and {hidden} more" if hidden else ""


def listing(value: Any) -> Listing:
    """What is shown of a delta, state, log, history or difference.

    >>> listing(EventLog()).title
    'EventLog: empty'
    """
    return next(LISTINGS[kind] for kind in type(value).__mro__ if kind in LISTINGS)(value)


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


def to_rich(shown: Listing) -> Any:
    """A listing as a table of rich; needs the extra ``cli``."""
    table = needed("rich.table").Table(title=_plain(shown.title), caption=shown.more or None)
    for name in shown.columns:
        table.add_column(name)
    for row in shown.rows:
        table.add_row(*map(_plain, row))
    return table


def _plain(text: str) -> str:
    return needed("rich.markup").escape(text)


def _text(triple: Triple) -> str:
    return " ".join(map(str, triple))


def _parts(triple: Triple) -> tuple[str, str, str]:
    return str(triple[0]), str(triple[1]), str(triple[2])


def _delta(delta: Delta) -> Listing:
    name = delta.op.name.lower()
    row = (str(delta.tick), name, *_parts(delta.triple))
    title = f"Delta: tick {delta.tick}, {name} {_text(delta.triple)}"
    return Listing(title, ("tick", "operation", "subject", "predicate", "object"), [row], 1)


def _log(log: EventLog) -> Listing:
    if not len(log):
        return Listing("EventLog: empty", (), [], 0)
    span = f"{_count(len(log), 'delta')}, ticks {log[0].tick} to {log.last_tick}"
    forked = f", forked at tick {log.branch_tick}" if log.descent else ""
    first = [
        (str(position), str(delta.tick), delta.op.name.lower(), *_parts(delta.triple))
        for position, delta in enumerate(islice(log, ROWS))
    ]
    columns = ("position", "tick", "operation", "subject", "predicate", "object")
    return Listing(f"EventLog: {span}{forked}", columns, first, len(log))


def _state(state: State) -> Listing:
    first = sorted(state, key=lambda triple: str(ox.Quad(*triple)))[:ROWS]
    title = f"State: tick {state.tick}, {_count(len(state), 'triple')}"
    return Listing(title, ("subject", "predicate", "object"), [_parts(t) for t in first], len(state))


def _history(history: History) -> Listing:
    spans = [f"ticks {i.start} to {i.end - 1}" if i.end else f"tick {i.start} on" for i in history.intervals]
    rows = [
        (str(change.position), str(change.delta.tick), change.delta.op.name.lower())
        for change in history.changes[:ROWS]
    ]
    title = f"History: {_text(history.triple)}: {', '.join(spans) or 'never'}"
    return Listing(title, ("position", "tick", "operation"), rows, len(history.changes))


def _difference(difference: Difference) -> Listing:
    changed = [("−", triple) for triple in difference.retracted]
    changed += [("+", triple) for triple in difference.inserted]
    title = f"Difference: {len(difference.inserted)} inserted, {len(difference.retracted)} retracted"
    rows = [(sign, *_parts(triple)) for sign, triple in changed[:ROWS]]
    return Listing(title, ("", "subject", "predicate", "object"), rows, len(changed))


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


LISTINGS: Mapping[type, Callable[[Any], Listing]] = {
    Delta: _delta,
    EventLog: _log,
    State: _state,
    History: _history,
    Difference: _difference,
}
"""What is shown of each class."""


def show(classes: Iterable[type] = LISTINGS) -> None:
    """Give classes their looks: ``__repr__``, ``_repr_html_`` and ``__rich__``; the package does so once."""
    looks: Mapping[str, Callable[[Any], Any]] = {
        "__repr__": _line,
        "_repr_html_": lambda self: to_html(listing(self)),
        "__rich__": lambda self: to_rich(listing(self)),
    }
    for kind in classes:
        for name, look in looks.items():
            setattr(kind, name, look)


def _line(value: Any) -> str:
    try:
        return f"<{listing(value).title}>"
    except (AttributeError, TypeError):
        # Made of what is none of its parts: it is refused by the log, and until then shown as it is.
        return tuple.__repr__(value) if isinstance(value, tuple) else object.__repr__(value)
