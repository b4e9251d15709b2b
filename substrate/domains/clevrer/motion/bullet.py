"""Bullet with its default constants, for the ablation that the paper reports: an uncalibrated engine."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import combinations

import pybullet as bullet
from msgspec.structs import replace

from substrate.domains.clevrer.format import RADIUS, SECONDS_PER_FRAME
from substrate.domains.clevrer.motion.engine import Body, Motion

_STEPS = 7
"""Steps per frame: the whole number that comes nearest to Bullet's own step of 1/240 s."""


def simulate(bodies: Sequence[Body], frames: int) -> Motion:
    """Move ``bodies`` over ``frames`` frames, each a primitive of mass 1 with Bullet's default friction,
    restitution and damping.

    Bullet's friction slows a sliding body by 0.25 g, but the videos show 0.03 g: the ball below hits three
    frames too late.

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
    # A look that nobody draws: without it Bullet makes a hull of each shape, most of its set-up.
    look = bullet.createVisualShape(bullet.GEOM_BOX, halfExtents=[RADIUS] * 3, physicsClientId=client)
    plane = bullet.createCollisionShape(bullet.GEOM_PLANE, physicsClientId=client)
    bullet.createMultiBody(0, plane, look, physicsClientId=client)
    handles = {body: _place(client, body, look) for body in sorted(bodies, key=lambda body: body.id)}
    contacts: dict[tuple[int, int], int] = {}
    for frame in range(1, frames + 1):
        for _ in range(_STEPS):
            bullet.stepSimulation(physicsClientId=client)
            for (a, first), (b, second) in combinations(handles.items(), 2):
                if (a.id, b.id) not in contacts and bullet.getContactPoints(
                    first, second, physicsClientId=client
                ):
                    contacts[a.id, b.id] = frame
    return Motion(
        sorted((frame, a, b) for (a, b), frame in contacts.items()),
        [_moved(client, body, handle) for body, handle in handles.items()],
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


def _moved(client: int, body: Body, handle: int) -> Body:
    (x, y, _), turn = bullet.getBasePositionAndOrientation(handle, physicsClientId=client)
    (vx, vy, _), (_, _, spin) = bullet.getBaseVelocity(handle, physicsClientId=client)
    return replace(body, x=x, y=y, vx=vx, vy=vy, yaw=bullet.getEulerFromQuaternion(turn)[2], spin=spin)
