"""A comparison of engines on official CLEVRER motion: the planar one, Bullet, or pymunk where it is
installed.

    python -m research.measurements.clevrer_engines ANNOTATIONS

Every engine gets the same bodies, masses from the video, the step of 0.004 s and the drag and friction that
free flight shows. The contact constants of each are the best of a grid, so that none is judged on another's
numbers.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations, product
from pathlib import Path
from statistics import fmean, median
from typing import Any

import pybullet as bullet

from research.domains.foretelling.annotated import bodies, masses
from research.domains.foretelling.from_annotations import Impact, impacts, read_annotations
from substrate.domains.clevrer.motion import LAW, Body, simulate

Engine = Callable[[Sequence[Body], int], tuple[list[tuple[int, int, int]], list[Body]]]
"""Bodies and frames to contacts (frame, a, b) and final bodies."""


def planar(start: Sequence[Body], frames: int) -> tuple[list[tuple[int, int, int]], list[Body]]:
    """The package's own."""
    motion = simulate(start, frames)
    return motion.contacts, motion.final


def bullet_engine(client: int, *, hull: bool, restitution: float, radius: float) -> Engine:
    """Bullet in three dimensions: convex hulls or primitives, ground friction and damping as measured."""

    def run(start: Sequence[Body], frames: int) -> tuple[list[tuple[int, int, int]], list[Body]]:
        bullet.resetSimulation(physicsClientId=client)
        bullet.setPhysicsEngineParameter(
            fixedTimeStep=LAW.step, numSubSteps=0, deterministicOverlappingPairs=1, physicsClientId=client
        )
        bullet.setGravity(0, 0, -9.81, physicsClientId=client)
        ground = bullet.createMultiBody(
            0, bullet.createCollisionShape(bullet.GEOM_PLANE, physicsClientId=client), physicsClientId=client
        )
        rough = math.sqrt(LAW.friction / 9.81)
        bullet.changeDynamics(ground, -1, lateralFriction=rough, restitution=0, physicsClientId=client)
        handles: dict[int, int] = {}
        for body in start:
            shape = bullet.createCollisionShape(**_shape(body.shape, hull, radius), physicsClientId=client)
            turn = bullet.getQuaternionFromEuler((0, 0, body.yaw))
            handle = bullet.createMultiBody(
                body.mass,
                shape,
                basePosition=(body.x, body.y, radius),
                baseOrientation=turn,
                physicsClientId=client,
            )
            bullet.changeDynamics(
                handle,
                -1,
                lateralFriction=0 if body.shape == "sphere" else rough,
                restitution=math.sqrt(restitution),
                linearDamping=LAW.drag,
                angularDamping=LAW.drag,
                spinningFriction=0.03,
                physicsClientId=client,
            )  # fmt: skip
            bullet.resetBaseVelocity(handle, (body.vx, body.vy, 0), (0, 0, body.spin), physicsClientId=client)
            handles[body.id] = handle
        contacts: dict[tuple[int, int], int] = {}
        for frame, step in product(range(frames), range(LAW.substeps)):
            bullet.stepSimulation(physicsClientId=client)
            for a, b in combinations(handles, 2):
                touching = (a, b) not in contacts and bullet.getContactPoints(
                    handles[a], handles[b], physicsClientId=client
                )
                if touching and any(point[9] > 0 for point in touching):
                    contacts[a, b] = frame + (step >= LAW.stamp)
        final: list[Body] = []
        for body in start:
            (x, y, _), _ = bullet.getBasePositionAndOrientation(handles[body.id], physicsClientId=client)
            (vx, vy, _), _ = bullet.getBaseVelocity(handles[body.id], physicsClientId=client)
            final.append(Body(body.id, body.shape, x, y, vx, vy, mass=body.mass))
        return sorted((frame, a, b) for (a, b), frame in contacts.items()), final

    return run


def _shape(shape: str, hull: bool, radius: float) -> dict[str, object]:
    ring = [(radius * math.cos(math.pi * k / 16), radius * math.sin(math.pi * k / 16)) for k in range(32)]
    if not hull:
        return {
            "cube": {"shapeType": bullet.GEOM_BOX, "halfExtents": [radius] * 3},
            "sphere": {"shapeType": bullet.GEOM_SPHERE, "radius": radius},
            "cylinder": {"shapeType": bullet.GEOM_CYLINDER, "radius": radius, "height": 2 * radius},
        }[shape]
    levels = [
        (radius * math.cos(math.pi * k / 16), math.sin(math.pi * k / 16)) for k in range(17)
    ]  # height, width
    vertices = {
        "cube": [[radius * x, radius * y, radius * z] for x, y, z in product((-1, 1), repeat=3)],
        "sphere": [[x * wide, y * wide, z] for z, wide in levels for x, y in ring],
        "cylinder": [[x, y, z] for x, y in ring for z in (-radius, radius)],
    }[shape]
    return {"shapeType": bullet.GEOM_MESH, "vertices": vertices}


def pymunk_engine(*, elasticity: float, radius: float) -> Engine:
    """Chipmunk through pymunk: planar, with the measured drag and friction in its velocity function."""
    import pymunk  # pyright: ignore[reportMissingImports]

    def run(start: Sequence[Body], frames: int) -> tuple[list[tuple[int, int, int]], list[Body]]:
        space = pymunk.Space()
        space.collision_slop = 0.0005
        solids: dict[int, pymunk.Body] = {}
        names: dict[int, int] = {}
        for body in start:
            solid = pymunk.Body(body.mass, body.mass * LAW.inertia)
            solid.position, solid.velocity, solid.angle, solid.angular_velocity = (
                (body.x, body.y),
                (body.vx, body.vy),
                body.yaw,
                body.spin,
            )
            square = (
                pymunk.Poly.create_box(solid, (2 * radius, 2 * radius))
                if body.shape == "cube"
                else pymunk.Circle(solid, radius)
            )
            square.elasticity, square.friction = math.sqrt(elasticity), 0.0
            solid.velocity_func = _slowed(0.0 if body.shape == "sphere" else LAW.friction)
            space.add(solid, square)
            solids[body.id] = solid
            names[id(square)] = body.id
        contacts: dict[tuple[int, int], int] = {}
        now = [0]

        def met(arbiter: pymunk.Arbiter, _space: pymunk.Space, _data: object) -> None:
            a, b = sorted(names[id(shape)] for shape in arbiter.shapes)
            contacts.setdefault((a, b), now[0])

        space.on_collision(post_solve=met)
        for frame, step in product(range(frames), range(LAW.substeps)):
            now[0] = frame + (step >= LAW.stamp)
            space.step(LAW.step)
        final = [
            Body(b.id, b.shape, *solids[b.id].position, *solids[b.id].velocity, mass=b.mass) for b in start
        ]
        return sorted((frame, a, b) for (a, b), frame in contacts.items()), final

    return run


def _slowed(friction: float) -> Callable[..., None]:
    def update(body: Any, _gravity: Any, _damping: float, step: float) -> None:
        if speed := body.velocity.length:
            lost = step * (friction / speed + LAW.drag * (1 + speed))
            body.velocity = body.velocity * max(0.0, 1 - lost)
        if rate := abs(body.angular_velocity):
            lost = step * ((LAW.turning if friction else 0.0) / rate + LAW.drag * (1 + rate))
            body.angular_velocity *= max(0.0, 1 - lost)

    return update


def impact_errors(engine: Engine, seen: Sequence[Impact]) -> list[float]:
    """Of each impact: mean distance of the two bodies' velocities from the recorded ones, three frames after
    (units/s).
    """
    errors: list[float] = []
    for impact in seen:
        a, b = impact.collision.object_ids
        first, last = (
            impact.collision.frame_id - 3,
            min(impact.collision.frame_id + 3, len(impact.annotation.motion_trajectory) - 1),
        )
        start = [
            body for body in bodies(impact.annotation, first, {a: impact.ratio, b: 1.0}) if body.id in (a, b)
        ]
        truth = {body.id: body for body in bodies(impact.annotation, last)}
        errors.append(
            fmean(
                math.hypot(e.vx - truth[e.id].vx, e.vy - truth[e.id].vy)
                for e in engine(start, last - first)[1]
            )
        )
    return errors


def candidates() -> Iterator[tuple[str, list[tuple[str, Engine]]]]:
    """Engines by name, each with its grid."""
    yield "planar (this package)", [("calibrated", planar)]
    client = bullet.connect(bullet.DIRECT)
    grid = list(product((0.36, 0.5, 0.6, 0.7, 0.8), (0.2, 0.2006, 0.2012)))
    for hull, name in ((False, "Bullet, primitives"), (True, "Bullet, convex hulls")):
        yield (
            name,
            [
                (f"e {e}, radius {r}", bullet_engine(client, hull=hull, restitution=e, radius=r))
                for e, r in grid
            ],
        )
    try:
        yield (
            "pymunk",
            [
                (f"e {e}, radius {r}", pymunk_engine(elasticity=e, radius=r))
                for e, r in product((0.1, 0.2, 0.3, 0.4, 0.5), (0.2, 0.2012))
            ],
        )
    except ImportError:
        return


def main() -> int:
    """Prints a row an engine."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("annotations", type=Path)
    films = read_annotations(parser.parse_args().annotations)
    seen = impacts(films, LAW)
    sys.stdout.write(
        "| engine | constants | impact error: mean | median | pairs found "
        "| within 3 frames | extra | ms a scene |\n" + "|---" * 8 + "|\n"
    )
    for name, grid in candidates():
        tried = [(impact_errors(engine, seen), label, engine) for label, engine in grid]
        errors, label, engine = min(tried, key=lambda row: fmean(row[0]))
        matched = close = extra = true = 0
        began = time.perf_counter()
        for film in films:
            recorded = {(min(c.object_ids), max(c.object_ids)): c.frame_id for c in film.collision}
            simulated = {(a, b): frame for frame, a, b in engine(bodies(film, 0, masses(film)), 127)[0]}
            both = recorded.keys() & simulated.keys()
            true, matched, extra = (
                true + len(recorded),
                matched + len(both),
                extra + len(simulated) - len(both),
            )
            close += sum(abs(recorded[pair] - simulated[pair]) <= 3 for pair in both)
        spent = (time.perf_counter() - began) / len(films) * 1000
        sys.stdout.write(
            f"| {name} | {label} | {fmean(errors):.3f} | {median(errors):.3f} "
            f"| {matched} of {true} | {close} | {extra} | {spent:.1f} |\n"
        )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
