"""Bullet with its default constants, for the ablation that the paper reports: an uncalibrated engine."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import combinations
from math import dist, sqrt

import pybullet as bullet
from msgspec.structs import replace

from substrate.domains.clevrer.format import RADIUS, SECONDS_PER_FRAME
from substrate.domains.clevrer.motion.engine import Body, Motion

_STEPS = 7
"""Steps per frame: the whole number that comes nearest to Bullet's own step of 1/240 s."""
_NEAR = 2 * sqrt(2) * RADIUS + 0.3
"""Centres further apart than this (units) do not touch within a frame: no body moves at 0.3 units a frame."""


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
    # Nobody draws this visual shape. Without one, Bullet computes a hull of each body: most of the set-up.
    visual = bullet.createVisualShape(bullet.GEOM_BOX, halfExtents=[RADIUS] * 3, physicsClientId=client)
    plane = bullet.createCollisionShape(bullet.GEOM_PLANE, physicsClientId=client)
    bullet.createMultiBody(0, plane, visual, physicsClientId=client)
    placed = {_place(client, body, visual): body for body in sorted(bodies, key=lambda body: body.id)}
    contacts: dict[tuple[int, int], int] = {}
    for frame in range(1, frames + 1):
        at = {solid: bullet.getBasePositionAndOrientation(solid, client)[0] for solid in placed}
        near = [(a, b) for a, b in combinations(placed, 2) if dist(at[a], at[b]) < _NEAR]
        for _ in range(_STEPS):
            bullet.stepSimulation(physicsClientId=client)
            for pair in near:
                if pair not in contacts and bullet.getContactPoints(*pair, physicsClientId=client):
                    contacts[pair] = frame
    return Motion(
        sorted((frame, placed[a].id, placed[b].id) for (a, b), frame in contacts.items()),
        [_moved(client, body, solid) for solid, body in placed.items()],
    )


@cache
def _client() -> int:
    return bullet.connect(bullet.DIRECT)


def _place(client: int, body: Body, visual: int) -> int:
    solids = {
        "cube": {"shapeType": bullet.GEOM_BOX, "halfExtents": [RADIUS] * 3},
        "sphere": {"shapeType": bullet.GEOM_SPHERE, "radius": RADIUS},
        "cylinder": {"shapeType": bullet.GEOM_CYLINDER, "radius": RADIUS, "height": 2 * RADIUS},
    }
    solid = bullet.createCollisionShape(**solids[body.shape], physicsClientId=client)
    turn = bullet.getQuaternionFromEuler((0, 0, body.yaw))
    handle = bullet.createMultiBody(
        1, solid, visual, basePosition=(body.x, body.y, RADIUS), baseOrientation=turn, physicsClientId=client
    )
    bullet.resetBaseVelocity(handle, (body.vx, body.vy, 0), (0, 0, body.spin), physicsClientId=client)
    return handle


def _moved(client: int, body: Body, handle: int) -> Body:
    (x, y, _), turn = bullet.getBasePositionAndOrientation(handle, physicsClientId=client)
    (vx, vy, _), (_, _, spin) = bullet.getBaseVelocity(handle, physicsClientId=client)
    return replace(body, x=x, y=y, vx=vx, vy=vy, yaw=bullet.getEulerFromQuaternion(turn)[2], spin=spin)
