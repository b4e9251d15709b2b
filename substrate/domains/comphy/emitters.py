"""Which collisions happen in a world that was not filmed: after the video, or with another mass or charge.

An emitter sees the scene and nothing else; :data:`EMITTERS` holds one entry each, chosen in the parameters.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from itertools import combinations
from typing import NamedTuple, Protocol

from msgspec.structs import replace

from substrate.domains.clevrer.format import RADIUS, SECONDS_PER_FRAME, Shape
from substrate.domains.clevrer.kinematics import predict_collisions
from substrate.domains.clevrer.motion.engine import Body, simulate
from substrate.domains.clevrer.scene import Event
from substrate.domains.comphy.inference import BEFORE
from substrate.domains.comphy.parameters import Parameters
from substrate.domains.comphy.scene import Pose, TargetScene

Pair = frozenset[int]
NEAREST = 2 * RADIUS
"""Units, centre to centre: two discs that touch. The force is taken to follow its law down to here, and to grow no more."""


class Change(NamedTuple):
    """Another mass or charge of one object, as :meth:`of` reads it from a program."""

    object: int
    mass: int
    charge: int

    @classmethod
    def of(cls, scene: TargetScene, number: int, word: str) -> Change:
        """``counterfact_heavier`` and the like, said of an object; what is not known of it is light and uncharged."""
        mass, charge = scene.masses.get(number, 1), scene.charges.get(number, 0)
        changed = {"lighter": (1, charge), "heavier": (5, charge), "uncharged": (mass, 0), "opposite": (mass, -charge)}
        return cls(number, *changed[word.removeprefix("counterfact_")])


class Emitter(Protocol):
    """What an imagined world's collisions are, as pairs of objects."""

    def future(self, scene: TargetScene, parameters: Parameters) -> list[Pair]:
        """Pairs that collide after the video."""
        ...

    def changed(self, scene: TargetScene, change: Change) -> list[Pair]:
        """Pairs that collide within the video's time if one object had another mass or charge."""
        ...


class Kinematic:
    """Straight lines into the future; of the observed collisions, those that hang on no earlier one of the changed object."""

    def future(self, scene: TargetScene, parameters: Parameters) -> list[Pair]:
        """Algorithm 3 on the last frames; pairs that have met do not meet anew."""
        return [frozenset((a, b)) for a, b, _ in predict_collisions(scene.samples, scene.end, parameters.predictive.kinematics)]

    def changed(self, scene: TargetScene, change: Change) -> list[Pair]:
        """By the duality: an event that an earlier collision of the object is an ancestor of is taken not to happen."""
        ancestry = scene.ancestry("event")
        own = {event.iri for event in scene.events if event.kind == "Collision" and change.object in event.objects}
        return [event.objects for event in scene.events if event.kind == "Collision" and own.isdisjoint(ancestry[event.iri].events)]


class Motion:
    """The planar simulator, with mass, and with charge as a push between frames; only what the change can reach is simulated anew."""

    def future(self, scene: TargetScene, parameters: Parameters) -> list[Pair]:
        """New contacts within the horizon, of the objects in view at the end."""
        met = {event.objects for event in scene.events if event.kind == "Collision"}
        contacts = _follow(scene, scene.end, scene.end + parameters.horizon, scene.masses, scene.charges)
        return [pair for _, pair in contacts if pair not in met]

    def changed(self, scene: TargetScene, change: Change) -> list[Pair]:
        """Observed until the change can first be felt; from there simulated for whom it reaches, observed for the others."""
        seen = [(event.frame or 0, event.objects) for event in scene.events if event.kind == "Collision"]
        masses, charges = {**scene.masses, change.object: change.mass}, {**scene.charges, change.object: change.charge}
        start = _felt(scene, change)
        if start is None:
            return [pair for _, pair in seen]
        partners = {number for number, charge in scene.charges.items() if charge} if scene.charges.get(change.object) else set()
        reached = {change.object} | partners
        kept = [pair for frame, pair in seen if frame <= start]
        imagined = _follow(scene, start, scene.end, masses, charges)
        for _, pair, simulated in sorted([(f, p, True) for f, p in imagined] + [(f, p, False) for f, p in seen if f > start], key=lambda e: (e[0], sorted(e[1]), e[2])):
            if simulated is not reached.isdisjoint(pair):
                kept.append(pair)
                if simulated:
                    reached |= pair
        return kept


def _felt(scene: TargetScene, change: Change) -> int | None:
    """The frame from which a change may be felt: at once where charges pull, else shortly before the object's first collision."""
    if (change.mass, change.charge) == (scene.masses.get(change.object, 1), scene.charges.get(change.object, 0)):
        return None
    if scene.charges.get(change.object):
        return next((frame for frame, poses in scene.poses.items() if change.object in poses), None)
    first = min((event.frame or 0 for event in scene.events if event.kind == "Collision" and change.object in event.objects), default=None)
    return None if first is None else max(0, first - BEFORE)


def _follow(scene: TargetScene, start: int, end: int, masses: Mapping[int, int], charges: Mapping[int, int]) -> list[tuple[int, Pair]]:
    """First contacts from the poses at ``start`` on; who enters later joins as observed."""
    bodies = _bodies(scene, scene.poses.get(start, {}), masses)
    joining = {frame: poses for frame, poses in scene.poses.items() if start < frame < end}
    contacts: dict[Pair, int] = {}
    present = {body.id for body in bodies}
    frame = start
    for stop in [*joining, end]:
        while frame < stop:
            forces = any(charges.get(a.id) and charges.get(b.id) for a, b in combinations(bodies, 2)) and scene.strength
            step = 1 if forces else stop - frame
            motion = simulate(_pushed(bodies, charges, scene.strength) if forces else bodies, step)
            for number, a, b in motion.contacts:
                contacts.setdefault(frozenset((a, b)), frame + number)
            bodies, frame = motion.final, frame + step
        new = {number: pose for number, pose in joining.get(stop, {}).items() if number not in present}
        present |= set(new)
        bodies = [*bodies, *_bodies(scene, new, masses)]
    return sorted(((frame, pair) for pair, frame in contacts.items()), key=lambda contact: (contact[0], sorted(contact[1])))


def _bodies(scene: TargetScene, poses: Mapping[int, Pose], masses: Mapping[int, int]) -> list[Body]:
    shapes: dict[int, Shape] = {number: thing.shape for number, thing in scene.objects.items()}  # pyright: ignore[reportAssignmentType]  # checked when read
    return [Body(number, shapes[number], p.x, p.y, vx=p.vx, vy=p.vy, yaw=p.yaw, spin=p.spin, mass=float(masses.get(number, 1))) for number, p in poses.items()]


def _pushed(bodies: Iterable[Body], charges: Mapping[int, int], strength: float) -> list[Body]:
    """The bodies with the velocity that a frame of push and pull gives them."""
    rows = {body.id: [body.vx, body.vy] for body in bodies}
    by_id = {body.id: body for body in bodies}
    for a, b in combinations(by_id.values(), 2):
        product = charges.get(a.id, 0) * charges.get(b.id, 0)
        dx, dy = a.x - b.x, a.y - b.y
        distance = math.hypot(dx, dy)
        if not product or not distance:
            continue
        impulse = SECONDS_PER_FRAME * strength * product / (max(distance, NEAREST) ** 2 * distance)
        for body, sign in ((a, 1), (b, -1)):
            rows[body.id][0] += sign * impulse * dx / body.mass
            rows[body.id][1] += sign * impulse * dy / body.mass
    return [replace(body, vx=rows[body.id][0], vy=rows[body.id][1]) for body in by_id.values()]


EMITTERS: Mapping[str, Emitter] = {"kinematic": Kinematic(), "motion": Motion()}


def collisions(pairs: Iterable[Pair]) -> list[Event]:
    """Pairs as possible collisions, each once, sorted."""
    return [Event("Collision", None, pair) for pair in sorted(set(pairs), key=sorted)]
