"""Simulated forks of a scene's log: the future after the video, and the video without one of its objects.

A branch is an event log like any other. Observations that still hold are taken over; the calibrated law of
motion (:mod:`substrate.domains.clevrer.motion`) simulates the rest from the log's poses. A question about
events reads them off the simulated course of the bodies; a fork's log is made only when it is read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from copy import copy
from dataclasses import dataclass
from functools import partial
from operator import itemgetter
from typing import Literal, NamedTuple, cast

import pyoxigraph as ox

from substrate.base.delta import Spelled
from substrate.base.errors import LogError
from substrate.base.ntriples import integer
from substrate.base.vocabulary import RDF_TYPE
from substrate.branch.fork import fork
from substrate.branch.interventions import Retract
from substrate.domains.clevrer.deltas import NAMESPACE, spelled_poses
from substrate.domains.clevrer.format import Shape
from substrate.domains.clevrer.motion.course import Course, course
from substrate.domains.clevrer.motion.draws import DRAWS, VOTERS, Draw
from substrate.domains.clevrer.motion.engine import Body, Contact, Motion, simulate
from substrate.domains.clevrer.motion.observe import relative_masses
from substrate.domains.clevrer.scene import Forks, Scene, SceneEvent, lacking
from substrate.log.event_log import EventLog, Op

Engine = Literal["calibrated", "bullet"]
"""The simulator of a fork: the calibrated law of motion, or Bullet with its default constants."""
_TYPE, _TRUE = str(RDF_TYPE), str(ox.Literal(True))
_OBJECT, _COLLISION, _FRAME, _PARTICIPANT, _SIMULATED, _POSE = (
    f"<{NAMESPACE}{name}>" for name in ("Object", "Collision", "frame", "participant", "simulated", "pose")
)
_OPS = {op.value: op for op in Op}
_DIGITS = 4  # of a simulated pose, as in annotations


@dataclass(frozen=True)
class MotionEmitter:
    """The emitter of a scene's motion, for a fork that removes objects or continues after the video.

    An object that the intervention retracts as ``:Object`` is removed with all statements about it. Its
    absence affects other objects through missing contacts and new contacts. From then on the emitter
    simulates these objects, and marks them and their collisions ``:simulated``. All others move and collide
    as observed to the video's end; after it the emitter simulates every object. It models no camera: it does
    not say whether a simulated object is in view, and such an object neither enters nor exits.

    Args:
        until: last tick; by default the parent's last tick.
        engine: moves the bodies.
        scene: the parent, if already read, to save reading it again.
        by_ancestry: whether to accept a log without poses. In such a log an observed event from the branch
            tick on happens unless it depends on a removed object (paper, Proposition 1): unless the object
            takes part in the event, or in an ancestor of it from that tick on. No event is new.
    """

    until: int | None = None
    engine: Engine = "calibrated"
    scene: Scene | None = None
    by_ancestry: bool = False

    def emit(self, branch: EventLog, parent: EventLog, at: int) -> Iterator[Spelled]:
        """The deltas from tick ``at`` on, by their spellings; the parent is a scene's log with motion."""
        scene = self.scene
        if scene is None or scene.log is not parent:
            scene = Scene(parent)
        state = branch.state(at)
        if not scene.poses and not self.by_ancestry:
            raise LogError("the log records no pose to simulate from", hint="Fork the log of an annotation")
        end = parent.last_tick if self.until is None else self.until
        # 1. The removed objects leave, with all statements about them and about their events
        names, standing = _names(scene), state.texts()
        gone = {number for number, name in names.items() if f"{name} {_TYPE} {_OBJECT}" not in standing}
        leaving = {names[n] for n in gone} | {f"<{e.iri}>" for e in scene.events if e.objects & gone}
        orphans = sorted(text for text in standing if text.partition(" ")[0] in leaving)
        deltas = [Spelled(at, Op.RETRACT, text) for text in orphans]
        # 2. Without poses nothing is simulated: the events that depend on a removed object do not happen
        if not scene.poses:
            ends = dict.fromkeys([*leaving, *(f"<{iri}>" for iri in _prevented(scene, at, gone))], at)
            return iter([*deltas, *_until(parent, at, ends)])
        # 3. What the removal does not reach stays as observed, until an object departs from what was observed
        course = _course(scene, at, end, gone, self.engine)
        deltas += _as_observed(scene, parent, at, gone, course)
        for number, tick in _departures(at, gone, course).items():
            thing = names[number]
            deltas += (Spelled(tick, Op.RETRACT, text) for text in _camera(scene, thing, tick))
            deltas.append(Spelled(tick, Op.INSERT, f"{thing} {_SIMULATED} {_TRUE}"))
        # 4. The simulated collisions, and the poses of the simulated objects
        for event in _contacts(scene, at, course):
            tick = event.frame or 0
            facts = [
                (_TYPE, _COLLISION),
                (_FRAME, integer(tick)),
                (_SIMULATED, _TRUE),
                *((_PARTICIPANT, names[number]) for number in sorted(event.objects)),
            ]
            deltas += (Spelled(tick, Op.INSERT, f"<{event.iri}> {name} {value}") for name, value in facts)
        for frame, bodies in course.states.items():
            deltas += (
                Spelled(frame, Op.INSERT, f"{names[body.id]} {_POSE} {_pose(frame, body)}")
                for body in bodies
                if course.departed[body.id] <= frame
            )
        return (delta for delta in sorted(deltas, key=itemgetter(0)) if delta[0] <= end)


class _Change(NamedTuple):
    """The difference between a fork and its scene: an object less, or else only frames after the video."""

    removed: int | None
    horizon: int
    engine: Engine


class _Branch(Scene):
    """A fork whose events and simulated objects are known from its course, before its log is made."""

    def __init__(
        self, make: Callable[[], EventLog], events: tuple[SceneEvent, ...], simulated: frozenset[int]
    ) -> None:
        super().__init__(make)
        self.events, self.simulated = events, simulated


def future(scene: Scene, horizon: int, engine: Engine = "calibrated") -> Scene:
    """The fork that continues for ``horizon`` frames after the video."""
    return _branch(scene, _Change(None, horizon, engine))


def without(scene: Scene, removed: int, engine: Engine = "calibrated", horizon: int = 0) -> Scene:
    """The fork without an object, which is removed at tick 1: tick 0 declares it.

    Args:
        horizon: frames by which the fork continues after the video, with every object simulated.
    """
    return _branch(scene, _Change(removed, horizon, engine))


def ensemble(scene: Scene) -> list[Scene]:
    """The same scene under each draw of poses, masses and law, each with its own forks; made once."""
    if not scene.forks.draws:
        scene.forks.draws = [_drawn(scene, number) for number in range(DRAWS)]
    return scene.forks.draws


def voters(scene: Scene, engine: Engine) -> list[Scene]:
    """The scenes whose forks vote on an event: draws of the position errors if a tracker gave the positions,
    else the scene alone.
    """
    drawn = scene.tracked and scene.forks.draw is None and engine == "calibrated"
    return ensemble(scene)[:VOTERS] if drawn else [scene]


def _drawn(scene: Scene, number: int) -> Scene:
    drawn = copy(scene)
    drawn.forks = Forks(Draw(number, scene.tracked), observed_masses(scene))
    return drawn


def _branch(scene: Scene, change: _Change) -> Scene:
    """A scene's fork, made once.

    Its events come from its course. Its log is a fork of the scene's log with the same course, made when
    read.
    """
    if change in scene.forks.branches:
        return scene.forks.branches[change]
    if not scene.poses:
        raise lacking("asks for a simulation, which a compact event file has no motion for")
    removed, horizon, engine = change
    at, gone = (scene.end + 1, set[int]()) if removed is None else (1, {removed})
    end = scene.end + horizon

    def make() -> EventLog:
        retraction = None
        if removed is not None:
            thing = ox.NamedNode(_names(scene)[removed][1:-1])
            retraction = Retract((thing, RDF_TYPE, ox.NamedNode(_OBJECT[1:-1])))
        return fork(scene.log, at, retraction, MotionEmitter(end, engine, scene))

    if scene.simulated:  # in a fork of a fork, earlier courses also simulate objects
        branch = Scene(make)
    else:
        course = _course(scene, at, end, gone, engine)
        contacts = [event for event in _contacts(scene, at, course) if (event.frame or 0) <= end]
        start = _start(scene, at, gone)
        standing = [event for event in scene.events if _still_happens(event, start, gone, course)]
        events = sorted((*standing, *contacts), key=lambda event: event.frame or 0)
        departures = _departures(at, gone, course).items()
        branch = _Branch(make, tuple(events), frozenset(n for n, tick in departures if tick <= end))
    scene.forks.branches[change] = branch  # only when complete: another thread may look it up
    return branch


def _start(scene: Scene, at: int, gone: Set[int]) -> int:
    """The frame from which a branch is simulated: if an object is removed, the one before its first collision
    from ``at`` on, since until then nothing else changes; else the one before ``at``.
    """
    if not gone:
        return max(0, at - 1)
    hits = (frame for frame, *pair in observed_collisions(scene) if frame >= at and not gone.isdisjoint(pair))
    return max(0, min(hits, default=max(at, scene.end)) - 1)


def _still_happens(event: SceneEvent, start: int, gone: Set[int], course: Course) -> bool:
    """Tell whether an observed event happens in a branch that is simulated from frame ``start`` on."""
    frame = event.frame or 0
    if frame <= start:
        return event.objects.isdisjoint(gone)
    if event.kind == "Collision":
        return (frame, *sorted(event.objects)) in course.standing
    return all(frame < course.departed.get(number, frame + 1) for number in event.objects)


def _prevented(scene: Scene, at: int, gone: Set[int]) -> Iterator[str]:
    """The events from a tick on that have an ancestor, from the tick on, with a removed object."""
    ancestry = scene.ancestry("event")
    after = [event for event in scene.events if event.objects and (event.frame or 0) >= at]
    missing = {event.iri for event in after if event.objects & gone}
    return (event.iri for event in after if ancestry[event.iri].events & missing)


def _contacts(scene: Scene, at: int, course: Course) -> Iterator[SceneEvent]:
    """The collisions of a simulated course."""
    for serial, (frame, *pair) in enumerate(course.contacts, start=len(scene.events)):
        yield SceneEvent("Collision", max(at, frame), frozenset(pair), f"{scene.iri}:event:{serial}")


def _departures(at: int, gone: Set[int], course: Course) -> dict[int, int]:
    """The ticks from which the remaining objects no longer move as observed."""
    return {number: max(at, frame) for number, frame in sorted(course.departed.items()) if number not in gone}


def recorded_bodies(scene: Scene, masses: Mapping[int, float]) -> dict[int, dict[int, Body]]:
    """The recorded poses as bodies, by frame and object.

    Yaw and spin are kept for cubes only; a mass that is not given is 1.
    """
    shapes = cast(dict[int, Shape], {number: thing.shape for number, thing in scene.objects.items()})
    by_frame: dict[int, dict[int, Body]] = {}
    for frame, poses in scene.poses.items():
        at_frame = by_frame[frame] = {}
        for number, (x, y, yaw, vx, vy, spin) in poses.items():
            yaw, spin = (yaw, spin) if shapes[number] == "cube" else (0.0, 0.0)
            mass = masses.get(number, 1.0)
            at_frame[number] = Body(number, shapes[number], x, y, vx, vy, yaw, spin, mass)
    return by_frame


def observed_collisions(scene: Scene) -> list[Contact]:
    """The observed collisions, in time order."""
    collisions: list[Contact] = []
    for event in scene.events:
        if event.kind == "Collision":
            a, b = sorted(event.objects)
            collisions.append((event.frame or 0, a, b))
    return sorted(collisions)


def observed_masses(scene: Scene) -> Mapping[int, float]:
    """The masses from the observed collisions with both bodies in view."""
    if scene.forks.masses is None:
        bodies = recorded_bodies(scene, {})
        scene.forks.masses = relative_masses(
            scene.objects,
            observed_collisions(scene),
            lambda number, frame: bodies.get(frame, {}).get(number),
            scene.end,
        )
    return scene.forks.masses


def _course(scene: Scene, at: int, end: int, gone: Set[int], engine: Engine) -> Course:
    """The course of a branch at ``at`` to ``end``; after the video every recorded body departs."""
    bodies = recorded_bodies(scene, observed_masses(scene))
    collisions = observed_collisions(scene)
    if scene.forks.draw:
        bodies = scene.forks.draw.bodies(bodies, {name for _, *pair in collisions for name in pair})
    departing = {number for poses in bodies.values() for number in poses} if at > scene.end else ()
    return course(
        bodies,
        collisions,
        _start(scene, at, gone),
        end,
        departing,
        last=scene.end,
        without=gone,
        advance=_advance(engine, scene.forks.draw),
    )


def _advance(engine: Engine, draw: Draw | None) -> Callable[[Sequence[Body], int], Motion]:
    if engine == "calibrated":
        return partial(simulate, law=draw.law()) if draw else simulate
    from substrate.domains.clevrer.motion import bullet  # loads a physics engine that nothing else here needs

    return bullet.simulate


def _names(scene: Scene) -> dict[int, str]:
    """The IRIs of the objects, as in N-Triples."""
    start = f"<{scene.iri}:object:"
    return {number: f"{start}{number}>" for number in scene.objects}


def _as_observed(
    scene: Scene, parent: EventLog, at: int, gone: Set[int], course: Course
) -> Iterator[Spelled]:
    """The parent's deltas from ``at`` on that hold in the branch."""
    names = _names(scene)
    start = _start(scene, at, gone)
    ends = {names[number]: at if number in gone else frame for number, frame in course.departed.items()}
    ends |= {f"<{event.iri}>": at for event in scene.events if not _still_happens(event, start, gone, course)}
    return _until(parent, at, ends)


def _until(parent: EventLog, at: int, ends: Mapping[str, int]) -> Iterator[Spelled]:
    """The parent's deltas from ``at`` on; a subject's deltas stop before its tick in ``ends``, if any."""
    for tick, lines in parent.lines(parent.position(at - 1)):
        for line in lines:
            text = line[2:-2]
            # Subjects that are no object or event, such as blank nodes, are not in ``ends``.
            if tick < ends.get(text[: text.index(" ")], tick + 1):
                yield Spelled(tick, _OPS[line[0]], text)


def _camera(scene: Scene, thing: str, tick: int) -> list[str]:
    """The last statements before a tick about an object's visibility and motion, in the log's order."""
    standing = {
        position: f"{thing} <{predicate}> {value}"
        for predicate in (f"{NAMESPACE}inView", f"{NAMESPACE}motion")
        for value, position in scene.holding(predicate, tick - 1).get(thing, {}).items()
    }
    return [text for _, text in sorted(standing.items())]


def _pose(frame: int, body: Body) -> str:
    x, y, yaw, vx, vy, spin = (
        round(number, _DIGITS) + 0.0 for number in (body.x, body.y, body.yaw, body.vx, body.vy, body.spin)
    )
    (spelled,) = spelled_poses([(frame, x, y, yaw, vx, vy, spin)])
    return f'"{spelled}"^^<{NAMESPACE}Pose>'
