"""Bullet as it comes, for the ablation that the paper reports: a physics engine that nobody calibrated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from itertools import combinations
from math import dist, hypot, sqrt

import pybullet as bullet
from msgspec.structs import replace

from substrate.domains.clevrer.format import RADIUS, SECONDS_PER_FRAME
from substrate.domains.clevrer.motion.engine import Body, Motion

_TOUCH = 2 * sqrt(3) * RADIUS + 0.05
"""Centres further apart than this (units) do not touch: the half diagonals of two cubes, and a margin of
Bullet's.
"""
_STEPS = 7
"""A frame's: as near to Bullet's own step of 1/240 s as a whole number of them comes."""


def simulate(bodies: Sequence[Body], frames: int) -> Motion:
    """The motion of ``bodies`` over ``frames`` frames, each a primitive of mass 1 with Bullet's default
    friction, restitution and damping.

    Its friction brakes a sliding body by 0.25 g where the video's lose 0.03 g: the same ball comes three
    frames later than it should.

    >>> simulate([Body(0, "sphere", 0.0, 0.0, 2.0), Body(1, "cube", 1.0, 0.0)], frames=20).contacts
    [(14, 0, 1)]
    """
    if not bodies:
        return Motion([], [])
    client = _client()
    bullet.resetSimulation(physicsClientId=client)
    bullet.setPhysicsEngineParameter(
        fixedTimeStep=SECONDS_PER_FRAME / _STEPS,
        numSubSteps=0,
        deterministicOverlappingPairs=1,
        physicsClientId=client,
    )
    bullet.setGravity(0, 0, -9.81, physicsClientId=client)
    # A look that nobody draws: without one Bullet makes a hull of each shape, the longest part of its set-up.
    look = bullet.createVisualShape(bullet.GEOM_BOX, halfExtents=[RADIUS] * 3, physicsClientId=client)
    plane = bullet.createCollisionShape(bullet.GEOM_PLANE, physicsClientId=client)
    bullet.createMultiBody(0, plane, look, physicsClientId=client)
    handles = {body.id: _place(client, body, look) for body in sorted(bodies, key=lambda body: body.id)}
    contacts: dict[tuple[int, int], int] = {}
    for frame in range(1, frames + 1):
        near = _near(client, handles)
        for _ in range(_STEPS):
            bullet.stepSimulation(physicsClientId=client)
            for a, b in near - contacts.keys():
                if bullet.getContactPoints(handles[a], handles[b], physicsClientId=client):
                    contacts[a, b] = frame
    return Motion(
        sorted((frame, a, b) for (a, b), frame in contacts.items()),
        [_moved(client, body, handles[body.id]) for body in sorted(bodies, key=lambda body: body.id)],
    )


@cache
def _client() -> int:
    return bullet.connect(bullet.DIRECT)


def _place(client: int, body: Body, look: int) -> int:
    solids = {
        "cube": {"shapeType": bullet.GEOM_BOX, "halfExtents": [RADIUS] * 3},
        "sphere": {"shapeType": bullet.GEOM_SPHERE, "radius": RADIUS},
        "cylinder": {"shapeType": bullet.GEOM_CYLINDER, "radius": RADIUS, "height": 2 * RADIUS},
    }
    solid = bullet.createCollisionShape(**solids[body.shape], physicsClientId=client)
    turn = bullet.getQuaternionFromEuler((0, 0, body.yaw))
    handle = bullet.createMultiBody(
        1, solid, look, basePosition=(body.x, body.y, RADIUS), baseOrientation=turn, physicsClientId=client
    )
    bullet.resetBaseVelocity(handle, (body.vx, body.vy, 0), (0, 0, body.spin), physicsClientId=client)
    return handle


def _near(client: int, handles: Mapping[int, int]) -> set[tuple[int, int]]:
    """The pairs that may touch within a frame: no impulse makes a body faster than all of them together."""
    places: dict[int, Sequence[float]] = {}
    speeds = 0.0
    for name, handle in handles.items():
        places[name], _ = bullet.getBasePositionAndOrientation(handle, physicsClientId=client)
        speeds += hypot(*bullet.getBaseVelocity(handle, physicsClientId=client)[0])
    reach = _TOUCH + 2 * SECONDS_PER_FRAME * speeds
    return {(a, b) for a, b in combinations(places, 2) if dist(places[a], places[b]) < reach}


def _moved(client: int, body: Body, handle: int) -> Body:
    (x, y, _), turn = bullet.getBasePositionAndOrientation(handle, physicsClientId=client)
    (vx, vy, _), (_, _, spin) = bullet.getBaseVelocity(handle, physicsClientId=client)
    return replace(body, x=x, y=y, vx=vx, vy=vy, yaw=bullet.getEulerFromQuaternion(turn)[2], spin=spin)
