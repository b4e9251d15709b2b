"""A perceived video ► its event log, whose records give each event's basis and probability.

The log has an annotation's content, one tick per frame: objects, visibility, motion, entries, exits,
collisions and poses. It also has records: nodes that reify a triple (RDF 1.2) and have a ``:basis``
(``:detection``, ``:filter``, ``:inference``), a ``:probability``, and an event's ``:earliest`` and
``:latest`` frame. A doubtful event has a record too, but its class triple is only reified, not asserted:
SPARQL sees it, a question's program does not.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, NamedTuple

import pyoxigraph as ox

from research.domains.perception.belief import BELIEF, Belief
from research.domains.perception.perceive import (
    Perceived,
    PerceivedCollision,
    PerceivedCrossing,
    Video,
    recorded,
)
from research.domains.possible import PossibleEvent, PossibleScene
from substrate.base.vocabulary import RDF_TYPE
from substrate.domains.clevrer import format
from substrate.domains.clevrer.deltas import NAMESPACE, annotation_log, scene_iri
from substrate.domains.clevrer.scene import Scene, lexical
from substrate.log.event_log import EventLog

_DIGITS = 4
_REIFIES = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#reifies>"
_XSD = "http://www.w3.org/2001/XMLSchema#"
_CLASSES = {"in": "Entry", "out": "Exit"}
_KINDS: dict[str, Literal["", "in", "out"]] = {"Entry": "in", "Exit": "out", "Collision": ""}
_BASES = {"Object": "detection", "Entry": "filter", "Exit": "filter", "Collision": "inference"}
_SURE = 0.9999
"""The highest stated probability: 1 would exclude doubt."""

Event = PerceivedCrossing | PerceivedCollision
Line = tuple[int, str]


def perceived_log(video: Video, record: Perceived | None = None, belief: Belief = BELIEF) -> EventLog:
    """Build the event log of a video.

    Args:
        video: the examined video.
        record: its record, if already made.
    """
    record = record or recorded(video, belief=belief)
    plain = annotation_log(_annotation(video, record, belief))
    scene = scene_iri(record.scene_index)
    lines: list[Line] = []
    for delta in plain:
        subject, predicate, value = delta.triple
        lines.append((delta.tick, f"{delta.op.value} {subject} {predicate} {value} ."))
    lines += _records(plain, scene, record)
    log = EventLog()
    log.extend_lines(sorted(lines, key=lambda line: line[0]))
    return log


def _annotation(video: Video, record: Perceived, belief: Belief) -> format.Annotation:
    """The video as an annotation: the filter's states, with all visible bodies marked."""
    last = video.seen.last
    enters = {event.object: event.frame for event in record.in_outs if event.type == "in"}
    leaves = {event.object: event.frame for event in record.in_outs if event.type == "out"}
    columns: list[list[format.MotionState]] = []
    for number in range(len(video.paths)):
        pieces = [piece for piece, _ in video.pieces(number, belief)]
        column: list[format.MotionState] = []
        for frame in range(last + 1):
            piece = next((p for p in reversed(pieces) if p.start <= frame), pieces[0])
            (x, y), (vx, vy) = piece.at(frame), piece.velocity_at(frame)
            in_view = enters.get(number, 0) <= frame < leaves.get(number, last + 1)
            place = (round(x, _DIGITS), round(y, _DIGITS), format.RADIUS)
            velocity = (round(vx, _DIGITS), round(vy, _DIGITS), 0.0)
            column.append(
                format.MotionState(number, place, (0.0, 0.0, 0.0), velocity, (0.0, 0.0, 0.0), in_view)
            )
        columns.append(column)
    return format.Annotation(
        record.scene_index,
        "",
        [format.ObjectProperty(o.id, o.color, o.material, o.shape) for o in record.objects],
        [format.Frame(frame, [column[frame] for column in columns]) for frame in range(last + 1)],
        [format.Collision(event.object, event.frame, (0.0, 0.0, 0.0)) for event in record.collisions],
    )


def _records(log: EventLog, scene: str, record: Perceived) -> Iterator[Line]:
    """The records of objects and events, and of suspected events."""
    by_key = {_key(event): event for event in (*record.in_outs, *record.collisions)}
    classes: dict[str, tuple[int, str]] = {}
    participants: dict[str, list[int]] = {}
    for delta in log:
        subject, predicate, value = delta.triple
        name = str(value).strip("<>")
        if predicate == RDF_TYPE and (class_ := name.removeprefix(NAMESPACE)) in _BASES:
            classes[subject.value] = (delta.tick, class_)
        elif predicate.value == f"{NAMESPACE}participant":
            participants.setdefault(subject.value, []).append(int(name.rpartition(":")[2]))
    serial = 0
    for subject, (tick, class_) in classes.items():
        event = by_key.get((class_, tick, tuple(sorted(participants.get(subject, ())))))
        yield from _record(f"<{scene}:record:{serial}>", subject, class_, tick, event)
        serial += 1
    for place, event in enumerate(record.doubtful):
        class_, tick, numbers = _key(event)
        subject = f"{scene}:suspected:{place}"
        yield tick, f'A <{subject}> <{NAMESPACE}frame> "{tick}"^^<{_XSD}integer> .'
        for number in numbers:
            yield tick, f"A <{subject}> <{NAMESPACE}participant> <{scene}:object:{number}> ."
        yield from _record(f"<{scene}:record:{serial}>", subject, class_, tick, event)
        serial += 1


def _key(event: Event) -> tuple[str, int, tuple[int, ...]]:
    if isinstance(event, PerceivedCollision):
        return "Collision", event.frame, tuple(sorted(event.object))
    return _CLASSES[event.type], event.frame, (event.object,)


def _record(record: str, subject: str, class_: str, tick: int, event: Event | None) -> Iterator[Line]:
    """Annotate the triple that gives an individual its class."""
    triple = f"<<( <{subject}> <{RDF_TYPE.value}> <{NAMESPACE}{class_}> )>>"
    yield tick, f"A {record} {_REIFIES} {triple} ."
    yield tick, f"A {record} <{NAMESPACE}basis> <{NAMESPACE}{_BASES[class_]}> ."
    if event is not None:
        chance = min(_SURE, event.probability)
        yield tick, f'A {record} <{NAMESPACE}probability> "{chance:.4f}"^^<{_XSD}decimal> .'
        for name, frame in zip(("earliest", "latest"), event.frames, strict=True):
            yield tick, f'A {record} <{NAMESPACE}{name}> "{frame}"^^<{_XSD}integer> .'


class Link(NamedTuple):
    """A record of a perceived log: an individual and its class, with basis and probability of this fact."""

    subject: str
    class_: str
    basis: str
    probability: float


def links(log: EventLog) -> dict[str, Link]:
    """The record of each event, by the event's IRI; records of objects, without probability, are left out."""
    about: dict[str, dict[str, str]] = {}
    reified: dict[str, tuple[str, str]] = {}
    for delta in log:
        subject, predicate, value = delta.triple
        if str(predicate) == _REIFIES and isinstance(value, ox.Triple):
            individual, class_ = (str(part).strip("<>") for part in (value.subject, value.object))
            reified[str(subject)] = (individual, class_.removeprefix(NAMESPACE))
        elif not isinstance(value, ox.Triple) and predicate.value.startswith(NAMESPACE):
            about.setdefault(str(subject), {})[predicate.value.removeprefix(NAMESPACE)] = value.value
    by_individual: dict[str, Link] = {}
    for record, (subject, class_) in reified.items():
        facts = about.get(record, {})
        if "probability" in facts:
            basis = facts.get("basis", "").removeprefix(NAMESPACE)
            by_individual[subject] = Link(subject, class_, basis, float(facts["probability"]))
    return by_individual


def read_back(log: EventLog, scene_index: int) -> PossibleScene:
    """Read a video back from its perceived log: the objects, and every event with its probability."""
    scene = Scene(log)
    frames, participants = scene.holding(f"{NAMESPACE}frame"), scene.holding(f"{NAMESPACE}participant")
    events: list[PossibleEvent] = []
    for subject, class_, _, probability in links(log).values():
        (frame,) = frames[f"<{subject}>"]
        who = sorted(int(name[:-1].rpartition(":")[2]) for name in participants[f"<{subject}>"])
        events.append(PossibleEvent(int(lexical(frame)), _KINDS[class_], tuple(who), probability))
    things = [
        format.CompactObject(*thing[:3], number)  # pyright: ignore[reportArgumentType]
        for number, thing in sorted(scene.objects.items())
    ]
    return PossibleScene(scene_index, scene.end + 1, things, sorted(events))
