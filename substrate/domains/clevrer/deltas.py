"""CLEVRER files ► typed deltas: one event log a scene, a tick a frame.

At tick 0 stand the objects with their attributes, whether they are in view and whether they move;
later ticks hold entries, exits, collisions and every change of motion. At :func:`pose_frames` the pose
of everyone in view is recorded, which is what kinematic projection and simulated forks read.
Classes and predicates are those of ``tboxes/clevrer.ttl``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress

from substrate.domains.clevrer.format import (
    MOVING_SPEED,
    Annotation,
    CompactObject,
    MotionState,
    ObjectProperty,
    SceneEvents,
    in_out_objects,
    tracks,
)
from substrate.log.event_log import EventLog

NAMESPACE = "urn:substrate:clevrer:"
SAMPLED_FRAMES = 5
"""Last frames of a video whose poses are recorded one by one: what kinematic projection averages."""
BEFORE, AFTER = 1, 2
"""Frames before and after a recorded collision between which its whole impulse passes."""
_MOVING = MOVING_SPEED**2

_TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
_XSD = "http://www.w3.org/2001/XMLSchema#"
_TRUE = f'"true"^^<{_XSD}boolean>'

Line = tuple[int, str]
"""A tick and an RDF Patch line."""
Occurrence = tuple[int, str, tuple[int, ...]]
"""Frame, class and participants of an event."""


def scene_iri(scene: int) -> str:
    """The IRI of a scene; its objects and events lie under it."""
    return f"urn:clevrer:{scene}"


def annotation_log(annotation: Annotation) -> EventLog:
    """The event log of an official annotation, a tick a frame.

    An object enters when ``inside_camera_view`` flips to true after frame 0 and exits when it flips to
    false; it moves while its ground-plane speed is above :data:`MOVING_SPEED` units a second.

    >>> from substrate.domains.clevrer.format import MotionState, Frame, ObjectProperty
    >>> at = lambda x, seen: MotionState(0, (x, 0.0, 0.2), (0.0,) * 3, (1.0, 0.0, 0.0), (0.0,) * 3, seen)
    >>> frames = [Frame(0, [at(9.0, False)]), Frame(1, [at(8.0, True)])]
    >>> cube = ObjectProperty(0, "red", "metal", "cube")
    >>> log = annotation_log(Annotation(7, "video_00007.mp4", [cube], frames, []))
    >>> bool(log.state(1).query("PREFIX : <urn:substrate:clevrer:> ASK { ?event a :Entry ; :frame 1 }"))
    True
    """
    frames = len(annotation.motion_trajectory)
    scene = scene_iri(annotation.scene_index)
    lines = _opening(scene, frames, [(o.object_id, o) for o in annotation.object_property])
    motion = tracks(annotation)
    visible = {number: [state.inside_camera_view for state in track] for number, track in motion.items()}
    occurrences: list[Occurrence] = [
        (frame, "Entry" if seen[frame] else "Exit", (number,))
        for number, seen in visible.items()
        for frame in _changes(seen)
    ]
    posed = pose_frames(
        frames,
        [frame for frame, kind, _ in occurrences if kind == "Entry"],
        [c.frame_id for c in annotation.collision],
    )
    for number, track in motion.items():
        subject = f"<{scene}:object:{number}>"
        velocities = [state.velocity for state in track]
        lines += _flips(subject, visible[number], [x * x + y * y > _MOVING for x, y, _ in velocities])
        lines += _poses(subject, track, posed)
    occurrences.sort()
    occurrences += ((c.frame_id, "Collision", c.object_ids) for c in annotation.collision)
    return _log(scene, frames, lines, occurrences)


def events_log(scene_events: SceneEvents) -> EventLog:
    """The event log of a compact event record, which knows no motion and not who is in view."""
    scene = scene_iri(scene_events.scene_index)
    last = max((e.frame for e in (*scene_events.in_outs, *scene_events.collisions)), default=0)
    frames = max(scene_events.n_frames, last + 1)
    lines = _opening(scene, frames, [(o.id, o) for o in scene_events.objects])
    occurrences: list[Occurrence] = [
        (e.frame, "Entry" if e.type == "in" else "Exit", in_out_objects(e)) for e in scene_events.in_outs
    ]
    occurrences += ((e.frame, "Collision", e.object) for e in scene_events.collisions)
    return _log(scene, frames, lines, occurrences)


def _opening(
    scene: str, frames: int, objects: Iterable[tuple[int, ObjectProperty | CompactObject]]
) -> list[Line]:
    """Tick 0: the scene and its objects."""
    lines = [
        (0, f"A <{scene}> {_TYPE} <{NAMESPACE}Scene> ."),
        (0, f"A <{scene}> <{NAMESPACE}frames> {_integer(frames)} ."),
    ]
    for number, thing in objects:
        subject = f"A <{scene}:object:{number}>"
        lines += (
            (0, f"{subject} {_TYPE} <{NAMESPACE}Object> ."),
            (0, f"{subject} <{NAMESPACE}number> {_integer(number)} ."),
            (0, f"{subject} <{NAMESPACE}color> <{NAMESPACE}{thing.color}> ."),
            (0, f"{subject} <{NAMESPACE}material> <{NAMESPACE}{thing.material}> ."),
            (0, f"{subject} <{NAMESPACE}shape> <{NAMESPACE}{thing.shape}> ."),
        )
    return lines


def _flips(subject: str, visible: list[bool], moving: list[bool]) -> Iterator[Line]:
    """In view or not, moving or stationary, and whether it has been seen moving: each where it changes."""
    in_view = f"{subject} <{NAMESPACE}inView> {_TRUE} ."
    for frame in _changes(visible, first=True):
        if frame or visible[0]:
            yield frame, f"{'A' if visible[frame] else 'D'} {in_view}"
    for frame in _changes(moving, first=True):
        now, before = ("moving", "stationary") if moving[frame] else ("stationary", "moving")
        if frame:
            yield frame, f"D {subject} <{NAMESPACE}motion> <{NAMESPACE}{before}> ."
        yield frame, f"A {subject} <{NAMESPACE}motion> <{NAMESPACE}{now}> ."
    seen_moving = next(
        (frame for frame, both in enumerate(zip(visible, moving, strict=True)) if all(both)), None
    )
    if seen_moving is not None:
        yield seen_moving, f"A {subject} <{NAMESPACE}moved> {_TRUE} ."


def _changes(values: list[bool], *, first: bool = False) -> list[int]:
    """The indices where a value differs from the one before; with ``first``, index 0 too."""
    found = [0]
    with suppress(ValueError):
        while True:
            found.append(values.index(not values[found[-1]], found[-1]))
    return found if first else found[1:]


def pose_frames(frames: int, entries: Iterable[int], collisions: Iterable[int]) -> list[int]:
    """The frames of a video at which poses are recorded: those from which another course of events may
    branch, and the last.

    Everyone moves freely between two of them, so that the law of motion gives back what is left out.

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


def pose(frame: int, *numbers: float) -> str:
    """A pose as the lexical form of ``:Pose``: frame; x, y (units); yaw (radians); vx, vy (units/s); spin
    (radians/s).

    >>> pose(127, 0.5, -1.0, 0.0, 2.5, 0.0, 0.0)
    '127 0.5 -1.0 0.0 2.5 0.0 0.0'
    """
    return " ".join(map(repr, (frame, *numbers)))


def _poses(subject: str, track: Sequence[MotionState], frames: Iterable[int]) -> Iterator[Line]:
    """A pose is a single literal: as six triples of their own, poses would be most of the log."""
    for frame in frames:
        state = track[frame]
        if state.inside_camera_view:
            (x, y, _), (vx, vy, _) = state.location, state.velocity
            value = pose(frame, x, y, state.orientation[2], vx, vy, state.angular_velocity[2])
            yield frame, f'A {subject} <{NAMESPACE}pose> "{value}"^^<{NAMESPACE}Pose> .'


def _log(scene: str, frames: int, lines: list[Line], occurrences: Iterable[Occurrence]) -> EventLog:
    """All lines in tick order; events are numbered in time, the video's start first and its end last."""
    ordered = [
        (0, "Start", ()),
        *sorted(occurrences, key=lambda occurrence: occurrence[0]),
        (frames - 1, "End", ()),
    ]
    for serial, (frame, kind, participants) in enumerate(ordered):
        subject = f"A <{scene}:event:{serial}>"
        lines.append((frame, f"{subject} {_TYPE} <{NAMESPACE}{kind}> ."))
        lines.append((frame, f"{subject} <{NAMESPACE}frame> {_integer(frame)} ."))
        lines += (
            (frame, f"{subject} <{NAMESPACE}participant> <{scene}:object:{number}> .")
            for number in participants
        )
    log = EventLog()
    log.extend_lines(sorted(lines, key=lambda line: line[0]))
    return log


def _integer(value: int) -> str:
    return f'"{value}"^^<{_XSD}integer>'
