"""A perceived video ► its event log, whose records give each event's basis and probability.

The log has an annotation's content, one tick per frame: objects, visibility, motion, entries, exits,
collisions and poses. It also has :mod:`records <research.domains.event_records>` of objects (by
``:detection``), entries and exits (by ``:filter``) and collisions (by ``:inference``); an event's record has
its ``:earliest`` and ``:latest`` frame. A doubtful event has a record too, but the log does not assert its
class.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import Literal

import pyoxigraph as ox

from research.domains.event_records import class_record, event_records, participants, stated_probability
from research.domains.objects import look_of, object_iri
from research.domains.perception.belief import BELIEF, Belief
from research.domains.perception.perceive import (
    ExaminedVideo,
    Perceived,
    PerceivedCollision,
    PerceivedCrossing,
    recorded,
)
from research.domains.possible import PossibleEvent, PossibleScene
from substrate.domains.clevrer import format
from substrate.domains.clevrer.deltas import NAMESPACE, annotation_log
from substrate.domains.clevrer.scene import Scene
from substrate.log.event_log import EventLog

_DIGITS = 4
_CLASSES = {"in": "Entry", "out": "Exit"}
_KINDS: dict[str, Literal["", "in", "out"]] = {"Entry": "in", "Exit": "out", "Collision": ""}
_BASES = {"Object": "detection", "Entry": "filter", "Exit": "filter", "Collision": "inference"}
_SURE = 0.9999
"""The highest stated probability: 1 would exclude doubt."""

Event = PerceivedCrossing | PerceivedCollision
Line = tuple[int, str]
"""A tick and a triple that holds from it on."""
Key = tuple[str, int, tuple[int, ...]]
"""The class, frame and participants of an event: no two events of a video share all three."""


def perceived_log(video: ExaminedVideo, record: Perceived | None = None, belief: Belief = BELIEF) -> EventLog:
    """Build the event log of a video.

    Args:
        video: the examined video.
        record: its record, if already made.
    """
    record = record or recorded(video, belief=belief)
    filmed = annotation_log(_annotation(video, record, belief))
    lines = [(tick, line) for tick, at_tick in filmed.lines() for line in at_tick]
    lines += ((tick, f"A {text} .") for tick, text in _records(filmed, record))
    log = EventLog()
    log.extend_lines(sorted(lines, key=lambda line: line[0]))
    return log


def _annotation(video: ExaminedVideo, record: Perceived, belief: Belief) -> format.Annotation:
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


def _records(log: EventLog, record: Perceived) -> Iterator[Line]:
    """The records of objects and events, and of suspected events."""
    scene, perceived = Scene(log), {_key(event): event for event in (*record.in_outs, *record.collisions)}
    serial = count()
    for number in scene.objects:
        yield from _record(scene, next(serial), object_iri(scene.iri, number), ("Object", 0, ()))
    for filmed in scene.events:
        if filmed.objects:  # the video's start and end have none
            key: Key = (filmed.kind, filmed.frame or 0, tuple(sorted(filmed.objects)))
            yield from _record(scene, next(serial), filmed.iri, key, perceived.get(key))
    for place, event in enumerate(record.doubtful):
        suspected, key = f"{scene.iri}:suspected:{place}", _key(event)
        _, tick, numbers = key
        yield tick, f"<{suspected}> <{NAMESPACE}frame> {_integer(tick)}"
        for participant in participants(suspected, scene.iri, numbers):
            yield tick, participant
        yield from _record(scene, next(serial), suspected, key, event)


def _key(event: Event) -> Key:
    if isinstance(event, PerceivedCollision):
        return "Collision", event.frame, tuple(sorted(event.object))
    return _CLASSES[event.type], event.frame, (event.object,)


def _record(
    scene: Scene, serial: int, individual: str, key: Key, event: Event | None = None
) -> Iterator[Line]:
    """The record of an individual's class; of an event, with its probability and its frames."""
    (class_, tick, _), record = key, f"{scene.iri}:record:{serial}"
    for text in class_record(record, individual, class_, _BASES[class_]):
        yield tick, text
    if event is not None:
        yield tick, stated_probability(record, min(_SURE, event.probability))
        for name, frame in zip(("earliest", "latest"), event.frames, strict=True):
            yield tick, f"<{record}> <{NAMESPACE}{name}> {_integer(frame)}"


def _integer(value: int) -> str:
    return str(ox.Literal(value))


def read_back(log: EventLog, scene_index: int) -> PossibleScene:
    """Read a video back from its perceived log: the objects, and every event with its probability."""
    scene = Scene(log)
    events = [
        PossibleEvent(record.frame, _KINDS[record.class_], record.objects, record.probability)
        for record in event_records(log).values()
    ]
    things = [format.CompactObject(*look_of(thing), number) for number, thing in scene.objects.items()]
    return PossibleScene(scene_index, scene.end + 1, things, sorted(events))
