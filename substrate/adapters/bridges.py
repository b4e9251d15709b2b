"""Logs and states in the hands of other libraries: rdflib, pandas, Arrow.

A log crosses as a table of its deltas, a state as a graph. What a library cannot hold is refused,
never dropped.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyoxigraph as ox

from substrate.base.errors import LogError
from substrate.base.extras import needed
from substrate.base.rdflib_terms import rdflib_term
from substrate.log.event_log import EventLog, Op, Term, Triple
from substrate.log.replay import State

if TYPE_CHECKING:
    import pandas
    import pyarrow
    import rdflib

COLUMNS = ("position", "tick", "op", "subject", "predicate", "object")
"""The columns of a log as a table; terms are N-Triples, ``op`` is ``insert`` or ``retract``."""

_LETTERS = {"insert": Op.INSERT.value, "retract": Op.RETRACT.value}


def to_rdflib(state: State) -> rdflib.Graph:
    """A state as an rdflib graph; needs the extra ``bridges``.

    A literal keeps its text: ``"01"`` stays beside ``"1"``.

    Raises:
        MissingExtraError: rdflib is not installed.
        LogError: a triple holds a triple term or a text direction, which rdflib does not know.

    >>> log = EventLog()
    >>> log.extend_lines([(0, "A <urn:v:ann> <urn:v:at> <urn:v:cafe> .")])
    >>> [str(place) for place in to_rdflib(log.state()).objects()]
    ['urn:v:cafe']
    """
    library = needed("rdflib")
    graph = library.Graph()
    for triple in sorted(state, key=lambda t: str(ox.Quad(*t))):
        graph.add(tuple(_to_rdflib(term, triple) for term in triple))
    return graph


def _to_rdflib(term: Term, triple: Triple) -> Any:
    node = None if isinstance(term, ox.Literal) and term.direction else rdflib_term(term)
    if node is None:
        raise LogError(
            "rdflib holds no triple terms and no text directions",
            where=(str(ox.Triple(*triple)),),
            hint="Write the state as turtle or nquads instead",
        )
    return node


def to_arrow(log: EventLog) -> pyarrow.Table:
    """A log as an Arrow table, a row a delta, with :data:`COLUMNS`; needs the extra ``bridges``.

    The table's metadata carry the log's digest, and :func:`from_arrow` checks it.

    >>> log = EventLog()
    >>> log.extend_lines([(3, "A <urn:v:ann> <urn:v:at> <urn:v:cafe> .")])
    >>> to_arrow(log).to_pylist()[0]["op"]
    'insert'
    """
    arrow = needed("pyarrow")
    kinds = (arrow.int64(), arrow.int64(), arrow.string(), arrow.string(), arrow.string(), arrow.string())
    schema = arrow.schema(list(zip(COLUMNS, kinds, strict=True)), metadata={b"digest": log.digest.encode()})
    return arrow.table(_columns(log), schema=schema)


def to_pandas(log: EventLog) -> pandas.DataFrame:
    """A log as a data frame, a row a delta, with :data:`COLUMNS`; needs the extra ``bridges``.

    >>> log = EventLog()
    >>> log.extend_lines([(3, "A <urn:v:ann> <urn:v:at> <urn:v:cafe> .")])
    >>> list(to_pandas(log)["subject"])
    ['<urn:v:ann>']
    """
    frame = needed("pandas").DataFrame(_columns(log), columns=list(COLUMNS))
    frame.attrs["digest"] = log.digest
    return frame


def _columns(log: EventLog) -> dict[str, list[Any]]:
    steps = list(log.steps())
    ticks = [tick for columns, start, stop in log.pieces(0, None) for tick in columns.ticks[start:stop]]
    # Subject and predicate are spelled without a space, so that two spaces part the three terms
    terms = [text.split(" ", 2) for text in log.triples.texts(number for _, number in steps)]
    spelled = [[term[place] for term in terms] for place in range(3)]
    ops = ["insert" if insert else "retract" for insert, _ in steps]
    return dict(zip(COLUMNS, (list(range(len(steps))), ticks, ops, *spelled), strict=True))


def from_arrow(table: pyarrow.Table) -> EventLog:
    """A log from a table that :func:`to_arrow` gave, also by way of a Parquet file.

    Raises:
        LogError: a column is missing, a row is no delta, or the deltas are not those of the digest that
            the table carries.

    >>> log = EventLog()
    >>> log.extend_lines([(3, "A <urn:v:ann> <urn:v:at> <urn:v:cafe> .")])
    >>> from_arrow(to_arrow(log)).digest == log.digest
    True
    """
    if missing := [name for name in COLUMNS if name not in table.column_names]:
        hint = f"Give a table with {', '.join(COLUMNS)}"
        raise LogError(f"the table has no column {missing[0]!r}", hint=hint)
    rows = sorted(zip(*(table.column(name).to_pylist() for name in COLUMNS), strict=True))
    lines: list[tuple[int, str]] = []
    for position, tick, op, *terms in rows:
        if op not in _LETTERS:
            where = (f"position {position}",)
            raise LogError(f"no operation {op!r}", where=where, hint="Write insert or retract")
        lines.append((tick, f"{_LETTERS[op]} {' '.join(terms)} ."))
    log = EventLog()
    log.extend_lines(lines)
    digest = (table.schema.metadata or {}).get(b"digest", b"").decode()
    if digest and log.digest != digest:
        what = f"its rows are not the deltas of {digest}"
        raise LogError(what, hint="A row is missing or was edited; write it again")
    return log
