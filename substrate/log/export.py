"""Logs and states in the formats of others: Turtle, N-Quads, and a stream of members (LDES).

RDF Patch, the log's own format, is :meth:`EventLog.to_patch` and :meth:`EventLog.from_patch`; N-Quads
of a state are :meth:`State.nquads`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta

import pyoxigraph as ox

from substrate.base.delta import Op
from substrate.base.errors import LogError
from substrate.base.vocabulary import NAMESPACE, RDF_TYPE, TICK
from substrate.log.event_log import EventLog
from substrate.log.patch import Descent
from substrate.log.state import State
from substrate.sparql.tokens import require_shallow

_LDES = "https://w3id.org/ldes#"
_TREE = "https://w3id.org/tree#"
_XSD = "http://www.w3.org/2001/XMLSchema#"
_REIFIES = ox.NamedNode("http://www.w3.org/1999/02/22-rdf-syntax-ns#reifies")
GENERATED = ox.NamedNode("http://www.w3.org/ns/prov#generatedAtTime")
"""A member's time: the timestamp path of the stream."""
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_CLASSES = {
    Op.INSERT: ox.NamedNode(NAMESPACE + "Insertion"),
    Op.RETRACT: ox.NamedNode(NAMESPACE + "Retraction"),
}
_OPS = {node: op for op, node in _CLASSES.items()}
_FORMATS = {"turtle": ox.RdfFormat.TURTLE, "nquads": ox.RdfFormat.N_QUADS}


def to_turtle(state: State, prefixes: Mapping[str, str] | None = None) -> str:
    """A state as Turtle, statements in the order of their text.

    Args:
        state: the ABox.
        prefixes: prefix names to IRIs, beside those of the log.

    >>> log = EventLog()
    >>> log.extend_lines([(0, "A <urn:v:ann> <urn:v:at> <urn:v:cafe> .")])
    >>> print(to_turtle(log.state(0), {"v": "urn:v:"}), end="")
    @prefix v: <urn:v:> .
    v:ann v:at v:cafe .
    """
    triples = sorted((ox.Triple(*triple) for triple in state), key=str)
    known = dict(sorted({**state.prefixes, **(prefixes or {})}.items()))
    text = ox.serialize(triples, format=ox.RdfFormat.TURTLE, prefixes=known)
    return text.decode()  # pyright: ignore[reportOptionalMemberAccess]  # without an output it gives bytes


def from_state(text: str, format: str = "turtle", tick: int = 0, name: str = "state") -> EventLog:
    """A log whose one tick inserts what a file of triples says, in the order of their text.

    Args:
        text: the file's content.
        format: ``turtle`` or ``nquads``.
        tick: where the triples are inserted.
        name: what an error calls the file.

    Raises:
        LogError: the text is not of that format, or has named graphs.

    >>> from_state("<urn:v:ann> <urn:v:at> <urn:v:cafe> .", tick=3).state(3).nquads()
    '<urn:v:ann> <urn:v:at> <urn:v:cafe> .\\n'
    """
    if format not in _FORMATS:
        raise LogError(
            f"no format {format!r}", where=(name,), hint=f"Choose one of {', '.join(sorted(_FORMATS))}"
        )
    require_shallow(text, LogError, name)
    try:
        quads = set(ox.parse(text, _FORMATS[format], without_named_graphs=True))
    except SyntaxError as error:
        raise LogError(
            f"not {format} of one graph ({error})", where=(name,), hint="Give triples of the default graph"
        ) from error
    log = EventLog()
    log.extend_lines((tick, f"A {line} .") for line in sorted(map(str, quads)))
    return log


def members(
    log: EventLog, *, epoch: datetime = EPOCH, tick_length: timedelta = timedelta(seconds=1)
) -> Iterator[str]:
    """A log as a Linked Data Event Stream, one N-Triples statement at a time.

    Each delta is an immutable member that reifies its triple (RDF 1.2) and says whether it was inserted
    or retracted. The stream's ``ldes:timestampPath`` is ``prov:generatedAtTime``; members of one tick
    share it and are told apart by their ``core:position``, the stream's ``ldes:sequencePath``.
    https://w3id.org/ldes/specification

    Args:
        log: the log to publish.
        epoch: the time of tick 0, with a time zone.
        tick_length: the time from one tick to the next.

    >>> log = EventLog()
    >>> log.extend_lines([(2, "A <urn:v:ann> <urn:v:at> <urn:v:cafe> .")])
    >>> print(list(members(log))[-2].split(" ", 1)[1])
    <http://www.w3.org/ns/prov#generatedAtTime>
    "1970-01-01T00:00:02Z"^^<http://www.w3.org/2001/XMLSchema#dateTime> .
    """
    base = f"{NAMESPACE}log:{log.digest}"
    stream = ox.NamedNode(base)
    core = {name: ox.NamedNode(NAMESPACE + name) for name in ("position", "parent", "branch", "digest")}
    opening = [
        (RDF_TYPE, ox.NamedNode(_LDES + "EventStream")),
        (ox.NamedNode(_LDES + "timestampPath"), GENERATED),
        (ox.NamedNode(_LDES + "sequencePath"), core["position"]),
        (core["digest"], ox.Literal(log.digest)),
    ]
    if log.descent:
        opening += [
            (core["parent"], ox.Literal(log.descent.parent)),
            (core["branch"], ox.Literal(log.descent.branch)),
        ]
    yield from (f"{ox.Triple(stream, predicate, value)} ." for predicate, value in opening)
    for position, delta in enumerate(log):
        member = ox.NamedNode(f"{base}#{position}")
        time = (epoch + delta.tick * tick_length).astimezone(UTC).isoformat().replace("+00:00", "Z")
        for subject, predicate, value in (
            (stream, ox.NamedNode(_TREE + "member"), member),
            (member, RDF_TYPE, _CLASSES[delta.op]),
            (member, core["position"], ox.Literal(position)),
            (member, TICK, ox.Literal(delta.tick)),
            (member, GENERATED, ox.Literal(time, datatype=ox.NamedNode(_XSD + "dateTime"))),
            (member, _REIFIES, ox.Triple(*delta.triple)),
        ):
            yield f"{ox.Triple(subject, predicate, value)} ."


def from_members(text: str, name: str = "stream") -> EventLog:
    """A log from its event stream; the digest that the stream names is checked.

    Args:
        text: what :func:`members` gave, as N-Triples or Turtle, in any order.
        name: what an error calls the file.

    Raises:
        LogError: the text is not RDF, a member lacks a part, or the deltas are not those of the digest.

    >>> log = EventLog()
    >>> log.extend_lines([(2, "A <urn:v:ann> <urn:v:at> <urn:v:cafe> .")])
    >>> from_members("\\n".join(members(log))).digest == log.digest
    True
    """
    about: dict[
        ox.NamedNode | ox.BlankNode, dict[ox.NamedNode, ox.NamedNode | ox.BlankNode | ox.Literal | ox.Triple]
    ] = {}
    listed = []
    require_shallow(text, LogError, name)
    try:
        for quad in ox.parse(text, ox.RdfFormat.TURTLE):
            if quad.predicate.value == _TREE + "member":
                listed.append(quad.object)
            else:
                about.setdefault(quad.subject, {})[quad.predicate] = quad.object
    except SyntaxError as error:
        raise LogError(
            f"not N-Triples or Turtle ({error})", where=(name,), hint="Fetch the stream again"
        ) from error
    read = []
    position = ox.NamedNode(NAMESPACE + "position")
    for member in listed:
        said = about.get(member, {})
        op, triple, tick, place = (
            _OPS.get(said.get(RDF_TYPE)),  # pyright: ignore[reportArgumentType]
            said.get(_REIFIES),
            said.get(TICK),
            said.get(position),
        )
        if op is None or not (
            isinstance(triple, ox.Triple)
            and isinstance(tick, ox.Literal)
            and isinstance(place, ox.Literal)
            and _is_count(tick.value)
            and _is_count(place.value)
        ):
            raise LogError(
                f"the member {member} lacks its operation, triple, tick or position",
                where=(name,),
                hint="Fetch the stream again",
            )
        read.append((int(place.value), int(tick.value), f"{op.value} {triple} ."))
    log = EventLog()
    log.extend_lines((tick, line) for _, tick, line in sorted(read))
    stream = next((parts for parts in about.values() if ox.NamedNode(NAMESPACE + "digest") in parts), {})
    digest, parent, branch = (
        stream.get(ox.NamedNode(NAMESPACE + key)) for key in ("digest", "parent", "branch")
    )
    if isinstance(digest, ox.Literal) and digest.value != log.digest:
        raise LogError(
            f"its members are not those of {digest.value}",
            where=(name,),
            hint="The stream is incomplete or was edited; fetch it again",
        )
    if isinstance(parent, ox.Literal) and isinstance(branch, ox.Literal) and _is_count(branch.value):
        log.descent = Descent(parent.value, int(branch.value))
    return log


def _is_count(digits: str) -> bool:
    return digits.isascii() and digits.isdigit() and len(digits) < 19
