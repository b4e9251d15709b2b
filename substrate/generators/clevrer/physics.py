"""CLEVRER's physics: solids sliding on a plane, watched by one fixed camera.

The constants were fitted to official motion. Bullet's multibody drag at its default coefficient,
``k (1 + |v|)`` per second, gives the loss of free spheres; dry friction gives the additional loss of
cubes and cylinders; restitution gives the speeds after 1,381 tracked collisions with an object at
rest (docs/design/worlds.md); the camera reproduces the official visibility flags.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import NamedTuple

from substrate.domains.clevrer.format import (
    FRAMES,
    RADIUS,
    SECONDS_PER_FRAME,
    Collision,
    Frame,
    MotionState,
    Shape,
    Vector,
)

HIDDEN_FRAMES = 51
"""Two seconds of video at 25.6 frames per second, simulated after the last visible frame."""
LENGTH = FRAMES + HIDDEN_FRAMES
"""The frames of a world: those of its video, and the hidden ones."""

_SUBSTEPS = 7
_GRAVITY = 9.81
_DRAG = 0.04
# Bullet takes the product of two bodies' friction, and of their restitution: 0.1727² g = 0.2925 units/s²
# (docs/design/motion.md).
_PLANE_FRICTION = 0.1727
FRICTION = {"cube": 0.1727, "cylinder": 0.1727, "sphere": 0.005}
RESTITUTION = {"cube": 0.68, "cylinder": 0.68, "sphere": 0.6}
# Other worlds scale these two tables (research/generators/altered.py), so each use must look them up.
_SPINNING_FRICTION = 0.03
_TOUCH = 2 * math.sqrt(2) * RADIUS
"""Centres further apart than this (units) do not touch: the half diagonals of two cubes."""
_NEAR = _TOUCH + 8 * SECONDS_PER_FRAME
"""A pair further apart than this cannot touch within one frame, at the fastest approach."""
# Cylinders are modelled along y, as in the official annotations, and stand up by a quarter turn about x.
_UPRIGHT = {"cube": 0.0, "sphere": 0.0, "cylinder": round(math.pi / 2, 4)}


@dataclass(frozen=True)
class Body:
    """A solid at frame 0: location (units), yaw (radians) and velocity (units/s) on the ground plane; its
    mass is relative to the typical mass.
    """

    object_id: int
    shape: Shape
    location: tuple[float, float]
    yaw: float
    velocity: tuple[float, float]
    mass: float = 1.0


class Pose(NamedTuple):
    """A body's state as Bullet gives it: location, quaternion, velocity and angular velocity."""

    location: Sequence[float]
    quaternion: Sequence[float]
    velocity: Sequence[float]
    spin: Sequence[float]


@dataclass(frozen=True)
class Run:
    """The outcome of a simulation: the pose of every body at every frame, and each pair's first contact."""

    poses: tuple[dict[int, Pose], ...]
    contacts: tuple[Collision, ...]

    @cached_property
    def frames(self) -> list[Frame]:
        """Frames as in an annotation, bodies in ascending order.

        Made on demand: most runs are candidates that are thrown away.
        """
        return [
            Frame(number, [_state(name, pose) for name, pose in poses.items()])
            for number, poses in enumerate(self.poses)
        ]


@dataclass(frozen=True)
class Camera:
    """A pinhole camera; ``focal`` is in half image heights, the image is 3 : 2.

    >>> CAMERA.sees((0.0, 0.0, 0.2)), CAMERA.sees((3.0, 0.0, 0.2)), CAMERA.sees((9.0, 0.0, 0.2))
    (True, False, False)
    """

    location: Vector
    pitch: float
    focal: float
    aspect: float = 1.5

    def sees(self, point: Sequence[float]) -> bool:
        """Tell whether a point is in view; the camera looks along -x and down by ``pitch`` radians."""
        back, side, above = (p - q for p, q in zip(point, self.location, strict=True))
        sine, cosine = math.sin(self.pitch), math.cos(self.pitch)
        depth = -back * cosine - above * sine
        height = -back * sine + above * cosine
        return depth > 0 and abs(self.focal * side) < self.aspect * depth and abs(self.focal * height) < depth


CAMERA = Camera(location=(5.22, 0.045, 2.8764), pitch=0.50365, focal=3.4977)
"""Fitted to the ``inside_camera_view`` flags of official annotations (5,110 of 5,120 agree)."""


Poses = Sequence[Mapping[int, Pose]]
"""The pose of every body at each frame."""
Contacts = Mapping[tuple[int, int], Collision]
"""The first contacts so far, by pair."""


def simulate(
    bodies: Sequence[Body],
    frames: int = LENGTH,
    *,
    stop: Callable[[Poses, Contacts], bool] | None = None,
    forces: Callable[[int, dict[int, int]], Callable[[], None] | None] | None = None,
) -> Run:
    """Simulate ``bodies`` for ``frames`` frames, or until ``stop(poses, contacts so far)`` is true.

    Every run starts from an empty Bullet world, so equal bodies give equal floats regardless of earlier runs.
    A pair's contact is recorded once, at the frame it first exchanges an impulse.

    Args:
        forces: called once with Bullet's client and the handles by object; the function that it returns is
            called before every substep. It returns ``None`` if no force acts.

    >>> ball = Body(0, "sphere", (0.0, 0.0), 0.0, (-2.0, 0.0))
    >>> run = simulate([ball, Body(1, "cube", (-1.0, 0.0), 0.0, (0.0, 0.0))], frames=20)
    >>> [contact.object_ids for contact in run.contacts]
    [(0, 1)]
    """
    import pybullet as bullet

    # A fixed order of insertion: Bullet's solver depends on it.
    ordered = sorted(bodies, key=lambda body: body.object_id)
    poses: list[dict[int, Pose]] = []
    contacts: dict[tuple[int, int], Collision] = {}
    with _world() as client:
        handles = {body.object_id: _insert(client, body) for body in ordered}
        push, whole_frame = forces and forces(client, handles), False
        for frame in range(frames):
            if frame:
                near = [pair for pair in _near_pairs(poses[-1]) if pair not in contacts]
                # If no pair is near and no force acts, one call makes all substeps, with the same bits.
                if (not near and push is None) != whole_frame:
                    whole_frame = not whole_frame
                    _set_step(client, whole_frame)
                for _ in range(1 if whole_frame else _SUBSTEPS):
                    if push:
                        push()
                    bullet.stepSimulation(physicsClientId=client)
                    for pair, place in _touching(client, handles, near):
                        contacts.setdefault(pair, Collision(object_ids=pair, frame_id=frame, location=place))
            poses.append(
                {
                    name: Pose(
                        *bullet.getBasePositionAndOrientation(handle, physicsClientId=client),
                        *bullet.getBaseVelocity(handle, physicsClientId=client),
                    )
                    for name, handle in handles.items()
                }
            )
            if frame and stop and stop(poses, contacts):
                break
    in_order = sorted(contacts.values(), key=lambda contact: (contact.frame_id, contact.object_ids))
    return Run(tuple(poses), tuple(in_order))


def travel(shape: Shape, speed: float, frames: int) -> float:
    """The distance (units) that a free body slides in ``frames`` frames from ``speed`` (units/s).

    >>> round(travel("sphere", 2.8, 60), 1), round(travel("cube", 2.8, 60), 1)
    (4.2, 3.8)
    """
    return slide(shape, speed, frames)[0]


def slide(shape: Shape, speed: float, frames: int) -> tuple[float, float]:
    """Give the distance (units) that a free body slides in ``frames`` frames from ``speed`` (units/s), and
    its final speed.
    """
    friction = _GRAVITY * _PLANE_FRICTION * FRICTION[shape]
    distance = 0.0
    for _ in range(frames):
        distance += speed * SECONDS_PER_FRAME
        speed = max(0.0, speed - SECONDS_PER_FRAME * (friction + _DRAG * speed * (1 + speed)))
    return distance, speed


def near_misses(poses: Poses) -> dict[tuple[int, int], float]:
    """The least distance (units) of each pair's centres, simulated or on straight lines from the first frame
    on.

    >>> still = Pose((0.0, 0.5, 0.2), (), (0.0, 0.0, 0.0), ())
    >>> near_misses([{0: still, 1: Pose((-2.0, 0.0, 0.2), (), (1.0, 0.0, 0.0), ())}])
    {(0, 1): 0.5}
    """
    distances: dict[tuple[int, int], float] = {}
    for a, b in combinations(sorted(poses[0]), 2):
        nearest = min(math.dist(here[a].location[:2], here[b].location[:2]) for here in poses)
        one, other = poses[0][a], poses[0][b]
        x, y, _ = _difference(one.location, other.location)
        vx, vy, _ = _difference(one.velocity, other.velocity)
        speed = math.hypot(vx, vy)
        if speed and x * vx + y * vy < 0:
            nearest = min(nearest, abs(x * vy - y * vx) / speed)
        distances[a, b] = nearest
    return distances


def _difference(p: Sequence[float], q: Sequence[float]) -> list[float]:
    return [b - a for a, b in zip(p, q, strict=True)]


_idle: list[int] = []
"""Idle Bullet servers: starting a server takes longer than a run, and a reset server gives the same bits as a
new one.
"""


@contextmanager
def _world() -> Iterator[int]:
    """An empty Bullet world with the ground plane, never shared by two runs at a time."""
    import pybullet as bullet

    try:
        client = _idle.pop()
    except IndexError:
        client = bullet.connect(bullet.DIRECT)
    try:
        bullet.resetSimulation(physicsClientId=client)
        bullet.setPhysicsEngineParameter(
            deterministicOverlappingPairs=1, enableFileCaching=0, physicsClientId=client
        )
        _set_step(client, False)
        bullet.setGravity(0, 0, -_GRAVITY, physicsClientId=client)
        plane = bullet.createCollisionShape(bullet.GEOM_PLANE, physicsClientId=client)
        ground = bullet.createMultiBody(
            0, plane, baseVisualShapeIndex=_unseen(client), physicsClientId=client
        )
        bullet.changeDynamics(
            ground, -1, lateralFriction=_PLANE_FRICTION, restitution=0, physicsClientId=client
        )
        yield client
    finally:
        _idle.append(client)


def _set_step(client: int, whole_frame: bool) -> None:
    """Set the length of a step: a whole frame, in equal substeps, or one substep."""
    import pybullet as bullet

    seconds, parts = (SECONDS_PER_FRAME, _SUBSTEPS) if whole_frame else (SECONDS_PER_FRAME / _SUBSTEPS, 0)
    bullet.setPhysicsEngineParameter(fixedTimeStep=seconds, numSubSteps=parts, physicsClientId=client)


def _unseen(client: int) -> int:
    """A dummy visual shape for bodies that are never drawn: without it Bullet builds a hull, which takes four
    times as long as the rest of the body, and thirty times for the plane.
    """
    import pybullet as bullet

    return bullet.createVisualShape(bullet.GEOM_BOX, halfExtents=[RADIUS] * 3, physicsClientId=client)


def _insert(client: int, body: Body) -> int:
    import pybullet as bullet

    stand = bullet.getQuaternionFromEuler((-math.pi / 2, 0, 0))
    shapes: dict[str, dict[str, object]] = {
        "cube": {"shapeType": bullet.GEOM_BOX, "halfExtents": [RADIUS] * 3},
        "sphere": {"shapeType": bullet.GEOM_SPHERE, "radius": RADIUS},
        "cylinder": {
            "shapeType": bullet.GEOM_CYLINDER,
            "radius": RADIUS,
            "height": 2 * RADIUS,
            "collisionFrameOrientation": stand,
        },
    }
    shape = bullet.createCollisionShape(**shapes[body.shape], physicsClientId=client)
    pose = bullet.getQuaternionFromEuler((_UPRIGHT[body.shape], 0, body.yaw))
    handle = bullet.createMultiBody(
        body.mass,
        shape,
        baseVisualShapeIndex=_unseen(client),
        basePosition=(*body.location, RADIUS),
        baseOrientation=pose,
        physicsClientId=client,
    )
    bullet.changeDynamics(
        handle,
        -1,
        lateralFriction=FRICTION[body.shape],
        spinningFriction=_SPINNING_FRICTION,
        restitution=RESTITUTION[body.shape],
        linearDamping=_DRAG,
        angularDamping=_DRAG,
        physicsClientId=client,
    )
    bullet.resetBaseVelocity(handle, (*body.velocity, 0), (0, 0, 0), physicsClientId=client)
    return handle


def _state(name: int, pose: Pose) -> MotionState:
    import pybullet as bullet

    location, angles = _rounded(pose.location), _rounded(bullet.getEulerFromQuaternion(pose.quaternion))
    return MotionState(
        name, location, angles, _rounded(pose.velocity), _rounded(pose.spin), CAMERA.sees(location)
    )


def _rounded(vector: Sequence[float]) -> Vector:
    """Round to the 4 decimals of official annotations; adding 0 turns -0.0 into 0.0."""
    x, y, z = vector
    return round(x, 4) + 0.0, round(y, 4) + 0.0, round(z, 4) + 0.0


def _near_pairs(poses: Mapping[int, Pose]) -> list[tuple[int, int]]:
    return [
        (a, b) for a, b in combinations(poses, 2) if math.dist(poses[a].location, poses[b].location) < _NEAR
    ]


def _touching(
    client: int, handles: dict[int, int], pairs: list[tuple[int, int]]
) -> Iterator[tuple[tuple[int, int], Vector]]:
    import pybullet as bullet

    for first, second in pairs:
        for contact in bullet.getContactPoints(handles[first], handles[second], physicsClientId=client):
            if contact[9] > 0:  # the normal force: Bullet also keeps points that are merely close
                middle = [(p + q) / 2 for p, q in zip(contact[5], contact[6], strict=True)]
                yield (first, second), _rounded(middle)
                break
