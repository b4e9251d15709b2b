"""The interpreter's view of a scene: objects, events and motion, read from the state with SPARQL."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple, cast

import pyoxigraph as ox

from substrate.base.errors import ProgramError
from substrate.cause.ancestry import VARIANTS, Ancestry
from substrate.cause.ancestry import Event as AncestryEvent
from substrate.domains.clevrer.deltas import NAMESPACE, SAMPLED_FRAMES
from substrate.log.event_log import EventLog
from substrate.log.replay import Replay

if TYPE_CHECKING:
    from substrate.domains.clevrer.motion.draws import Draw

_PREFIX = f"PREFIX : <{NAMESPACE}>\n"
QUERIES = {
    "objects": _PREFIX
    + """SELECT ?number ?color ?material ?shape ?moved WHERE {
  ?object a :Object ; :number ?number ; :color ?color ; :material ?material ; :shape ?shape .
  OPTIONAL { ?object :moved ?moved }
}""",
    "events": _PREFIX
    + """SELECT ?event ?type ?frame ?number WHERE {
  ?event a ?type ; :frame ?frame .
  OPTIONAL { ?event :participant ?object . ?object :number ?number }
}""",
    "motion": _PREFIX
    + """SELECT ?number ?motion WHERE {
  ?object :inView true ; :motion ?motion ; :number ?number .
}""",
    "simulated": _PREFIX + "SELECT ?number WHERE { ?object :number ?number ; :simulated true }",
    "poses": _PREFIX + "SELECT ?number ?pose WHERE { ?object :number ?number ; :pose ?pose }",
}
"""The SPARQL behind every answer; ``motion`` runs on the state of the frame asked for, the others on the
last.
"""


class Thing(NamedTuple):
    """An object's attributes, and whether it was seen to move at any frame."""

    color: str
    material: str
    shape: str
    moved: bool


class Event(NamedTuple):
    """An event: its kind, its frame (``None`` for one that is only possible), who takes part, its IRI."""

    kind: str
    frame: int | None
    objects: frozenset[int]
    iri: str = ""


class Pose(NamedTuple):
    """The place and motion of an object on the ground at a frame: units, radians, units/s, radians/s."""

    x: float
    y: float
    yaw: float
    vx: float
    vy: float
    spin: float


class Sample(NamedTuple):
    """An object's velocity (units/s) and position (units) at a frame."""

    frame: int
    vx: float
    vy: float
    x: float
    y: float


class Scene:
    """A scene's log, opened for questions.

    Args:
        log: a log of :mod:`substrate.domains.clevrer.deltas`.
    """

    def __init__(self, log: EventLog) -> None:
        self.log = log
        self._replay = Replay(log)
        self._motion: dict[int, dict[int, bool]] = {}
        self._ancestry: dict[str, dict[str, Ancestry]] = {}
        self.shown_masses: Mapping[int, float] | None = None
        """The relative masses that the observed collisions show, once they were asked for."""
        self.branches: dict[tuple[str, int, int, str], Scene] = {}
        """Simulated forks that were made, by what they imagine: ``"without"`` and an object, or ``"future"``
        and 0; how many frames after the video; and the engine.
        """
        self.draw: Draw | None = None
        """The poses, masses and law that simulated forks take; as they were recorded unless given."""

    @property
    def end(self) -> int:
        """The last frame of the video."""
        return self.log.last_tick

    def _rows(self, query: str, frame: int) -> ox.QuerySolutions:
        return cast("ox.QuerySolutions", self._replay.seek(frame).query(QUERIES[query]))

    @cached_property
    def objects(self) -> dict[int, Thing]:
        """The objects by number, ascending."""
        rows = self._rows("objects", self.end)
        cut = len(NAMESPACE)
        return dict(
            sorted(
                (int(n.value), Thing(c.value[cut:], m.value[cut:], s.value[cut:], moved is not None))
                for n, c, m, s, moved in rows
            )
        )

    @cached_property
    def events(self) -> tuple[Event, ...]:
        """The observed events in time order, the video's start and end among them."""
        found: dict[str, tuple[str, int, list[int]]] = {}
        cut = len(NAMESPACE)
        for event, kind, frame, number in self._rows("events", self.end):
            record = found.setdefault(event.value, (kind.value[cut:], int(frame.value), []))
            if number is not None:
                record[2].append(int(number.value))
        events = [
            Event(kind, frame, frozenset(numbers), iri) for iri, (kind, frame, numbers) in found.items()
        ]
        return tuple(sorted(events, key=lambda e: (e.frame, int(e.iri.rpartition(":")[2]))))

    @cached_property
    def alike(self) -> dict[tuple[str, frozenset[int]], list[Event]]:
        """The observed events by kind and objects, in time order."""
        found: dict[tuple[str, frozenset[int]], list[Event]] = {}
        for event in self.events:
            found.setdefault((event.kind, event.objects), []).append(event)
        return found

    @cached_property
    def pairs(self) -> tuple[Event, ...]:
        """Every pair of objects, as a collision without a frame."""
        return tuple(Event("Collision", None, frozenset(pair)) for pair in combinations(self.objects, 2))

    def motion(self, frame: int) -> dict[int, bool]:
        """The state of motion of each object that is in view at a frame: True if it moves.

        Raises:
            ProgramError: the log was made from events alone and has no motion.
        """
        if frame not in self._motion:
            rows = self._rows("motion", frame)
            self._motion[frame] = {int(n.value): motion.value == f"{NAMESPACE}moving" for n, motion in rows}
        if not self._motion[frame] and not self.has_motion:
            raise ProgramError(
                "asks for motion, which a compact event file does not have",
                hint="Answer it from the official annotation",
            )
        return self._motion[frame]

    @cached_property
    def has_motion(self) -> bool:
        """Tell whether the log records motion at all."""
        return any(delta.triple[1].value == f"{NAMESPACE}motion" for delta in self.log)

    @property
    def iri(self) -> str:
        """The scene's IRI; those of its objects and events lie under it."""
        return self.events[0].iri.rpartition(":event:")[0]

    @cached_property
    def simulated(self) -> frozenset[int]:
        """Of a fork: the objects that do not move as observed to its end."""
        return frozenset(int(number.value) for (number,) in self._rows("simulated", self.end))

    @cached_property
    def poses(self) -> dict[int, dict[int, Pose]]:
        """The recorded poses by frame and object, both ascending;
        :func:`substrate.domains.clevrer.deltas.pose_frames` says of which frames.
        """
        found: dict[int, dict[int, Pose]] = {}
        for number, pose in self._rows("poses", self.end):
            frame, *numbers = pose.value.split()
            found.setdefault(int(frame), {})[int(number.value)] = Pose(*map(float, numbers))
        return {frame: dict(sorted(found[frame].items())) for frame in sorted(found)}

    @cached_property
    def camera(self) -> dict[str, list[tuple[int, str, str]]]:
        """What is said of each object's being in view and moving: tick, ``A`` or ``D``, and the triple as
        spelled in N-Triples, in the log's order.
        """
        words = (f"<{NAMESPACE}inView> ", f"<{NAMESPACE}motion> ")
        found: dict[str, list[tuple[int, str, str]]] = {}
        for tick, lines in self.log.lines():
            for line in lines:
                start = line.index(" ", 2) + 1
                if line.startswith(words, start):
                    found.setdefault(line[2 : start - 1], []).append((tick, line[0], line[2:-2]))
        return found

    @cached_property
    def samples(self) -> dict[int, list[Sample]]:
        """The recorded last frames of each object that was in view then, by number, in time order."""
        found: dict[int, list[Sample]] = {}
        for frame, poses in self.poses.items():
            if frame > self.end - SAMPLED_FRAMES:
                for number, pose in poses.items():
                    found.setdefault(number, []).append(Sample(frame, pose.vx, pose.vy, pose.x, pose.y))
        return dict(sorted(found.items()))

    def ancestry(self, variant: str) -> dict[str, Ancestry]:
        """Ancestry of every observed event by IRI; ``variant`` names the reference frame."""
        if variant not in self._ancestry:
            events = [AncestryEvent(e.iri, e.frame or 0, e.objects) for e in self.events if e.objects]
            # Ids are IRIs here
            self._ancestry[variant] = VARIANTS[variant](events)  # pyright: ignore[reportArgumentType]
        return self._ancestry[variant]
