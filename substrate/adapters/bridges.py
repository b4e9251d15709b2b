"""A log as an Arrow table of its deltas, for pandas, DuckDB, Spark and Parquet. For a state, use
:meth:`substrate.log.state.State.nquads`: every RDF library reads N-Quads.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from substrate.base.extras import import_extra
from substrate.log.event_log import EventLog

if TYPE_CHECKING:
    import pyarrow

COLUMNS = ("position", "tick", "op", "subject", "predicate", "object")
"""The columns of a log as a table; terms are N-Triples, ``op`` is ``insert`` or ``retract``."""


def to_arrow(log: EventLog) -> pyarrow.Table:
    """Give a log as an Arrow table with :data:`COLUMNS`, one row per delta; needs the extra ``bridges``.

    The table's metadata carry the log's digest.

    >>> log = EventLog()
    >>> log.extend_lines([(3, "A <urn:v:ann> <urn:v:at> <urn:v:cafe> .")])
    >>> to_arrow(log).to_pylist()[0]["op"]
    'insert'
    """
    arrow = import_extra("pyarrow")
    steps = list(log.steps())
    ticks = [tick for columns, start, stop in log.segments(0, None) for tick in columns.ticks[start:stop]]
    # The spellings of subject and predicate contain no space, so two splits give the three terms
    terms = [text.split(" ", 2) for text in log.triples.texts(number for _, number in steps)]
    spelled = [[term[place] for term in terms] for place in range(3)]
    ops = ["insert" if insert else "retract" for insert, _ in steps]
    columns = dict(zip(COLUMNS, (list(range(len(steps))), ticks, ops, *spelled), strict=True))
    kinds = (arrow.int64(), arrow.int64(), arrow.string(), arrow.string(), arrow.string(), arrow.string())
    schema = arrow.schema(list(zip(COLUMNS, kinds, strict=True)), metadata={b"digest": log.digest.encode()})
    return arrow.table(columns, schema=schema)
