"""Records of a log: how sure the log is of an individual's class, and by what it was inferred.

A record is a node that reifies the triple which gives an individual its class (RDF 1.2), with a ``:basis``
and, if the individual is an event, a ``:probability``. The log need not assert that triple: SPARQL sees an
event that is only reified, a question's program does not. :mod:`.foretold` writes records of collisions to
come, :mod:`.perception.log` of all that a video shows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from research.domains.objects import object_iri
from substrate.base.vocabulary import RDF_TYPE
from substrate.domains.clevrer.deltas import NAMESPACE
from substrate.domains.clevrer.scene import local
from substrate.log.event_log import EventLog

_RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
_DECIMAL = "<http://www.w3.org/2001/XMLSchema#decimal>"
_RECORDS = """SELECT ?event ?class ?basis ?probability ?frame ?number WHERE {
    ?record rdf:reifies <<( ?event a ?class )>> ; :basis ?basis ; :probability ?probability .
    ?event :participant/:number ?number OPTIONAL { ?event :frame ?frame } } ORDER BY ?event ?number"""


class EventRecord(NamedTuple):
    """An event with a record; ``frame`` is 0 if the log does not give one."""

    event: str
    """Its IRI."""
    class_: str
    frame: int
    objects: tuple[int, ...]
    basis: str
    probability: float


def class_record(record: str, individual: str, class_: str, basis: str) -> Iterator[str]:
    """Spell the record of an individual's class; all but the class and the basis are IRIs."""
    reified = f"<<( <{individual}> {RDF_TYPE} <{NAMESPACE}{class_}> )>>"
    yield f"<{record}> <{_RDF}reifies> {reified}"
    yield f"<{record}> <{NAMESPACE}basis> <{NAMESPACE}{basis}>"


def stated_probability(record: str, probability: float) -> str:
    """Spell the probability of a record."""
    return f'<{record}> <{NAMESPACE}probability> "{probability:.4f}"^^{_DECIMAL}'


def participants(event: str, scene: str, numbers: Iterable[int]) -> Iterator[str]:
    """Spell the participants of an event, objects of a scene."""
    for number in numbers:
        yield f"<{event}> <{NAMESPACE}participant> <{object_iri(scene, number)}>"


def event_records(log: EventLog) -> dict[str, EventRecord]:
    """The records of a log's events, by the event's IRI."""
    rows: Any = log.head.query(_RECORDS, prefixes={"": NAMESPACE, "rdf": _RDF})
    records: dict[str, EventRecord] = {}
    for row in rows:
        iri, number = row["event"].value, int(row["number"].value)
        if known := records.get(iri):
            records[iri] = known._replace(objects=(*known.objects, number))
            continue
        class_, basis = (local(str(row[name])) for name in ("class", "basis"))
        frame = int(row["frame"].value) if row["frame"] else 0
        records[iri] = EventRecord(iri, class_, frame, (number,), basis, float(row["probability"].value))
    return records
