"""The records of a memory: their vocabulary, the types of calls and answers, and questions to a state.

:mod:`substrate.memory._format` has the order of a record's deltas.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import NamedTuple, TypedDict

import pyoxigraph as ox

from substrate.base.delta import Term, Triple
from substrate.base.errors import ParameterError
from substrate.base.terms import Value, value
from substrate.base.times import read_instant
from substrate.base.vocabulary import AWAITS as AWAITS
from substrate.base.vocabulary import NAMESPACE
from substrate.log.state import State

PREFIX = f"{NAMESPACE}record:"
"""A record's name is this prefix and a hash of the earlier log and of the record's content."""
FROM = ox.NamedNode(NAMESPACE + "validFrom")
"""First tick of the world at which a record's triple holds."""
UNTIL = ox.NamedNode(NAMESPACE + "validUntil")
"""First tick of the world at which the triple no longer holds."""
ABOUT = ox.NamedNode(NAMESPACE + "aboutRecord")
"""The record that an ending or a forgetting is about."""
WITHDRAWN = ox.NamedNode(NAMESPACE + "withdrawnBy")
"""The record that removed a record's last ground; the withdrawn record stays, but its triple is retracted."""
DOUBTED = ox.NamedNode(NAMESPACE + "doubtedFor")
"""The reason to doubt a record: another record, or a class or property that it contradicts."""
REIFIES = ox.NamedNode("http://www.w3.org/1999/02/22-rdf-syntax-ns#reifies")
_XSD = "http://www.w3.org/2001/XMLSchema#"
_PROV = "http://www.w3.org/ns/prov#"
AUTHOR = ox.NamedNode(_PROV + "wasAttributedTo")
"""The writer of a record."""
PRIMARY = ox.NamedNode(_PROV + "hadPrimarySource")
"""The source of a record."""
CAUSE = ox.NamedNode(_PROV + "wasDerivedFrom")
"""The record that caused a record."""
TIME = ox.NamedNode(_PROV + "generatedAtTime")
"""The time at which a record was written, by the clock of the world."""

Node = ox.NamedNode | ox.BlankNode
Moment = int | datetime
"""A moment of the world: a tick, or a time with its zone. The two clocks are never compared."""
Properties = dict[ox.NamedNode, list[Term]]
"""A record's description: the objects of each predicate."""


def moment(given: object, where: str) -> Moment:
    """Check a moment of the world; convert a time to UTC.

    Raises:
        ParameterError: it is neither a whole number from 0 nor a datetime with a time zone, or it leaves the
            years 1 to 9999 in UTC.

    >>> moment("tomorrow", "valid_from")
    Traceback (most recent call last):
    substrate.base.errors.ParameterError: valid_from: 'tomorrow' is no moment. Give a tick (a whole number
    from 0) or a datetime with a time zone.
    """
    if isinstance(given, datetime) and given.utcoffset() is not None:
        try:
            return given.astimezone(UTC)
        except OverflowError:
            what, hint = f"{given} lies beyond the years 1 to 9999 of UTC", "Give a time between"
            raise ParameterError(what, where=(where,), hint=hint) from None
    if isinstance(given, int) and not isinstance(given, bool) and given >= 0:
        return given
    what = f"{given!r} is no moment" if not isinstance(given, datetime) else "the time has no time zone"
    hint = "Give a tick (a whole number from 0) or a datetime with a time zone"
    raise ParameterError(what, where=(where,), hint=hint)


def when(bound: Term) -> Moment | None:
    """Read a bound in a log as a moment; ``None`` if it is not a moment, such as a time without a zone.

    A time that Python cannot hold keeps its text and its place (:mod:`substrate.base.times`).

    >>> print(when(ox.Literal("2016-12-31T23:59:60Z", datatype=ox.NamedNode(_XSD + "dateTime"))))
    2017-01-01 00:00:00+00:00
    """
    try:
        if isinstance(bound, ox.Literal) and bound.datatype.value == f"{_XSD}dateTime":
            return read_instant(bound.value)
        return moment(value(bound), "bound")
    except (ParameterError, ValueError):
        return None


def moments(state: State, node: Node, which: ox.NamedNode) -> list[Moment]:
    """The moments that a record gives for one of its bounds."""
    return [bound for *_, given in state.match(node, which) if (bound := when(given)) is not None]


def same_clock(bound: object, other: object) -> bool:
    """Tell whether two moments are both times, or both ticks."""
    return isinstance(bound, datetime) == isinstance(other, datetime)


class Record(NamedTuple):
    """The outcome of a call that writes: the record's node, its tick, and the positions of its deltas in the
    log.

    >>> from substrate.memory.memory import Memory
    >>> Memory().observe(ox.NamedNode("urn:ann"), ox.NamedNode("urn:at"), ox.NamedNode("urn:cafe")).tick
    0
    """

    node: ox.NamedNode
    tick: int
    positions: tuple[int, ...]


class Written(TypedDict, total=False):
    """The times, the writer, the source and the cause of a record; each part may be left out."""

    tick: int | None
    """The tick of recording; by default a new tick."""
    author: Value
    """The writer: a node, or a name."""
    source: Value
    """The source that it was taken from."""
    cause: Record | Node | None
    """The record because of which it was written."""
    time: datetime | None
    """The wall clock of the world, with a time zone."""


class Ground(NamedTuple):
    """Why something is remembered: a record as it was written, and the positions of its deltas.

    ``author``, ``source``, ``time``, ``valid_from`` and ``valid_until`` are ``None`` if the record does not
    give them. ``lost`` tells whether the record is forgotten or withdrawn, or its fact has ended, at the tick
    of the question; ``doubted`` tells whether it is in doubt.
    """

    record: ox.NamedNode
    kind: ox.NamedNode
    tick: int
    positions: tuple[int, ...]
    said: Triple
    author: Term | None
    source: Term | None
    time: datetime | None
    valid_from: Moment | None
    valid_until: Moment | None
    lost: bool = False
    doubted: bool = False


def is_record(node: Term) -> bool:
    """Tell whether a term names a record."""
    return isinstance(node, ox.NamedNode) and node.value.startswith(PREFIX)


def describe(state: State, node: Term) -> Properties:
    """All properties of a record in a state, read in one query."""
    properties: Properties = {}
    for _, predicate, term in state.match(node) if isinstance(node, Node) else ():
        properties.setdefault(predicate, []).append(term)
    return properties


def is_lost(state: State, node: Node, *, or_forgotten: bool = False) -> bool:
    """Tell whether a record is withdrawn or ended; on demand also whether it is forgotten."""
    has = describe(state, node)
    return WITHDRAWN in has or (UNTIL in has and AWAITS not in has) or (or_forgotten and not has)


def is_doubted(state: State, node: Node) -> bool:
    """Tell whether a record has a reason for doubt that is not itself lost."""
    against = describe(state, node).get(DOUBTED, ())
    return any(
        not is_record(reason) or not is_lost(state, reason, or_forgotten=True)  # type: ignore[arg-type]
        for reason in against
    )


def records_of(state: State, fact: Triple) -> list[Node]:
    """The records of a state that state a triple, sorted by name."""
    records = (subject for subject, _, _ in state.match(None, REIFIES, ox.Triple(*fact)))
    return sorted(records, key=str)


def standing_records(state: State, fact: Triple) -> list[Node]:
    """The records that state a triple and have neither ended nor lost their ground, sorted by name."""
    return [node for node in records_of(state, fact) if not is_lost(state, node)]
