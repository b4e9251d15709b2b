"""Examples like ComPhy's: objects with hidden properties, a target video, and four reference videos of some
objects.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, pairwise
from random import Random

import msgspec

from substrate.domains.clevrer.format import (
    COLORS,
    FRAMES,
    MATERIALS,
    RADIUS,
    SHAPES,
    Frame,
    ObjectProperty,
    Shape,
)
from substrate.domains.comphy.format import REFERENCES
from substrate.generators.clevrer.physics import LENGTH, Body, Contacts, Pose, Poses, Run, travel
from substrate.generators.clevrer.plan import draw
from substrate.generators.comphy.physics import Solid, simulate

Pair = tuple[int, int]

REFERENCE_FRAMES = 50
# Weights, in per cent; the release's are not known. A video has at most two charged objects, as in the
# release, since a lone charge shows nothing.
_OBJECTS = {3: 30, 4: 40, 5: 30}
_HEAVY = {0: 20, 1: 50, 2: 30}
_CHARGES: Mapping[tuple[int, ...], float] = {(): 40, (1, 1): 15, (-1, -1): 15, (1, -1): 30}
_MOVING = {1: 20, 2: 50, 3: 30}
_MOST = 5
"""Most collisions in a target video; the least is one."""
_SPEED = (1.8, 3.0)
_SPECTATOR = 0.3
"""Probability that a third object takes part in a reference video."""

_REST_X = (-2.5, 1.0)
_REST_Y = (-1.5, 1.5)
_ARRIVAL = (15, 110)
_ARRIVAL_HIDDEN = (FRAMES, LENGTH - 10)
_REFERENCE_ARRIVAL = (10, 30)
_SPREAD = 0.2
_TRIES = 8
_GAP = 2 * math.sqrt(2) * RADIUS + 0.05
_CLOSE = 1.2
"""Distance of centres (units) at which two charges show their force without touching."""
_LONG = 12
"""Frames in view that a meeting must have around it, both sides together."""


class Hidden(msgspec.Struct, frozen=True):
    """An object's hidden properties, which no annotation states; only motion shows them."""

    object_id: int
    mass: int
    charge: int


@dataclass(frozen=True)
class Video:
    """The participants, in the order of the video's own object numbers, and the simulated motion."""

    members: tuple[int, ...]
    solids: tuple[Solid, ...]
    run: Run


@dataclass(frozen=True)
class Example:
    """A target video and its references; members are numbers of ``properties``."""

    properties: tuple[ObjectProperty, ...]
    hidden: tuple[Hidden, ...]
    target: Video
    references: tuple[Video, ...]


def example(scene_index: int, seed: int, *, future: bool) -> Example:
    """Sample the example of a seed; with ``future`` a new pair collides in the hidden seconds.

    The reference videos show enough: see :func:`_pairs`.
    """
    rng = Random(f"{seed}/{scene_index}/comphy/layout")
    properties = _properties(rng)
    hidden = _hidden(rng, len(properties))
    target = _target(rng, properties, hidden, future=future)
    references = tuple(_reference(rng, properties, hidden, pair) for pair in _pairs(rng, hidden))
    return Example(properties, hidden, target, references)


def _properties(rng: Random) -> tuple[ObjectProperty, ...]:
    size = draw(rng, _OBJECTS)
    looks: dict[tuple, None] = {}
    while len(looks) < size:
        looks[rng.choice(COLORS), rng.choice(MATERIALS), rng.choice(SHAPES)] = None
    return tuple(ObjectProperty(number, *look) for number, look in enumerate(looks))


def _hidden(rng: Random, size: int) -> tuple[Hidden, ...]:
    heavy = rng.sample(range(size), draw(rng, _HEAVY))
    charges = draw(rng, _CHARGES)
    charged = dict(zip(rng.sample(range(size), len(charges)), charges, strict=True))
    return tuple(Hidden(place, 5 if place in heavy else 1, charged.get(place, 0)) for place in range(size))


def _pairs(rng: Random, hidden: Sequence[Hidden]) -> list[Pair]:
    """The meetings of the reference videos.

    They include a tree over all objects, so that all masses can be compared, with the charged pair as a
    branch; the rest is random.
    """
    charged = tuple(number for number, traits in enumerate(hidden) if traits.charge)
    joined = list(charged) or [rng.randrange(len(hidden))]
    pairs: list[Pair] = [(charged[0], charged[1])] if charged else []
    for number in rng.sample(range(len(hidden)), len(hidden)):
        if number not in joined:
            pairs.append((rng.choice(joined), number))
            joined.append(number)
    rest = list(combinations(range(len(hidden)), 2))
    pairs += (rng.choice(rest) for _ in range(REFERENCES - len(pairs)))
    return rng.sample(pairs, REFERENCES)


def _target(
    rng: Random, properties: Sequence[ObjectProperty], hidden: Sequence[Hidden], *, future: bool
) -> Video:
    while True:
        solids, run = _staged(rng, properties, hidden, future=future)
        if run is not None and any(c.frame_id < FRAMES for c in run.contacts) and _shows_well(run):
            return Video(tuple(range(len(properties))), solids, run)


def _staged(
    rng: Random, properties: Sequence[ObjectProperty], hidden: Sequence[Hidden], *, future: bool
) -> tuple[tuple[Solid, ...], Run | None]:
    """Add moving objects one by one, each aimed at a later place of another.

    With ``future`` the last one is to hit something after the video.
    """
    moving = max(draw(rng, _MOVING), 2 if future else 1)
    bodies = [_resting(rng, number, properties[number].shape) for number in range(moving, len(properties))]
    if not _apart(bodies):
        return (), None
    run = None
    for number in range(moving):
        late = future and number == moving - 1
        # Simulate no further than the next object may look for a place: the rest will change.
        latest = _ARRIVAL_HIDDEN[1] + 1 if future and number == moving - 2 else FRAMES
        length = latest if number < moving - 1 else LENGTH
        for _ in range(_TRIES):
            arrival = rng.randint(*(_ARRIVAL_HIDDEN if late else _ARRIVAL))
            body = _launched(rng, number, properties[number].shape, _aim(rng, bodies, run, arrival), arrival)
            if not _apart([*bodies, body]):
                continue
            trial = simulate(_solids([*bodies, body], hidden), length, stop=_crowded)
            # A crowded trial ends early; a late object must hit something after the video
            if len(trial.poses) == length and (
                not late or (trial.contacts and trial.contacts[-1].frame_id >= FRAMES)
            ):
                bodies, run = [*bodies, body], trial
                break
        else:
            return (), None
    return _solids(bodies, hidden), run


def _aim(rng: Random, bodies: Sequence[Body], run: Run | None, arrival: int) -> tuple[float, float]:
    """A random body's place at a frame; a random place if there is no body yet."""
    if not bodies:
        return _uniform(rng, _REST_X), _uniform(rng, _REST_Y)
    if run is None:
        return rng.choice(bodies).location
    x, y, _ = run.poses[arrival][rng.choice(bodies).object_id].location
    return x, y


def _crowded(poses: Poses, contacts: Contacts) -> bool:
    """Tell whether a target has too many collisions in the video, so that the simulation can stop."""
    return len(poses) <= FRAMES and len(contacts) > _MOST


def _shows_well(run: Run) -> bool:
    """Tell whether a video shows well: every object is seen, enters and leaves at most once, and stays
    upright, and every collision of the video is in view.
    """
    video = run.frames[:FRAMES]
    for column in zip(*(frame.objects for frame in video), strict=True):
        views = [state.inside_camera_view for state in column]
        flips = [now for then, now in pairwise(views) if then != now]
        if len(flips) != len(set(flips)) or not any(views):  # it enters or leaves twice, or is never seen
            return False
        if any(abs(state.location[2] - RADIUS) > 0.05 for state in column):
            return False
    return all(_in_view(video[c.frame_id], c.object_ids) for c in run.contacts if c.frame_id < FRAMES)


def _reference(
    rng: Random, properties: Sequence[ObjectProperty], hidden: Sequence[Hidden], pair: Pair
) -> Video:
    others = [number for number in range(len(properties)) if number not in pair]
    members = [*pair, *(rng.sample(others, 1) if others and rng.random() < _SPECTATOR else ())]
    rng.shuffle(members)
    while True:
        first, second = rng.sample(pair, 2)
        bodies = [_resting(rng, number, properties[number].shape) for number in members if number != second]
        aim = next(body.location for body in bodies if body.object_id == first)
        bodies.append(_launched(rng, second, properties[second].shape, aim, rng.randint(*_REFERENCE_ARRIVAL)))
        if not _apart(bodies):
            continue
        ordered = sorted(_solids(bodies, hidden), key=lambda solid: members.index(solid.body.object_id))
        solids = tuple(
            replace(solid, body=replace(solid.body, object_id=place)) for place, solid in enumerate(ordered)
        )
        run = simulate(solids, REFERENCE_FRAMES)
        places = members.index(first), members.index(second)
        if _meets(run, places, force=bool(hidden[first].charge and hidden[second].charge)):
            return Video(tuple(members), solids, run)


def _meets(run: Run, pair: Pair, *, force: bool) -> bool:
    """Tell whether the pair touches, or two charges come close, in view and with enough video around it."""
    a, b = sorted(pair)
    seen = [number for number, frame in enumerate(run.frames) if _in_view(frame, (a, b))]
    touch = [c.frame_id for c in run.contacts if tuple(sorted(c.object_ids)) == (a, b)]
    near = [frame for frame in seen if force and _distance(run.poses[frame], a, b) < _CLOSE]
    around = [frame for frame in seen if touch and abs(frame - touch[0]) <= _LONG // 2]
    return len(around) >= _LONG or (len(near) >= _LONG and not touch)


def _distance(poses: Mapping[int, Pose], a: int, b: int) -> float:
    return math.dist(poses[a].location[:2], poses[b].location[:2])


def _solids(bodies: Sequence[Body], hidden: Sequence[Hidden]) -> tuple[Solid, ...]:
    return tuple(
        Solid(body, hidden[body.object_id].mass, hidden[body.object_id].charge)
        for body in sorted(bodies, key=lambda body: body.object_id)
    )


def _resting(rng: Random, number: int, shape: Shape) -> Body:
    return Body(number, shape, (_uniform(rng, _REST_X), _uniform(rng, _REST_Y)), _yaw(rng, shape), (0.0, 0.0))


def _launched(rng: Random, number: int, shape: Shape, aim: tuple[float, float], arrival: int) -> Body:
    """A body that comes near ``aim`` at frame ``arrival`` if nothing is in its way or pulls it."""
    speed, heading = rng.uniform(*_SPEED), rng.uniform(0, 2 * math.pi)
    distance = travel(shape, speed, arrival)
    x, y = (place + rng.uniform(-_SPREAD, _SPREAD) for place in aim)
    velocity = round(speed * math.cos(heading), 4), round(speed * math.sin(heading), 4)
    start = round(x - distance * math.cos(heading), 4), round(y - distance * math.sin(heading), 4)
    return Body(number, shape, start, _yaw(rng, shape), velocity)


def _yaw(rng: Random, shape: Shape) -> float:
    return _uniform(rng, (0, math.pi / 2)) if shape == "cube" else 0.0


def _apart(bodies: Sequence[Body]) -> bool:
    return all(math.dist(a.location, b.location) > _GAP for a, b in combinations(bodies, 2))


def _uniform(rng: Random, bounds: tuple[float, float]) -> float:
    return round(rng.uniform(*bounds), 4)


def _in_view(frame: Frame, objects: Sequence[int]) -> bool:
    return all(state.inside_camera_view for state in frame.objects if state.object_id in objects)
