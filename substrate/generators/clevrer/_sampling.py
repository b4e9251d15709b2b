"""Scenes like CLEVRER's: a plan's actors are placed or launched one by one, so that each first hit is on
time.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice, pairwise
from random import Random

from substrate.domains.clevrer.format import (
    COLORS,
    FRAMES,
    MATERIALS,
    RADIUS,
    Collision,
    Color,
    Material,
    ObjectProperty,
    Shape,
)
from substrate.generators.clevrer.measured import MEASURED
from substrate.generators.clevrer.physics import CAMERA, LENGTH, Body, Contacts, Poses, Run, simulate, slide
from substrate.generators.clevrer.plan import Actor, Plan, draw, draw_plan

_CLEARANCE = 3 * RADIUS
"""Least distance of a bystander from everything that passes (units)."""
_SLOW = 0.3
"""Speed below which an object does not drive into another (units/s)."""
_TOLERANCE = 5
"""Frames by which a collision may miss its plan."""
_STAGINGS = 40
"""Tries of a plan before a different one is drawn."""
_TRIES = 5
"""Candidates simulated per actor."""
_DRAWS = 40
"""Candidates drawn per object, simulated or not."""

Point = tuple[float, float]


@dataclass(frozen=True)
class Shot:
    """A sampled scene: attributes, bodies at frame 0 (both by object id) and the simulated motion."""

    properties: tuple[ObjectProperty, ...]
    bodies: tuple[Body, ...]
    run: Run


def shoot(scene_index: int, seed: int, *, future: bool) -> Shot:
    """The scene of a seed; new pairs collide in the hidden seconds exactly if ``future`` is true.

    A scene is kept if it goes as planned and shows well: every object is seen, enters and leaves at most
    once, and every collision is in view, even a hidden one. Of 1,100 objects of official scenes that were
    launched and not touched in the video, none leaves the view.
    """
    rng = Random(f"{seed}/{scene_index}/layout")
    while True:
        plan = draw_plan(rng)
        for _ in range(_STAGINGS if plan.has_hidden_hit == future else 0):
            properties = _properties(rng, len(plan.actors) + plan.bystanders)
            shapes: list[Shape] = [p.shape for p in properties]
            staged = _staged(rng, plan, shapes)
            if staged is None:
                continue
            run = staged[1]
            if future == any(c.frame_id >= FRAMES for c in run.contacts) and _kept(rng, run):
                return Shot(properties, *staged)


def _staged(rng: Random, plan: Plan, shapes: Sequence[Shape]) -> tuple[tuple[Body, ...], Run] | None:
    """Bodies at frame 0 by number and their run; ``None`` if there is no place for one of them."""
    bodies = [_opening(rng, shapes[0])]
    run = simulate(bodies, plan.actors[1].frame + 1)
    turns = sorted(plan.actors[1:], key=lambda actor: actor.frame)
    for actor, following in zip(turns, [*turns[1:], None], strict=True):
        # Simulate no further than the next actor's turn: the rest will change.
        length = max(actor.frame + _TOLERANCE, following.frame) + 1 if following else LENGTH
        for body in islice(_candidates(rng, actor, shapes[actor.object_id], bodies, run), _TRIES):
            trial = simulate([*bodies, body], length, stop=partial(_strays, actor))
            if len(trial.poses) == length and _shows_well(trial):
                bodies, run = [*bodies, body], trial
                break
        else:
            return None
    for number in range(len(plan.actors), len(shapes)):
        resting = _resting(rng, number, shapes[number])
        body = next((body for body in resting if _apart(body, bodies) and _clear(body, run)), None)
        if body is None:
            return None
        bodies.append(body)
    bodies.sort(key=lambda body: body.object_id)
    return tuple(bodies), simulate(bodies) if plan.bystanders else run


def _strays(actor: Actor, poses: Poses, contacts: Contacts) -> bool:
    """Tell whether an actor is hit too early, not in time or out of view, so that the simulation can stop."""
    frame = len(poses) - 1
    if any(c.frame_id == frame and not _in_view(poses, c) for c in contacts.values()):
        return True
    if frame > actor.frame + _TOLERANCE:
        return False
    hit = any(actor.object_id in pair for pair in contacts)
    if frame < max(actor.frame - _TOLERANCE, FRAMES if actor.hidden else 0):
        return hit
    return frame == actor.frame + _TOLERANCE and not hit


def _kept(rng: Random, run: Run) -> bool:
    """Draw whether to keep a scene, so that numbers of collisions and exits match the official scenes."""
    exits = sum(
        CAMERA.sees(before) and not CAMERA.sees(after)
        for number in run.poses[0]
        for before, after in pairwise(poses[number].location for poses in run.poses[:FRAMES])
    )
    collisions = sum(c.frame_id < FRAMES for c in run.contacts)
    return rng.random() < _share(MEASURED.kept_collisions, collisions) * _share(MEASURED.kept_exits, exits)


def _share(shares: Mapping[int, float], number: int) -> float:
    """The share of a number; a number beyond the known ones has the share of the largest."""
    return shares.get(min(number, max(shares, default=0)), 1.0)


def _opening(rng: Random, shape: Shape) -> Body:
    """The first actor, launched from the ring across the area where objects rest."""
    radius, angle = rng.uniform(*MEASURED.ring), rng.uniform(0, 2 * math.pi)
    x, y = radius * math.cos(angle), radius * math.sin(angle)
    heading = math.atan2(rng.uniform(*MEASURED.rest_y) - y, rng.uniform(*MEASURED.rest_x) - x)
    yaw, speed = _yaw(rng, shape), rng.uniform(*MEASURED.speed)
    return Body(0, shape, _point(x, y), yaw, _moved((0.0, 0.0), heading, speed), _mass(rng))


def _candidates(rng: Random, actor: Actor, shape: Shape, bodies: Sequence[Body], run: Run) -> Iterator[Body]:
    """Candidates for an actor: ways in which an earlier body hits it at its frame."""
    for _ in range(_DRAWS):
        pose = run.poses[actor.frame][rng.choice(bodies).object_id]
        (x, y, _), (vx, vy, _) = pose.location, pose.velocity
        if actor.launched:
            body = _launched(rng, actor, shape, (x, y), (vx, vy))
        elif math.hypot(vx, vy) > _SLOW:
            place = _beside(rng, (x, y), math.atan2(vy, vx))
            body = Body(actor.object_id, shape, place, _yaw(rng, shape), (0.0, 0.0), _mass(rng))
        else:
            continue
        if _apart(body, bodies) and (actor.launched or _in_place(body.location)):
            yield body


def _launched(rng: Random, actor: Actor, shape: Shape, target: Point, velocity: Point) -> Body:
    """A body that reaches a moving target at its frame if its way is free."""
    start, heading = rng.uniform(*MEASURED.speed), rng.uniform(0, 2 * math.pi)
    distance, speed = slide(shape, start, actor.frame)
    towards = math.atan2(velocity[1] - speed * math.sin(heading), velocity[0] - speed * math.cos(heading))
    place = _moved(_beside(rng, target, towards), heading, -distance)
    velocity = _moved((0.0, 0.0), heading, start)
    return Body(actor.object_id, shape, place, _yaw(rng, shape), velocity, _mass(rng))


def _beside(rng: Random, point: Point, direction: float) -> Point:
    """A place where a body touches the body at ``point``, on the side of ``direction``.

    It is about as far off-centre as in official collisions.
    """
    offset = rng.uniform(-MEASURED.offset, MEASURED.offset)
    return _moved(point, direction + math.asin(offset / (2 * RADIUS)), 2 * RADIUS)


def _resting(rng: Random, number: int, shape: Shape) -> Iterator[Body]:
    for _ in range(_DRAWS):
        place = _point(rng.uniform(*MEASURED.rest_x), rng.uniform(*MEASURED.rest_y))
        yield Body(number, shape, place, _yaw(rng, shape), (0.0, 0.0), _mass(rng))


def _yaw(rng: Random, shape: Shape) -> float:
    return round(rng.uniform(0, math.pi / 2), 4) if shape == "cube" else 0.0


def _mass(rng: Random) -> float:
    return round(math.exp(rng.gauss(0, MEASURED.mass)), 4)


def _apart(body: Body, others: Sequence[Body]) -> bool:
    return all(math.dist(body.location, other.location) > MEASURED.apart for other in others)


def _in_place(location: Point) -> bool:
    (left, right), (low, high) = MEASURED.rest_x, MEASURED.rest_y
    return left < location[0] < right and low < location[1] < high


def _clear(body: Body, run: Run) -> bool:
    passing = (pose.location[:2] for poses in run.poses for pose in poses.values())
    return all(math.dist(body.location, place) > _CLEARANCE for place in passing)


def _properties(rng: Random, size: int) -> tuple[ObjectProperty, ...]:
    looks: dict[tuple[Color, Material, Shape], None] = {}
    while len(looks) < size:
        looks[rng.choice(COLORS), rng.choice(MATERIALS), draw(rng, MEASURED.shapes)] = None
    return tuple(ObjectProperty(number, *look) for number, look in enumerate(looks))


def _moved(point: Point, heading: float, distance: float) -> Point:
    return _point(point[0] + distance * math.cos(heading), point[1] + distance * math.sin(heading))


def _point(x: float, y: float) -> Point:
    return round(x, 4), round(y, 4)


def _shows_well(run: Run) -> bool:
    views = {number: [CAMERA.sees(poses[number].location) for poses in run.poses] for number in run.poses[0]}
    crossings = [[now for then, now in pairwise(view[:FRAMES]) if then != now] for view in views.values()]
    seen = len(run.poses) < FRAMES or all(any(view[:FRAMES]) for view in views.values())
    return (
        seen
        and all(len(set(ways)) == len(ways) for ways in crossings)
        and all(_in_view(run.poses, contact) for contact in run.contacts)
    )


def _in_view(poses: Poses, contact: Collision) -> bool:
    return all(CAMERA.sees(poses[contact.frame_id][number].location) for number in contact.object_ids)
