"""Logs and states in the hands of other libraries: rdflib, pandas, Arrow; and the formats of RDF.

A log crosses as a table of its deltas, a state as a graph or as text. What a library cannot hold is refused,
never dropped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import pyoxigraph as ox

from substrate.base.errors import LogError, ParameterError
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

FORMATS: Mapping[str, ox.RdfFormat] = {
    "jsonld": ox.RdfFormat.JSON_LD,
    "n3": ox.RdfFormat.N3,
    "nquads": ox.RdfFormat.N_QUADS,
    "ntriples": ox.RdfFormat.N_TRIPLES,
    "rdfxml": ox.RdfFormat.RDF_XML,
    "trig": ox.RdfFormat.TRIG,
    "turtle": ox.RdfFormat.TURTLE,
}
"""The formats that a state is written to and read from."""


def write_state(state: State, format: str, prefixes: Mapping[str, str] | None = None) -> str:
    """A state as text, statements in the order of their N-Triples.

    Args:
        state: the ABox.
        format: one of :data:`FORMATS`.
        prefixes: prefix names to IRIs, beside those of the log, where the format has any.

    Raises:
        ParameterError: there is no such format.
        LogError: the format cannot hold the state: JSON-LD knows no triple terms.

    >>> log = EventLog()
    >>> log.extend_lines([(0, "A <urn:v:ann> <urn:v:at> <urn:v:cafe> .")])
    >>> write_state(log.state(), "jsonld")
    '[{"@id":"urn:v:ann","urn:v:at":[{"@id":"urn:v:cafe"}]}]'
    """
    triples = sorted((ox.Triple(*triple) for triple in state), key=str)
    known = dict(sorted({**state.prefixes, **(prefixes or {})}.items()))
    try:
        text = ox.serialize(triples, format=_format(format), prefixes=known)
    except (OSError, ValueError) as error:
        raise LogError(
            f"{format} cannot hold the state ({error})",
            where=(f"tick {state.tick}",),
            hint="Write it as turtle or nquads, which hold all of RDF 1.2",
        ) from error
    return (text or b"").decode()


def read_state(text: str, format: str, tick: int = 0, name: str = "state") -> EventLog:
    """A log whose one tick inserts what a text says, in the order of the triples' N-Triples.

    Args:
        text: of one graph.
        format: one of :data:`FORMATS`.
        tick: where the triples are inserted.
        name: what an error calls the text.

    Raises:
        ParameterError: there is no such format.
        LogError: the text is not of that format, or has named graphs.

    >>> len(read_state('{"@id": "urn:v:ann", "urn:v:age": 7}', "jsonld"))
    1
    """
    try:
        quads = set(ox.parse(text, _format(format), without_named_graphs=True))
    except (SyntaxError, ValueError) as error:
        raise LogError(
            f"not {format} of one graph ({error})", where=(name,), hint="Give triples of the default graph"
        ) from error
    return _inserting((ox.Triple(q.subject, q.predicate, q.object) for q in quads), tick)


def _format(format: str) -> ox.RdfFormat:
    if format not in FORMATS:
        raise ParameterError(f"no format {format!r}", hint=f"Choose one of {', '.join(FORMATS)}")
    return FORMATS[format]


def _inserting(triples: Iterable[ox.Triple], tick: int) -> EventLog:
    log = EventLog()
    log.extend_lines((tick, f"A {line} .") for line in sorted(set(map(str, triples))))
    return log


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


def from_rdflib(graph: rdflib.Graph, tick: int = 0) -> EventLog:
    """A log whose one tick inserts an rdflib graph's triples.

    Blank nodes keep their labels.

    Args:
        graph: one graph.
        tick: where the triples are inserted.

    Raises:
        LogError: the graph holds what is not RDF, such as a literal as a subject.
    """
    library = needed("rdflib")
    found: list[ox.Triple] = []
    for said in graph:
        try:
            # The constructor refuses what cannot stand in its place.
            found.append(ox.Triple(*(_from_rdflib(library, term) for term in said)))  # pyright: ignore
        except (TypeError, ValueError) as error:
            place = " ".join(term.n3() for term in said)
            raise LogError(
                f"not a triple of RDF ({error})", where=(place,), hint="Take it out of the graph"
            ) from error
    return _inserting(found, tick)


def _from_rdflib(library: Any, term: Any) -> Term:
    if isinstance(term, library.URIRef):
        return ox.NamedNode(str(term))
    if isinstance(term, library.BNode):
        return ox.BlankNode(str(term))
    if isinstance(term, library.Literal):
        if term.language:
            return ox.Literal(str(term), language=term.language)
        return (
            ox.Literal(str(term), datatype=ox.NamedNode(str(term.datatype)))
            if term.datatype
            else ox.Literal(str(term))
        )
    raise TypeError(f"{type(term).__name__} is no term")


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
    _require_columns(table.column_names)
    digest = (table.schema.metadata or {}).get(b"digest", b"").decode()
    return _from_columns(lambda name: table.column(name).to_pylist(), digest)


def from_pandas(frame: pandas.DataFrame) -> EventLog:
    """A log from a data frame with :data:`COLUMNS`; errors as :func:`from_arrow`.

    >>> log = EventLog()
    >>> log.extend_lines([(3, "A <urn:v:ann> <urn:v:at> <urn:v:cafe> .")])
    >>> from_pandas(to_pandas(log)).digest == log.digest
    True
    """
    _require_columns(list(frame.columns))
    return _from_columns(lambda name: frame[name].tolist(), frame.attrs.get("digest", ""))


def _require_columns(found: Iterable[str]) -> None:
    if missing := [name for name in COLUMNS if name not in set(found)]:
        raise LogError(
            f"the table has no column {missing[0]!r}", hint=f"Give a table with {', '.join(COLUMNS)}"
        )


def _from_columns(column: Callable[[str], list[Any]], digest: str) -> EventLog:
    rows = sorted(zip(*map(column, COLUMNS), strict=True), key=lambda row: row[0])
    lines: list[tuple[int, str]] = []
    for position, tick, op, *terms in rows:
        if op not in ("insert", "retract"):
            raise LogError(
                f"no operation {op!r}", where=(f"position {position}",), hint="Write insert or retract"
            )
        lines.append((tick, f"{Op[op.upper()].value} {' '.join(map(str, terms))} ."))
    log = EventLog()
    log.extend_lines(lines)
    if digest and log.digest != digest:
        raise LogError(
            f"its rows are not the deltas of {digest}", hint="A row is missing or was edited; write it again"
        )
    return log
