"""CLEVRER files ► typed deltas: one event log per scene, one tick per frame.

Tick 0 has the objects with their attributes, whether they are in view and whether they move; later ticks
have entries, exits, collisions and every change of motion. At :func:`pose_frames` the log records the pose of
every object in view; kinematic projection and simulated forks read these poses.
Classes and predicates are those of ``tboxes/clevrer.ttl``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import compress, count
from operator import and_, attrgetter, itemgetter
from typing import Protocol

import msgspec

from substrate.base.delta import Op
from substrate.base.ntriples import integer
from substrate.domains.clevrer.film import Film, film_of, poses
from substrate.domains.clevrer.format import (
    AFTER,
    BEFORE,
    MOVING_SPEED,
    Annotation,
    CompactObject,
    ObjectProperty,
    Posed,
    SceneEvents,
    decode_annotation,
    in_out_objects,
    tracks,
)
from substrate.log.event_log import EventLog

NAMESPACE = "urn:substrate:clevrer:"
SAMPLED_FRAMES = 5
"""The number of a video's last frames whose poses are all recorded; kinematic projection averages them."""
_MOVING = MOVING_SPEED**2  # is compared with squared speeds
_SEEN, _VELOCITY = attrgetter("inside_camera_view"), attrgetter("velocity")

_TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
_XSD = "http://www.w3.org/2001/XMLSchema#"
_TRUE = f'"true"^^<{_XSD}boolean>'

Occurrence = tuple[int, str, tuple[int, ...]]
"""Frame, class and participants of an event."""
Line = tuple[int, Op, str]
"""A delta's frame, operation and triple, as :class:`~substrate.base.delta.Spelled` has them."""


def scene_iri(scene: int) -> str:
    """The IRI of a scene; its objects and events lie under it."""
    return f"urn:clevrer:{scene}"


def annotation_log(annotation: Annotation, scene: str = "") -> EventLog:
    """The event log of an official annotation, one tick per frame; ``scene`` is its IRI, if not CLEVRER's.

    An object enters when ``inside_camera_view`` flips to true after frame 0 and exits when it flips to
    false; it moves while its ground-plane speed is above :data:`MOVING_SPEED` units a second.

    >>> from substrate.domains.clevrer.format import Frame, MotionState, ObjectProperty
    >>> at = lambda x, seen: MotionState(0, (x, 0.0, 0.2), (0.0,) * 3, (1.0, 0.0, 0.0), (0.0,) * 3, seen)
    >>> frames = [Frame(0, [at(9.0, False)]), Frame(1, [at(8.0, True)])]
    >>> cube = ObjectProperty(0, "red", "metal", "cube")
    >>> log = annotation_log(Annotation(7, "video_00007.mp4", [cube], frames, []))
    >>> bool(log.state(1).query("PREFIX : <urn:substrate:clevrer:> ASK { ?event a :Entry ; :frame 1 }"))
    True
    """
    return _filmed(film_of(annotation, tracks(annotation)), scene or scene_iri(annotation.scene_index))


def film_log(film: Film) -> EventLog:
    """The event log of an annotation that was decoded as far as the log needs it.

    Raises:
        FormatError: a pose cannot be read.
    """
    try:
        return _filmed(film, scene_iri(film.scene_index))
    except msgspec.ValidationError:
        if film.source:
            decode_annotation(film.source)  # names the frame and what is wrong with it
        raise


def _filmed(film: Film, scene: str) -> EventLog:
    visible = {number: bytes(map(_SEEN, track)) for number, track in film.tracks.items()}
    occurrences: list[Occurrence] = [
        (frame, "Entry" if seen[frame] else "Exit", (number,))
        for number, seen in visible.items()
        for frame in _changes(seen)
    ]
    entries = [frame for frame, kind, _ in occurrences if kind == "Entry"]
    posed = pose_frames(film.frames, entries, [c.frame_id for c in film.collision])
    recorded = [
        (frame, track[frame])
        for number, track in film.tracks.items()
        for frame in posed
        if visible[number][frame]
    ]
    values = iter(spelled_poses(poses(recorded)))
    lines = _opening(scene, film.frames, [(o.object_id, o) for o in film.object_property])
    for number, track in film.tracks.items():
        subject, seen = f"<{scene}:object:{number}>", visible[number]
        moving = bytes([x * x + y * y > _MOVING for x, y, _ in map(_VELOCITY, track)])
        lines += _flips(subject, seen, moving)
        lines += _poses(subject, [frame for frame in posed if seen[frame]], values)
    occurrences.sort()
    occurrences += ((c.frame_id, "Collision", c.object_ids) for c in film.collision)
    return _log(scene, film.frames, lines, occurrences)


class Moving(Protocol):
    """The motion of an object from another source than an annotation, such as tracked positions."""

    def in_view(self, frame: int) -> bool:
        """Tell whether it is in view at a frame."""
        ...

    def motion(self, frames: int) -> bytes:
        """For each frame, 1 if it moves."""
        ...

    def poses(self, frames: Iterable[int]) -> list[Posed]:
        """Its poses at the given frames, as far as they are known."""
        ...


def events_log(
    scene_events: SceneEvents, watched: Callable[[int], Mapping[int, Moving]] | None = None
) -> EventLog:
    """The event log of a compact event record; it has no motion and does not say which objects are in view.

    Args:
        scene_events: the record; its positions are not read.
        watched: gives, for a last frame, the motion of each object that has tracked positions
            (:func:`research.domains.positions.tracked_log`); the log then has motion, views and
            poses, like an annotation's log.
    """
    scene = scene_iri(scene_events.scene_index)
    last = max((e.frame for e in (*scene_events.in_outs, *scene_events.collisions)), default=0)
    frames = max(scene_events.n_frames, last + 1)
    lines = _opening(scene, frames, [(o.id, o) for o in scene_events.objects])
    if watched is not None:
        lines.append((0, Op.INSERT, f"<{scene}> <{NAMESPACE}tracked> {_TRUE}"))
        entries = [e.frame for e in scene_events.in_outs if e.type == "in"]
        posed = pose_frames(frames, entries, [e.frame for e in scene_events.collisions])
        for number, body in watched(frames - 1).items():
            lines += _watched(f"<{scene}:object:{number}>", body, frames, posed)
    occurrences: list[Occurrence] = [
        (e.frame, "Entry" if e.type == "in" else "Exit", in_out_objects(e)) for e in scene_events.in_outs
    ]
    occurrences += ((e.frame, "Collision", e.object) for e in scene_events.collisions)
    return _log(scene, frames, lines, occurrences)


def _opening(
    scene: str, frames: int, objects: Iterable[tuple[int, ObjectProperty | CompactObject]]
) -> list[Line]:
    """Tick 0: the scene and its objects."""
    facts = [f"<{scene}> {_TYPE} <{NAMESPACE}Scene>", f"<{scene}> <{NAMESPACE}frames> {integer(frames)}"]
    for number, thing in objects:
        subject = f"<{scene}:object:{number}>"
        facts += (
            f"{subject} {_TYPE} <{NAMESPACE}Object>",
            f"{subject} <{NAMESPACE}number> {integer(number)}",
            f"{subject} <{NAMESPACE}color> <{NAMESPACE}{thing.color}>",
            f"{subject} <{NAMESPACE}material> <{NAMESPACE}{thing.material}>",
            f"{subject} <{NAMESPACE}shape> <{NAMESPACE}{thing.shape}>",
        )
    return [(0, Op.INSERT, text) for text in facts]


def _flips(subject: str, visible: bytes, moving: bytes) -> Iterator[Line]:
    """The changes of an object's view and of its motion, and the first frame that shows it moving."""
    in_view = f"{subject} <{NAMESPACE}inView> {_TRUE}"
    for frame in _changes(visible, first=True):
        if frame or visible[0]:
            yield (frame, Op.INSERT if visible[frame] else Op.RETRACT, in_view)
    motion = f"{subject} <{NAMESPACE}motion> <{NAMESPACE}"
    for frame in _changes(moving, first=True):
        now, before = ("moving", "stationary") if moving[frame] else ("stationary", "moving")
        if frame:
            yield (frame, Op.RETRACT, f"{motion}{before}>")
        yield (frame, Op.INSERT, f"{motion}{now}>")
    seen_moving = next(compress(count(), map(and_, visible, moving)), None)
    if seen_moving is not None:
        yield (seen_moving, Op.INSERT, f"{subject} <{NAMESPACE}moved> {_TRUE}")


def _watched(subject: str, body: Moving, frames: int, posed: Iterable[int]) -> Iterator[Line]:
    """The flips and poses of a body with tracked positions; out of view it has no motion."""
    visible = bytes(map(body.in_view, range(frames)))
    yield from _flips(subject, visible, body.motion(frames))
    given = body.poses(posed)
    yield from _poses(subject, [frame for frame, *_ in given], iter(spelled_poses(given)))


def _changes(values: bytes, *, first: bool = False) -> list[int]:
    """The indices where a value, 0 or 1, differs from the one before; with ``first``, index 0 too."""
    indices = [0]
    # Search for the other value from the last change on; -1 ends the search
    while (index := values.find(not values[indices[-1]], indices[-1])) > 0:
        indices.append(index)
    return indices if first else indices[1:]


def pose_frames(frames: int, entries: Iterable[int], collisions: Iterable[int]) -> list[int]:
    """The frames of a video at which poses are recorded: those from which another course of events may
    branch, and the last.

    Between two of them every object moves freely, so the law of motion yields the poses that are left out.

    Args:
        frames: how many the video has.
        entries: frames at which an object enters.
        collisions: frames of collisions; poses are recorded before and after the impact.

    >>> pose_frames(128, [20], [60])
    [0, 20, 59, 62, 123, 124, 125, 126, 127]
    """
    last = frames - 1
    around = {
        frame
        for collision in collisions
        for frame in (max(0, collision - BEFORE), min(last, collision + AFTER))
    }
    return sorted({0, *entries, *around, *range(max(0, last - SAMPLED_FRAMES + 1), last + 1)})


def spelled_poses(given: Sequence[Posed]) -> list[str]:
    """Poses as the lexical form of ``:Pose``: frame; x, y (units); yaw (radians); vx, vy (units/s); spin
    (radians/s).

    >>> spelled_poses([(126, 0.25, -1.0, 0.0, 2.5, 0.0, 0.0), (127, 0.5, -1.0, 0.0, 2.5, 1e-05, 0.0)])
    ['126 0.25 -1.0 0.0 2.5 0.0 0.0', '127 0.5 -1.0 0.0 2.5 1e-05 0.0']
    """
    text = msgspec.json.encode(given).decode()
    # JSON is many times as fast as ``repr``, and spells numbers alike, except numbers below 0.0001, numbers
    # with an exponent, infinity and NaN.
    if not given or "e" in text or "0.0000" in text or "null" in text:
        return [" ".join(map(repr, pose)) for pose in given]
    return text[2:-2].replace(",", " ").split("] [")


def _poses(subject: str, frames: Iterable[int], values: Iterator[str]) -> Iterator[Line]:
    """An object's poses. Each is a single literal: as six triples each, poses would be most of the log."""
    for frame, value in zip(frames, values, strict=False):
        yield (frame, Op.INSERT, f'{subject} <{NAMESPACE}pose> "{value}"^^<{NAMESPACE}Pose>')


def _log(scene: str, frames: int, lines: list[Line], occurrences: Iterable[Occurrence]) -> EventLog:
    """All lines in tick order; events are numbered in time, the video's start first and its end last."""
    ordered = [
        (0, "Start", ()),
        *sorted(occurrences, key=lambda occurrence: occurrence[0]),
        (frames - 1, "End", ()),
    ]
    for serial, (frame, kind, participants) in enumerate(ordered):
        subject = f"<{scene}:event:{serial}>"
        lines.append((frame, Op.INSERT, f"{subject} {_TYPE} <{NAMESPACE}{kind}>"))
        lines.append((frame, Op.INSERT, f"{subject} <{NAMESPACE}frame> {integer(frame)}"))
        for number in participants:
            object_ = f"<{scene}:object:{number}>"
            lines.append((frame, Op.INSERT, f"{subject} <{NAMESPACE}participant> {object_}"))
    log = EventLog()
    # These texts have only IRIs, and literals of checked numbers and names: they need no parser.
    log.extend_spelled(sorted(lines, key=itemgetter(0)))
    return log
