"""The interpreter's view of a scene: objects, events and motion, read in one pass from the log's lines.

:data:`QUERIES` defines each of them in SPARQL; explanations show these queries. Reading fills no store.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations, count, product
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

from substrate.base.errors import ProgramError
from substrate.base.vocabulary import RDF_TYPE
from substrate.cause.ancestry import VARIANTS, Ancestry
from substrate.cause.ancestry import Event as AncestryEvent
from substrate.domains.clevrer.deltas import NAMESPACE, SAMPLED_FRAMES
from substrate.log.event_log import EventLog

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
"""The reads behind every answer, in SPARQL; ``motion`` reads the question's frame, the others the last."""
Holding = Mapping[str, Mapping[str, int]]
"""A predicate's objects by subject, as in N-Triples, in the log's order; each with the position of the delta
that inserted it.
"""
_OBJECT = f"<{NAMESPACE}Object>"
_TRUE = '"true"^^<http://www.w3.org/2001/XMLSchema#boolean>'
_NONE: Mapping[str, int] = {}
_KEPT: dict[type, tuple[str, Any]] = {}
"""For each class: the last scene asked for, with its log's digest."""


class Thing(NamedTuple):
    """An object's attributes, and whether it was seen to move at any frame."""

    color: str
    material: str
    shape: str
    moved: bool


class SceneEvent(NamedTuple):
    """An event: its kind, its frame (``None`` for a merely possible event), its participants, its IRI."""

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


@dataclass
class Forks:
    """What :mod:`substrate.domains.clevrer.emitter` has simulated of a scene, kept as long as the scene."""

    draw: Draw | None = None
    """The poses, masses and law that the forks take; by default the recorded ones."""
    masses: Mapping[int, float] | None = None
    """The relative masses that the observed collisions show; ``None`` until they are asked for."""
    branches: dict[Hashable, Scene] = field(default_factory=dict)
    """The forks made so far, by what makes them differ from the scene."""
    draws: list[Scene] = field(default_factory=list)
    """The same scene under each draw of an ensemble; empty until they are asked for."""


class Scene:
    """A scene's log, opened for questions.

    Args:
        log: a log of :mod:`substrate.domains.clevrer.deltas`, or a function that makes it when first asked.
    """

    queries: ClassVar[Mapping[str, str]] = QUERIES

    def __init__(self, log: EventLog | Callable[[], EventLog]) -> None:
        self._given = log
        self._motion: dict[int, dict[int, bool]] = {}
        self._ancestry: dict[str, dict[str, Ancestry]] = {}
        self.forks = Forks()

    @classmethod
    def of(cls, log: EventLog) -> Self:
        """The scene of a log in its present state. The last scene is cached: successive questions about a
        scene share its reading and simulations.
        """
        digest = log.digest
        last = _KEPT.get(cls)
        if last is None or last[0] != digest or last[1].log.digest != digest:  # its log may have grown
            last = _KEPT[cls] = digest, cls(log)
        return last[1]

    @cached_property
    def log(self) -> EventLog:
        """The scene's log."""
        return self._given() if callable(self._given) else self._given

    @property
    def end(self) -> int:
        """The last frame of the video."""
        return self.log.last_tick

    @cached_property
    def _deltas(self) -> dict[str, list[tuple[int, int, str, str, int]]]:
        """The log by predicate: tick, 1 for an insertion, subject, object and position."""
        by_predicate = defaultdict[str, list[tuple[int, int, str, str, int]]](list)
        position = count()
        for columns, start, stop in self.log.segments(0, None):
            texts = self.log.triples.texts(columns.numbers[start:stop])
            terms = [text.split(" ", 2) for text in texts]
            rows = zip(columns.ticks[start:stop], columns.inserts[start:stop], terms, position, strict=False)
            for tick, insert, (subject, predicate, object_), place in rows:
                by_predicate[predicate].append((tick, insert, subject, object_, place))
        return by_predicate

    def holding(self, predicate: str, tick: int | None = None) -> Holding:
        """The triples of a predicate, by its IRI, after a tick; by default after the last tick."""
        by_subject: dict[str, dict[str, int]] = {}
        for when, inserted, subject, object_, place in self._deltas.get(f"<{predicate}>", ()):
            if tick is not None and when > tick:
                break
            if inserted:
                by_subject.setdefault(subject, {}).setdefault(object_, place)
            else:
                by_subject.get(subject, {}).pop(object_, None)
        return by_subject

    def numbered(self, *predicates: str, tick: int | None = None) -> Iterator[tuple[int, tuple[str, ...]]]:
        """The number of each object that has all of some predicates, with every combination of values."""
        values = [self.holding(predicate, tick) for predicate in predicates]
        for subject, numbers in self._numbers.items():
            columns = [held.get(subject, _NONE) for held in values]
            if all(columns):
                for number in numbers:
                    for row in product(*columns):
                        yield number, row

    @cached_property
    def _numbers(self) -> dict[str, list[int]]:
        numbers = self.holding(f"{NAMESPACE}number")
        return {subject: [int(lexical(value)) for value in values] for subject, values in numbers.items()}

    @cached_property
    def objects(self) -> dict[int, Thing]:
        """The objects by number, ascending."""
        moved = {number for number, _ in self.numbered(f"{NAMESPACE}moved")}
        names = (f"{NAMESPACE}{name}" for name in ("color", "material", "shape"))
        return dict(
            sorted(
                (number, Thing(local(color), local(material), local(shape), number in moved))
                for number, (kind, color, material, shape) in self.numbered(RDF_TYPE.value, *names)
                if kind == _OBJECT
            )
        )

    @cached_property
    def numbers(self) -> tuple[int, ...]:
        """The objects' numbers, ascending."""
        return tuple(self.objects)

    @cached_property
    def events(self) -> tuple[SceneEvent, ...]:
        """The observed events in time order, the video's start and end among them."""
        kinds, takes_part = self.holding(RDF_TYPE.value), self.holding(f"{NAMESPACE}participant")
        events = [
            SceneEvent(
                local(next(iter(kinds[subject]))),
                int(lexical(next(iter(frames)))),
                frozenset(n for thing in takes_part.get(subject, ()) for n in self._numbers.get(thing, ())),
                subject[1:-1],
            )
            for subject, frames in self.holding(f"{NAMESPACE}frame").items()
            if frames and kinds.get(subject)
        ]
        return tuple(sorted(events, key=lambda e: (e.frame, int(e.iri.rpartition(":")[2]))))

    @cached_property
    def alike(self) -> dict[tuple[str, frozenset[int]], list[SceneEvent]]:
        """The observed events by kind and objects, in time order."""
        alike: dict[tuple[str, frozenset[int]], list[SceneEvent]] = {}
        for event in self.events:
            alike.setdefault((event.kind, event.objects), []).append(event)
        return alike

    @cached_property
    def partners(self) -> dict[int, set[int]]:
        """For each object that was observed to collide: its partners, and the object itself."""
        partners: dict[int, set[int]] = {}
        for event in self.events:
            if event.kind == "Collision":
                for number in event.objects:
                    partners.setdefault(number, set()).update(event.objects)
        return partners

    @cached_property
    def pairs(self) -> tuple[SceneEvent, ...]:
        """Every pair of objects, as a collision without a frame."""
        return tuple(SceneEvent("Collision", None, frozenset(pair)) for pair in combinations(self.objects, 2))

    def motion(self, frame: int) -> dict[int, bool]:
        """Map each object in view at a frame to True if it moves.

        Raises:
            ProgramError: the log was made from events alone and has no motion.
        """
        if frame not in self._motion:
            predicates = (f"{NAMESPACE}inView", f"{NAMESPACE}motion")
            self._motion[frame] = {
                number: moves == f"<{NAMESPACE}moving>"
                for number, (seen, moves) in self.numbered(*predicates, tick=frame)
                if seen == _TRUE
            }
        if not self._motion[frame] and not self.has_motion:
            raise lacking("asks for motion, which a compact event file does not have")
        return self._motion[frame]

    @cached_property
    def has_motion(self) -> bool:
        """Tell whether the log records motion at all."""
        return f"<{NAMESPACE}motion>" in self._deltas

    @cached_property
    def tracked(self) -> bool:
        """Tell whether the motion comes from positions that a tracker gave, and not from an annotation."""
        return any(self.holding(f"{NAMESPACE}tracked").values())

    @cached_property
    def iri(self) -> str:
        """The scene's IRI, the prefix of its objects' and events' IRIs."""
        return self.events[0].iri.rpartition(":event:")[0]

    @cached_property
    def simulated(self) -> frozenset[int]:
        """A fork's objects that do not move as observed to its end."""
        truths = self.numbered(f"{NAMESPACE}simulated")
        return frozenset(number for number, (truth,) in truths if truth == _TRUE)

    @cached_property
    def poses(self) -> dict[int, dict[int, Pose]]:
        """The recorded poses by frame and object, both ascending;
        :func:`substrate.domains.clevrer.deltas.pose_frames` lists the frames.
        """
        return self._poses_from(0)

    @cached_property
    def posed(self) -> frozenset[int]:
        """The objects with a pose: only these can be simulated."""
        return frozenset(number for poses in self.poses.values() for number in poses)

    def _poses_from(self, first: int) -> dict[int, dict[int, Pose]]:
        by_frame: dict[int, dict[int, Pose]] = {}
        for subject, poses in self.holding(f"{NAMESPACE}pose").items():
            numbers = self._numbers.get(subject, ())
            for pose in poses:
                # A pose is a literal of numbers, and the first is its frame
                if (frame := int(pose[1 : pose.index(" ")])) >= first:
                    posed = Pose._make(map(float, lexical(pose).split(" ")[1:]))
                    by_frame.setdefault(frame, {}).update(dict.fromkeys(numbers, posed))
        return {frame: dict(sorted(by_frame[frame].items())) for frame in sorted(by_frame)}

    @cached_property
    def samples(self) -> dict[int, list[tuple[int, Pose]]]:
        """The last frames and poses of each object that was in view then, by number, in time order."""
        by_number: dict[int, list[tuple[int, Pose]]] = {}
        for frame, poses in self._poses_from(self.end - SAMPLED_FRAMES + 1).items():
            for number, pose in poses.items():
                by_number.setdefault(number, []).append((frame, pose))
        return dict(sorted(by_number.items()))

    def ancestry(self, variant: str) -> dict[str, Ancestry]:
        """Ancestry of every observed event by IRI; ``variant`` names the reference frame."""
        if variant not in self._ancestry:
            events = [AncestryEvent(e.iri, e.frame or 0, e.objects) for e in self.events if e.objects]
            # Ids are IRIs here
            self._ancestry[variant] = VARIANTS[variant](events)  # pyright: ignore[reportArgumentType]
        return self._ancestry[variant]


def lacking(what: str) -> ProgramError:
    """The error of a question that a log of events alone cannot answer."""
    return ProgramError(what, hint="Answer it from the official annotation")


def lexical(literal: str) -> str:
    """The text of a literal that has no escapes, from its spelling in N-Triples.

    >>> lexical('"7"^^<http://www.w3.org/2001/XMLSchema#integer>')
    '7'
    """
    return literal[1 : literal.rindex('"')]


def local(iri: str) -> str:
    """The name of a class, predicate or individual of the TBox, from its IRI in N-Triples.

    >>> local("<urn:substrate:clevrer:red>")
    'red'
    """
    return iri[len(NAMESPACE) + 1 : -1]
