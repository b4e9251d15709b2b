"""Estimates of how official scenes were made: every constant of :mod:`substrate.generators.clevrer.measured`.

It reads only events and motion: no question, no answer, no interpreter.
``python -m research.measurements.clevrer_worlds`` runs it and writes the file.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from statistics import fmean, quantiles

from msgspec.structs import replace

from research.measurements.clevrer_statistics import Clip, launched
from substrate.domains.clevrer.format import SHAPES, Annotation, Collision, MotionState, Shape, Vector
from substrate.generators.clevrer.events import WorldEvent
from substrate.generators.clevrer.measured import Measured
from substrate.generators.clevrer.physics import slide
from substrate.generators.clevrer.plan import BIN

_ACTORS = 4
"""The number of actors: objects with this number or a higher one collide in none of 15,000 scenes."""
_WINDOW = 6
"""A collision is alone if neither body has another within this many frames."""
_ENOUGH = 20
"""The fewest generated scenes that determine a share."""


def measure(recorded: Sequence[Clip], tracked: Sequence[Clip], annotations: Sequence[Annotation]) -> Measured:
    """All constants, from clips of event records, clips with paths, and full annotations."""
    places = [
        clip.paths[name][0][1:]
        for clip in tracked
        for name in range(_ACTORS, len(clip.objects))
        if clip.paths.get(name)
    ]
    squares = (math.log(ratio) ** 2 for annotation in annotations for ratio in mass_ratios(annotation))
    return Measured(
        objects=_counts(len(clip.objects) for clip in recorded),
        shapes={
            shape: sum(thing.shape == shape for clip in recorded for thing in clip.objects)
            for shape in SHAPES
        },
        casts=_common(cast(clip) for clip in tracked if clip.of_type("collision")),
        first=_counts(
            _bin(clip.of_type("collision")[0].frame) for clip in recorded if clip.of_type("collision")
        ),
        gaps=_gaps(tracked),
        speed=_speeds(annotations),
        ring=_bounds([math.hypot(*start) for clip in tracked for start in _opening(clip)]),
        rest_x=_bounds([place[0] for place in places]),
        rest_y=_bounds([place[1] for place in places]),
        apart=_bounds([distance for clip in tracked for distance in _least_distance(clip)])[0],
        offset=round(2 * fmean(miss for clip in tracked for miss in _miss(clip)), 2),
        mass=round(math.sqrt(fmean(squares) / 2), 2),
        kept_collisions={},
        kept_exits={},
    )


def select(measured: Measured, recorded: Sequence[Clip], generated: Sequence[Clip]) -> Measured:
    """The constants with the shares of scenes to keep, so that kept scenes have the official numbers of
    collisions and exits.

    Args:
        measured: with the shares in force when the scenes were generated.
        recorded: clips of event records.
        generated: clips of generated scenes.
    """
    collisions, exits = (
        [Counter(len(clip.of_type(kind)) for clip in clips) for clips in (recorded, generated)]
        for kind in ("collision", "out")
    )
    kept_collisions = _kept(measured.kept_collisions, *collisions)
    return replace(measured, kept_collisions=kept_collisions, kept_exits=_kept(measured.kept_exits, *exits))


def _kept(before: Mapping[int, float], wanted: Counter[int], generated: Counter[int]) -> dict[int, float]:
    """The share to keep, by number of events: the old share times wanted over generated scenes, at most 1."""
    ratio = {
        number: before.get(number, 1.0) * wanted[number] / count
        for number, count in sorted(generated.items())
        if count >= _ENOUGH
    }
    return {number: round(share / max(ratio.values()), 2) for number, share in ratio.items()}


def cast(clip: Clip) -> str:
    """The actors in order: L launched, R at rest; a small letter for a third or fourth one that touches
    nothing in the video.

    >>> from substrate.domains.clevrer.format import CompactObject
    >>> things = tuple(CompactObject("red", "metal", "cube", number) for number in range(5))
    >>> parts = [("in", (0,), 9), ("collision", (0, 1), 30), ("in", (3,), 90)]
    >>> cast(Clip(things, tuple(WorldEvent(*part) for part in parts), {}))
    'LRrl'
    """
    started = launched(clip)
    letters = [("R", "L")[number in started] for number in range(min(_ACTORS, len(clip.objects)))]
    return "".join(
        letter if number < 2 or _hits(clip, number) else letter.lower()
        for number, letter in enumerate(letters)
    )


def mass_ratios(annotation: Annotation) -> Iterator[float]:
    """The mass of the first in units of the second's, for every collision that is alone: the inverse ratio of
    what it adds to their velocities.
    """
    shapes: dict[int, Shape] = {thing.object_id: thing.shape for thing in annotation.object_property}
    for collision in annotation.collision:
        added = [
            _added(shapes[before.object_id], before.velocity, after.velocity)
            for before, after in _around(annotation, collision)
        ]
        if len(added) == 2:
            yield added[1] / added[0]


def _added(shape: Shape, before: Vector, after: Vector) -> float:
    """The change of velocity in two frames beyond what drag and friction take."""
    speed = math.hypot(*before[:2])
    left = slide(shape, speed, 2)[1] / speed if speed else 0.0
    return math.hypot(after[0] - left * before[0], after[1] - left * before[1])


def _around(annotation: Annotation, collision: Collision) -> Iterator[tuple[MotionState, MotionState]]:
    """Both bodies a frame before and a frame after; nothing where another collision is near."""
    near = [
        c
        for c in annotation.collision
        if set(c.object_ids) & set(collision.object_ids) and abs(c.frame_id - collision.frame_id) <= _WINDOW
    ]
    if len(near) == 1 and 0 < collision.frame_id < len(annotation.motion_trajectory) - 1:
        frames = [
            {
                state.object_id: state
                for state in annotation.motion_trajectory[collision.frame_id + step].objects
            }
            for step in (-1, 1)
        ]
        yield from ((frames[0][number], frames[1][number]) for number in collision.object_ids)


def _hits(clip: Clip, number: int) -> list[WorldEvent]:
    return [event for event in clip.of_type("collision") if number in event.objects]


def _gaps(clips: Sequence[Clip]) -> dict[str, dict[int, int]]:
    """Frames from the video's first collision to that of the third and fourth actor, by role and place."""
    counts: dict[str, Counter[int]] = {
        f"{role}{number}": Counter() for role in "LR" for number in range(2, _ACTORS)
    }
    for clip in clips:
        for number, role in enumerate(cast(clip)):
            if number > 1 and role.isupper():
                gap = _hits(clip, number)[0].frame - clip.of_type("collision")[0].frame
                counts[f"{role}{number}"][_bin(gap)] += 1
    return {name: dict(sorted(counted.items())) for name, counted in counts.items()}


def _speeds(annotations: Sequence[Annotation]) -> tuple[float, float]:
    """Slowest and fastest launch, to the tenth outside."""
    speeds = [
        speed
        for annotation in annotations
        for state in annotation.motion_trajectory[0].objects
        if (speed := math.hypot(*state.velocity[:2])) > 1
    ]
    return math.floor(10 * min(speeds)) / 10, math.ceil(10 * max(speeds)) / 10


def _opening(clip: Clip) -> Iterator[tuple[float, float]]:
    """The place where the first actor starts, if that is in view."""
    path = clip.paths.get(0, ())
    if path and path[0][0] == 0 and 0 in launched(clip):
        yield path[0][1:]


def _resting(clip: Clip) -> dict[int, tuple[float, float]]:
    return {
        name: path[0][1:]
        for name, path in clip.paths.items()
        if path and path[0][0] == 0 and name not in launched(clip)
    }


def _least_distance(clip: Clip) -> Iterator[float]:
    """The least distance of two objects at rest."""
    places = list(_resting(clip).values())
    if len(places) > 1:
        yield min(math.dist(a, b) for a, b in combinations(places, 2))


def _miss(clip: Clip) -> Iterator[float]:
    """The offset from its centre at which the first actor aims at a resting second: from the first two
    samples, before they meet.
    """
    path, target, met = clip.paths.get(0, ()), _resting(clip).get(1), _hits(clip, 1)
    aims = target and len(path) > 1 and 0 in launched(clip) and met and met[0].objects == (0, 1)
    if target and aims and path[1][0] < met[0].frame:
        (_, x, y), (_, x1, y1) = path[:2]
        yield abs((target[0] - x) * (y1 - y) - (target[1] - y) * (x1 - x)) / math.hypot(x1 - x, y1 - y)


def _bin(frame: int) -> int:
    return frame // BIN * BIN


def _counts(values: Iterable[int]) -> dict[int, int]:
    return dict(sorted(Counter(values).items()))


def _common(values: Iterable[str]) -> dict[str, int]:
    """The casts that a launched actor leads and that occur at least twice: others are a tracker's errors."""
    counted = Counter(values)
    return {
        value: count
        for value, count in sorted(counted.items(), key=lambda item: (-item[1], item[0]))
        if count > 1 and value[0] == "L"
    }


def _bounds(values: Sequence[float]) -> tuple[float, float]:
    """The bounds of a uniform distribution, from its first and last hundredth: the extremes are the
    tracker's errors.
    """
    hundredths = quantiles(values, n=100)
    margin = (hundredths[-1] - hundredths[0]) / 98
    return round(hundredths[0] - margin, 2), round(hundredths[-1] + margin, 2)
