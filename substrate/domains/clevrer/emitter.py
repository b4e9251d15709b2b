"""Simulated forks of a scene's log: the future that was not filmed, and the video without one of its objects.

A branch is an event log like any other: what holds as observed is taken over, the rest is simulated by the
calibrated law of motion (:mod:`substrate.domains.clevrer.motion`) from the poses that the log records.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import cast

import pyoxigraph as ox

from substrate.base.delta import Spelled, quads_of, text_of
from substrate.base.errors import LogError, ProgramError
from substrate.base.vocabulary import RDF_TYPE
from substrate.branch.fork import fork
from substrate.branch.interventions import Retract
from substrate.domains.clevrer.deltas import NAMESPACE, pose
from substrate.domains.clevrer.format import Shape
from substrate.domains.clevrer.motion.course import Course, course
from substrate.domains.clevrer.motion.draws import Draw
from substrate.domains.clevrer.motion.engine import Body, Contact, Motion, simulate
from substrate.domains.clevrer.motion.observe import relative_masses
from substrate.domains.clevrer.parameters import Engine
from substrate.domains.clevrer.scene import Scene
from substrate.log.event_log import Delta, EventLog, Op, triple_of

_OBJECT, _COLLISION, _FRAME, _PARTICIPANT, _SIMULATED, _POSE, _POSE_TYPE = (
    ox.NamedNode(NAMESPACE + name)
    for name in (
        "Object",
        "Collision",
        "frame",
        "participant",
        "simulated",
        "pose",
        "Pose",
    )
)
_TRUE = ox.Literal(True)
_OPS = {op.value: op for op in Op}
_DIGITS = 4  # of a simulated pose, as many as annotations have


@dataclass(frozen=True)
class MotionEmitter:
    """The emitter of a scene's motion, for a fork that takes objects away, or that goes on after the video.

    An object that the intervention retracts as ``:Object`` leaves with all that was said of it. Who is
    reached by its absence, through contacts that are missing and contacts that are new, is simulated from
    then on, and marked ``:simulated``, as are the collisions that come of it; everyone else moves, and
    collides, as observed to the video's end. After it all are simulated. No camera is modelled: of a
    simulated object it is not said whether it is in view, nor do entries and exits of it occur.

    Args:
        until: last tick; the parent's last one unless given.
        engine: what moves the bodies.
        scene: the parent as it was read already, which saves reading it again.
    """

    until: int | None = None
    engine: Engine = "calibrated"
    scene: Scene | None = None

    def emit(self, branch: EventLog, parent: EventLog, at: int) -> Iterator[Delta]:
        """The deltas from tick ``at`` on; the parent is a scene's log with motion."""
        made = list(self.spell(branch, parent, at))
        for (tick, op, _), quad in zip(made, quads_of([text for _, _, text in made]), strict=True):
            yield Delta(tick, op, triple_of(quad))

    def spell(self, branch: EventLog, parent: EventLog, at: int) -> Iterator[Spelled]:
        """The same as :meth:`emit`, each triple by its spelling."""
        scene = self.scene
        if scene is None or scene.log is not parent:
            scene = Scene(parent)
        state = branch.state(at)
        if not scene.poses:
            raise LogError("the log records no pose to simulate from", hint="Fork the log of an annotation")
        end = parent.last_tick if self.until is None else self.until
        gone = {
            number for number in scene.objects if (_object(scene, number), RDF_TYPE, _OBJECT) not in state
        }
        found = _course(scene, at, end, gone, self.engine)
        leaving = {str(_object(scene, n)) for n in gone} | {
            f"<{e.iri}>" for e in scene.events if e.objects & gone
        }
        left = map(triple_of, quads_of(t for t in state.texts() if t.partition(" ")[0] in leaving))
        deltas = [Spelled(at, Op.RETRACT, text_of(triple)) for triple in sorted(left, key=str)]
        deltas += _as_observed(scene, parent, at, found)
        for number, frame in sorted(found.departed.items()):
            if number not in gone:
                tick, thing = max(at, frame), _object(scene, number)
                deltas += (Spelled(tick, Op.RETRACT, text) for text in _camera(scene, thing, tick))
                deltas.append(Spelled(tick, Op.INSERT, f"{thing} {_SIMULATED} {_TRUE}"))
        for serial, (frame, *pair) in enumerate(found.contacts, start=len(scene.events)):
            event, tick = ox.NamedNode(f"{scene.iri}:event:{serial}"), max(at, frame)
            facts = [
                (RDF_TYPE, _COLLISION),
                (_FRAME, ox.Literal(tick)),
                (_SIMULATED, _TRUE),
                *((_PARTICIPANT, _object(scene, number)) for number in pair),
            ]
            deltas += (Spelled(tick, Op.INSERT, f"{event} {word} {what}") for word, what in facts)
        names = {number: str(_object(scene, number)) for number in scene.objects}
        for frame, bodies in found.states.items():
            deltas += (
                Spelled(frame, Op.INSERT, f"{names[body.id]} {_POSE} {_pose(frame, body)}")
                for body in bodies
                if found.departed[body.id] <= frame
            )
        return (delta for delta in sorted(deltas, key=lambda delta: delta[0]) if delta[0] <= end)


def future(scene: Scene, horizon: int, engine: Engine = "calibrated") -> Scene:
    """The fork that goes on for ``horizon`` frames after the video."""
    return _branch(
        scene,
        ("future", 0, horizon, engine),
        lambda: fork(scene.log, scene.end + 1, emitter=MotionEmitter(scene.end + horizon, engine, scene)),
    )


def without(scene: Scene, removed: int, engine: Engine = "calibrated", horizon: int = 0) -> Scene:
    """The fork without an object, from its first collision on: before that, its absence changes nothing but
    itself.

    Args:
        horizon: frames by which it goes on after the video, everyone simulated.
    """
    first = min(
        (e.frame or 0 for e in scene.events if e.kind == "Collision" and removed in e.objects),
        default=scene.end,
    )
    retracted = Retract((_object(scene, removed), RDF_TYPE, _OBJECT))
    return _branch(
        scene,
        ("without", removed, horizon, engine),
        lambda: fork(scene.log, max(1, first), retracted, MotionEmitter(scene.end + horizon, engine, scene)),
    )


def _branch(scene: Scene, name: tuple[str, int, int, Engine], make: Callable[[], EventLog]) -> Scene:
    """A scene's branch, made once."""
    if name not in scene.branches:
        if not scene.poses:
            raise ProgramError(
                "asks for a simulation, which a compact event file has no motion for",
                hint="Answer it from the official annotation",
            )
        scene.branches[name] = Scene(make())
    return scene.branches[name]


def recorded_bodies(scene: Scene, masses: Mapping[int, float]) -> dict[int, dict[int, Body]]:
    """The recorded poses as bodies, by frame and object; yaw and spin count for cubes only, and who has no
    mass has 1.
    """
    shapes = cast(dict[int, Shape], {number: thing.shape for number, thing in scene.objects.items()})
    found: dict[int, dict[int, Body]] = {}
    for frame, poses in scene.poses.items():
        here = found[frame] = {}
        for number, (x, y, yaw, vx, vy, spin) in poses.items():
            yaw, spin = (yaw, spin) if shapes[number] == "cube" else (0.0, 0.0)
            here[number] = Body(number, shapes[number], x, y, vx, vy, yaw, spin, masses.get(number, 1.0))
    return found


def observed_collisions(scene: Scene) -> list[Contact]:
    """The observed collisions, in time order."""
    found: list[Contact] = []
    for event in scene.events:
        if event.kind == "Collision":
            a, b = sorted(event.objects)
            found.append((event.frame or 0, a, b))
    return sorted(found)


def observed_masses(scene: Scene) -> Mapping[int, float]:
    """The masses that the observed collisions show, as far as both bodies were in view."""
    if scene.shown_masses is None:
        bodies = recorded_bodies(scene, {})
        scene.shown_masses = relative_masses(
            scene.objects,
            observed_collisions(scene),
            lambda number, frame: bodies.get(frame, {}).get(number),
            scene.end,
        )
    return scene.shown_masses


def _course(scene: Scene, at: int, end: int, gone: Iterable[int], engine: Engine) -> Course:
    """From the frame before ``at`` to ``end``; after the video everyone departs who was ever seen."""
    bodies = recorded_bodies(scene, observed_masses(scene))
    collisions = observed_collisions(scene)
    if scene.draw:
        bodies = scene.draw.bodies(bodies, {name for _, *pair in collisions for name in pair})
    departing = {number for poses in bodies.values() for number in poses} if at > scene.end else ()
    return course(
        bodies,
        collisions,
        max(0, at - 1),
        end,
        departing,
        last=scene.end,
        without=gone,
        advance=_advance(engine, scene.draw),
    )


def _advance(engine: Engine, draw: Draw | None) -> Callable[[Sequence[Body], int], Motion]:
    if engine == "calibrated":
        return partial(simulate, law=draw.law()) if draw else simulate
    from substrate.domains.clevrer.motion import bullet  # loads a physics engine that nothing else here needs

    return bullet.simulate


def _object(scene: Scene, number: int) -> ox.NamedNode:
    return ox.NamedNode(f"{scene.iri}:object:{number}")


def _as_observed(scene: Scene, parent: EventLog, at: int, found: Course) -> Iterator[Spelled]:
    """The parent's deltas from ``at`` on that hold in the branch."""
    ends = {str(_object(scene, number)): frame for number, frame in found.departed.items()}
    for event in scene.events:
        frame = event.frame or 0
        standing = (frame, *sorted(event.objects)) in found.standing
        if frame >= at and not (
            standing
            if event.kind == "Collision"
            else all(frame < found.departed.get(number, frame + 1) for number in event.objects)
        ):
            ends[f"<{event.iri}>"] = at
    for tick, lines in parent.lines(parent.position(at - 1)):
        for line in lines:
            text = line[2:-2]
            # A subject that is no object or event, such as a blank node, is not found.
            if tick < ends.get(text[: text.index(" ")], tick + 1):
                yield Spelled(tick, _OPS[line[0]], text)


def _camera(scene: Scene, thing: ox.NamedNode, tick: int) -> Iterable[str]:
    """The parent's last statements before a tick on an object's being in view and moving."""
    said: dict[str, None] = {}
    for when, op, text in scene.camera.get(str(thing), ()):
        if when >= tick:
            break
        if op == "A":
            said[text] = None
        else:
            said.pop(text, None)
    return said


def _pose(frame: int, body: Body) -> ox.Literal:
    numbers = (
        round(number, _DIGITS) + 0.0 for number in (body.x, body.y, body.yaw, body.vx, body.vy, body.spin)
    )
    return ox.Literal(pose(frame, *numbers), datatype=_POSE_TYPE)
