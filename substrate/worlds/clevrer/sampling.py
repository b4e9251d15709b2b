"""Scenes like CLEVRER's: how many objects, where they rest, how they enter and whom they hit."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations, pairwise
from random import Random
from typing import TypeVar

from substrate.domains.clevrer.format import COLORS, FRAMES, MATERIALS, RADIUS, Color, Frame, Material, ObjectProperty, Shape
from substrate.worlds.clevrer.physics import CAMERA, HIDDEN_FRAMES, Body, Run, simulate, travel

T = TypeVar("T")

# Shares in the official training scenes, per cent.
_COLLISIONS = {1: 6, 2: 49, 3: 40, 4: 5}
_OBJECTS = {4: 36, 5: 34, 6: 30}
_MOVING = {2: 38, 3: 62}
_SHAPES: Mapping[Shape, float] = {"cube": 30.5, "sphere": 34.7, "cylinder": 34.8}

_REST_X = (-2.5, 1.2)
_REST_Y = (-1.6, 1.6)
_SPEED = (2.7, 3.0)
_OUTSIDE = 0.68
"""Probability that a moving object starts outside the view."""
# Lowest, highest and most common frame at which the first, second and third moving object reaches its target.
_ARRIVAL = ((18, 68, 38), (26, 145, 60), (34, 155, 80))
_ARRIVAL_HIDDEN = (FRAMES, FRAMES + HIDDEN_FRAMES - 10)
_AIM = 0.85
"""Probability that a later moving object is aimed at another one; else it crosses a random point."""
_AIM_SPREAD = 0.2
_GAP = 2 * math.sqrt(2) * RADIUS + 0.05
"""Least distance of two centres at frame 0: cubes do not overlap whatever their yaw."""
_TRIES = 8


@dataclass(frozen=True)
class Shot:
    """A sampled scene: attributes, bodies at frame 0 (both by object id) and the simulated motion."""

    properties: tuple[ObjectProperty, ...]
    bodies: tuple[Body, ...]
    run: Run


def shoot(scene_index: int, seed: int, *, future: bool) -> Shot:
    """The scene of a seed; with ``future`` at least one new pair collides in the hidden seconds.

    Moving objects are added one by one, each aimed at where another will be in the motion so far.
    Candidates are drawn until one has the drawn number of collisions and shows well: every object
    is seen, enters and leaves at most once, and every collision of the video is in view.
    """
    rng = Random(f"{seed}/{scene_index}/layout")
    wanted = _draw(rng, _COLLISIONS)
    while True:
        properties = _properties(rng)
        shapes: list[Shape] = [p.shape for p in properties]
        shot = _staged(rng, shapes, _draw(rng, _MOVING), wanted, future=future)
        if shot is not None and _shows_well(shot[1]):
            return Shot(properties, *shot)


def _staged(rng: Random, shapes: Sequence[Shape], moving: int, wanted: int, *, future: bool) -> tuple[tuple[Body, ...], Run] | None:
    """Bodies at frame 0, the moving ones first, with ``wanted`` collisions in the video; None where no try succeeds.

    With ``future`` the last moving body is there to hit something after the video.
    """
    bodies = [_resting(rng, number, shapes[number]) for number in range(moving, len(shapes))]
    if not _apart(bodies):
        return None
    run = None
    for number in range(moving):
        hidden = future and number == moving - 1
        left = max(0, moving - future - 1 - number)
        least = min(number + 1, wanted) if left else wanted
        for _ in range(_TRIES):
            arrival = round(rng.uniform(*_ARRIVAL_HIDDEN) if hidden else rng.triangular(*_ARRIVAL[number]))
            body = _launched(rng, number, shapes[number], _target(rng, bodies, run, arrival), arrival)
            if not _apart([*bodies, body]):
                continue
            found = simulate([*bodies, body], stop=partial(_strays, least, wanted))
            if len(found.poses) == FRAMES + HIDDEN_FRAMES and (not hidden or len(found.contacts) > wanted):
                bodies, run = [*bodies, body], found
                break
        else:
            return None
    return None if run is None else (tuple(sorted(bodies, key=lambda body: body.object_id)), run)


def _strays(least: int, most: int, frame: int, contacts: int) -> bool:
    """Whether a run has too many collisions in the video, or too few at its end: no need to simulate on."""
    return frame < FRAMES and (contacts > most or (frame == FRAMES - 1 and contacts < least))


def _draw(rng: Random, shares: Mapping[T, float]) -> T:
    return rng.choices(list(shares), list(shares.values()))[0]


def _uniform(rng: Random, bounds: tuple[float, float]) -> float:
    return round(rng.uniform(*bounds), 4)


def _yaw(rng: Random, shape: Shape) -> float:
    return _uniform(rng, (0, math.pi / 2)) if shape == "cube" else 0.0


def _apart(bodies: Sequence[Body]) -> bool:
    return all(math.dist(a.location, b.location) > _GAP for a, b in combinations(bodies, 2))


def _properties(rng: Random) -> tuple[ObjectProperty, ...]:
    size = _draw(rng, _OBJECTS)
    looks: dict[tuple[Color, Material, Shape], None] = {}
    while len(looks) < size:
        looks[rng.choice(COLORS), rng.choice(MATERIALS), _draw(rng, _SHAPES)] = None
    return tuple(ObjectProperty(number, *look) for number, look in enumerate(looks))


def _target(rng: Random, bodies: Sequence[Body], run: Run | None, arrival: int) -> tuple[float, float]:
    """Near where a body will be at frame ``arrival``, rather one that has been hit; or a random point."""
    if run is None:
        x, y = rng.choice(bodies).location
    elif rng.random() < _AIM:
        hit = sorted({number for contact in run.contacts for number in contact.object_ids})
        poses = run.poses[arrival]
        x, y, _ = poses[rng.choice([*hit, *poses])][0]
    else:
        return rng.uniform(*_REST_X), rng.uniform(*_REST_Y)
    return x + rng.uniform(-_AIM_SPREAD, _AIM_SPREAD), y + rng.uniform(-_AIM_SPREAD, _AIM_SPREAD)


def _resting(rng: Random, number: int, shape: Shape) -> Body:
    return Body(number, shape, (_uniform(rng, _REST_X), _uniform(rng, _REST_Y)), _yaw(rng, shape), (0.0, 0.0))


def _launched(rng: Random, number: int, shape: Shape, target: tuple[float, float], arrival: int) -> Body:
    """A body that would reach ``target`` at frame ``arrival`` if nothing stood in its way."""
    outside = rng.random() < _OUTSIDE
    speed = rng.uniform(*_SPEED)
    distance = travel(shape, speed, arrival)
    headings = [rng.uniform(0, 2 * math.pi) for _ in range(_TRIES)]
    heading = next((h for h in headings if CAMERA.sees((*_moved(target, h, -distance), RADIUS)) != outside), headings[0])
    return Body(number, shape, _moved(target, heading, -distance), _yaw(rng, shape), _moved((0.0, 0.0), heading, speed))


def _moved(point: tuple[float, float], heading: float, distance: float) -> tuple[float, float]:
    return round(point[0] + distance * math.cos(heading), 4), round(point[1] + distance * math.sin(heading), 4)


def _flips(run: Run) -> list[list[bool]]:
    """Each object's changes of visibility in the video, True for an entry."""
    columns = zip(*(frame.objects for frame in run.frames[:FRAMES]), strict=True)
    return [[b.inside_camera_view for a, b in pairwise(column) if a.inside_camera_view != b.inside_camera_view] for column in columns]


def _shows_well(run: Run) -> bool:
    video = run.frames[:FRAMES]
    seen = all(flips or state.inside_camera_view for flips, state in zip(_flips(run), video[0].objects, strict=True))
    once = all(len(flips) == len(set(flips)) for flips in _flips(run))
    return seen and once and all(_in_view(video[c.frame_id], c.object_ids) for c in run.contacts if c.frame_id < FRAMES)


def _in_view(frame: Frame, objects: Sequence[int]) -> bool:
    return all(state.inside_camera_view for state in frame.objects if state.object_id in objects)
