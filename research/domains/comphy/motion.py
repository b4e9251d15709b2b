"""Collisions of a ComPhy world that was not filmed, simulated with inferred masses and charges."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import combinations

from msgspec.structs import replace

from substrate.base.errors import ProgramError
from substrate.domains.clevrer.emitter import observed_collisions, recorded_bodies
from substrate.domains.clevrer.format import BEFORE, RADIUS, SECONDS_PER_FRAME
from substrate.domains.clevrer.motion.course import course
from substrate.domains.clevrer.motion.engine import Body, Contact, Motion, simulate
from substrate.domains.comphy.parameters import Parameters
from substrate.domains.comphy.scene import Pair, PropertyChange, TargetScene

NEAREST = 2 * RADIUS
"""Units between the centres of two discs that touch.

The force follows its law down to this distance, and is constant below.
"""


class Simulated:
    """The planar simulator with mass, and with charge as a push between frames.

    It simulates only the objects that the change can reach.
    """

    def future(self, scene: TargetScene, parameters: Parameters) -> list[Pair]:
        """New contacts within the horizon, of all recorded objects."""
        _require_masses(scene)
        bodies, end = recorded_bodies(scene, scene.masses), scene.end
        run = course(
            bodies,
            observed_collisions(scene),
            end,
            end + parameters.horizon,
            scene.objects,
            advance=_advance(scene.charges, scene.strength),
        )
        return _pairs(run.contacts)

    def changed(self, scene: TargetScene, change: PropertyChange) -> list[Pair]:
        """Observed contacts until the change can have an effect; then simulated ones for the objects that it
        reaches, and observed ones for the others.
        """
        _require_masses(scene)
        seen = observed_collisions(scene)
        start = _felt(scene, change)
        if start is None:
            return _pairs(seen)
        masses = {**scene.masses, change.object: change.mass}
        charges = {**scene.charges, change.object: change.charge}
        charged = {number for number, charge in scene.charges.items() if charge}
        reached = {change.object} | charged if change.object in charged else {change.object}
        run = course(
            recorded_bodies(scene, masses),
            seen,
            start,
            scene.end,
            reached,
            advance=_advance(charges, scene.strength),
        )
        return _pairs([contact for contact in seen if contact[0] <= start] + run.standing + run.contacts)


def _require_masses(scene: TargetScene) -> None:
    if not scene.masses:
        raise ProgramError(
            "asks for a simulation, and no mass is known",
            hint="Set infer_properties: true, or emitter: kinematic",
        )


def _pairs(contacts: Iterable[Contact]) -> list[Pair]:
    return [frozenset(pair) for _, *pair in contacts]


def _felt(scene: TargetScene, change: PropertyChange) -> int | None:
    """The frame from which a change can have an effect.

    For a charged object it is the first; otherwise it is shortly before the object's first collision.
    """
    present = scene.masses.get(change.object, 1), scene.charges.get(change.object, 0)
    if (change.mass, change.charge) == present:
        return None
    if scene.charges.get(change.object):
        return next((frame for frame, poses in scene.poses.items() if change.object in poses), None)
    hits = (event for event in scene.events if event.kind == "Collision" and change.object in event.objects)
    first = min((event.frame or 0 for event in hits), default=None)
    return None if first is None else max(0, first - BEFORE)


def _advance(charges: Mapping[int, int], strength: float) -> Callable[[Sequence[Body], int], Motion]:
    """A function that moves bodies over some frames, with a push before each frame if two are charged."""

    def advance(bodies: Sequence[Body], frames: int) -> Motion:
        if not strength or sum(bool(charges.get(body.id)) for body in bodies) < 2:
            return simulate(bodies, frames)
        contacts: list[Contact] = []
        for frame in range(frames):
            motion = simulate(_pushed(bodies, charges, strength), 1)
            contacts += ((frame + stamp, a, b) for stamp, a, b in motion.contacts)
            bodies = motion.final
        return Motion(contacts, list(bodies))

    return advance


def _pushed(bodies: Iterable[Body], charges: Mapping[int, int], strength: float) -> list[Body]:
    """The bodies with their velocities after one frame of push and pull."""
    velocities = {body.id: [body.vx, body.vy] for body in bodies}
    by_id = {body.id: body for body in bodies}
    for a, b in combinations(by_id.values(), 2):
        product = charges.get(a.id, 0) * charges.get(b.id, 0)
        dx, dy = a.x - b.x, a.y - b.y
        distance = math.hypot(dx, dy)
        if not product or not distance:
            continue
        impulse = SECONDS_PER_FRAME * strength * product / (max(distance, NEAREST) ** 2 * distance)
        for body, sign in ((a, 1), (b, -1)):
            velocities[body.id][0] += sign * impulse * dx / body.mass
            velocities[body.id][1] += sign * impulse * dy / body.mass
    return [replace(body, vx=velocities[body.id][0], vy=velocities[body.id][1]) for body in by_id.values()]


SIMULATED = Simulated()
