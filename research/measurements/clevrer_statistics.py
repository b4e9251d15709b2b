"""Statistics of CLEVRER scenes, real or generated: histograms of events and motion, and the distance between
two sets of scenes.

A :class:`Clip` has the parts of a video that are counted. It is made from an official annotation, or from a
compact event record with or without tracked positions. Motion is sampled every :data:`INTERVAL` frames and in
view only, since trackers give no more.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any, Literal

import msgspec
import numpy as np

from substrate.domains.clevrer import format
from substrate.generators.clevrer.events import EventType, WorldEvent, observed_events

INTERVAL = 5
"""Frames between two samples of a path."""
_SEAMS = frozenset((85, 105))
"""Samples after which the released trajectories begin another fit (docs/design/foretelling.md): the speed
across them is no motion.
"""
_MOVING = 0.2
"""Speed between two samples from which an object moves (units/s): above the noise of trackers."""
_LAUNCHED = 1.0
"""Speed at frame 0 that only an object set in motion has; slower ones are noise at rest."""

Samples = Sequence[tuple[int, float, float]]
"""The sampled path of an object: frame, x and y (units), frames ascending."""
Value = float | str


class Clip(msgspec.Struct, frozen=True):
    """A video's objects, its events in time order, and by object its sampled path while in view; no paths
    where motion is unknown.
    """

    objects: tuple[format.CompactObject, ...]
    events: tuple[WorldEvent, ...]
    paths: Mapping[int, Samples]

    def of_type(self, kind: EventType) -> list[WorldEvent]:
        """The events of one type, in time order."""
        return [event for event in self.events if event.type == kind]


def annotated(annotation: format.Annotation) -> Clip:
    """The clip of an official annotation."""
    frames = annotation.motion_trajectory[::INTERVAL]
    paths = {
        thing.object_id: [
            (frame.frame_id, *state.location[:2])
            for frame in frames
            for state in frame.objects
            if state.object_id == thing.object_id and state.inside_camera_view
        ]
        for thing in annotation.object_property
    }
    return Clip(
        tuple(
            format.CompactObject(o.color, o.material, o.shape, o.object_id)
            for o in annotation.object_property
        ),
        tuple(observed_events(annotation)),
        paths,
    )


def recorded(record: format.SceneEvents, paths: Mapping[int, Samples] | None = None) -> Clip:
    """The clip of a compact event record, with the paths of its objects where they were tracked; points after
    the video are left out.
    """
    crossings = [
        WorldEvent(e.type, (e.object if isinstance(e.object, int) else e.object[0],), e.frame)
        for e in record.in_outs
    ]
    collisions = [WorldEvent("collision", (min(c.object), max(c.object)), c.frame) for c in record.collisions]
    events = sorted([*crossings, *collisions], key=lambda event: (event.frame, event.type, event.objects))
    return Clip(
        tuple(record.objects),
        tuple(events),
        {
            name: [point for point in path if point[0] < format.FRAMES]
            for name, path in sorted((paths or {}).items())
        },
    )


@dataclass(frozen=True)
class Histogram:
    """A statistic: the values a clip adds to it, and the bins they are counted in.

    Attributes:
        title: what is counted, with its unit.
        values: the values of one clip.
        bins: the lower bounds of the bins, or the categories themselves.
        moving: whether it needs paths.
    """

    title: str
    values: Callable[[Clip], Iterable[Value]]
    bins: tuple[Value, ...]
    moving: bool = False

    def collect(self, clips: Iterable[Clip]) -> list[Value]:
        """The values of all clips; of those without paths, none if the statistic needs paths."""
        return [value for clip in clips if clip.paths or not self.moving for value in self.values(clip)]

    def shares(self, values: Iterable[Value]) -> list[float]:
        """The share of the values in each bin; a value outside all bins counts in the nearest one."""
        bounds: Sequence[Any] = self.bins
        counted = Counter(
            bounds.index(value) if isinstance(value, str) else max(0, bisect_right(bounds, value) - 1)
            for value in values
        )
        return [counted[place] / (counted.total() or 1) for place in range(len(bounds))]


class Distance(msgspec.Struct, frozen=True):
    """The distance of two sets of scenes in a statistic.

    Attributes:
        total_variation: half the sum of the differences of shares: 0 the same, 1 nothing in common.
        kolmogorov_smirnov: the largest difference of the two distribution functions; None for categories.
    """

    total_variation: float
    kolmogorov_smirnov: float | None


def collected(clips: Sequence[Clip]) -> dict[str, list[Value]]:
    """The values of a set of scenes in every statistic."""
    return {name: histogram.collect(clips) for name, histogram in HISTOGRAMS.items()}


def distances(ones: dict[str, list[Value]], others: dict[str, list[Value]]) -> dict[str, Distance]:
    """The distance of two sets of scenes, each as collected, in every statistic that both can show.

    >>> clip = Clip((), (WorldEvent("collision", (0, 1), 30),), {})
    >>> distances(collected([clip]), collected([clip]))["collisions"]
    Distance(total_variation=0.0, kolmogorov_smirnov=0.0)
    """
    by_statistic: dict[str, Distance] = {}
    for name, histogram in HISTOGRAMS.items():
        left, right = ones[name], others[name]
        if left and right:
            pairs = zip(histogram.shares(left), histogram.shares(right), strict=True)
            smirnov = None if isinstance(left[0], str) else _kolmogorov_smirnov(left, right)
            by_statistic[name] = Distance(sum(abs(a - b) for a, b in pairs) / 2, smirnov)
    return by_statistic


def _kolmogorov_smirnov(left: Sequence[Value], right: Sequence[Value]) -> float:
    # scipy's ks_2samp gives the same, but with a p-value that warns on small samples.
    ones, others = (np.sort(np.array(values, dtype=float)) for values in (left, right))
    pooled = np.concatenate([ones, others])
    below = (np.searchsorted(values, pooled, "right") / len(values) for values in (ones, others))
    return float(np.abs(np.subtract(*below)).max())


def launched(clip: Clip) -> set[int]:
    """Objects set in motion by the generator and not by a blow: those that come into view, and those that are
    fast at frame 0.
    """
    fast = {
        name
        for name, path in clip.paths.items()
        for frame, speed in _speeds(path)
        if frame == 0 and speed > _LAUNCHED
    }
    return fast | {event.objects[0] for event in clip.of_type("in")}


def _speeds(path: Samples) -> Iterator[tuple[int, float]]:
    """Frame and mean speed (units/s) of every interval between two samples, but for those across a seam."""
    for (frame, *here), (after, *there) in pairwise(path):
        if after - frame == INTERVAL and frame not in _SEAMS:
            yield frame, math.dist(here, there) / (INTERVAL * format.SECONDS_PER_FRAME)


def _count(kind: EventType) -> Callable[[Clip], Iterable[Value]]:
    return lambda clip: [len(clip.of_type(kind))]


def _frames(kind: EventType) -> Callable[[Clip], Iterable[Value]]:
    return lambda clip: [event.frame for event in clip.of_type(kind)]


def _look(attribute: Literal["color", "material", "shape"]) -> Callable[[Clip], Iterable[Value]]:
    return lambda clip: [getattr(thing, attribute) for thing in clip.objects]


def _first_collision(clip: Clip) -> Iterable[Value]:
    return [event.frame for event in clip.of_type("collision")[:1]]


def _between_collisions(clip: Clip) -> Iterable[Value]:
    return [after.frame - before.frame for before, after in pairwise(clip.of_type("collision"))]


def _collisions_of_objects(clip: Clip) -> Iterable[Value]:
    return [sum(thing.id in event.objects for event in clip.of_type("collision")) for thing in clip.objects]


def _launched(clip: Clip) -> Iterable[Value]:
    return [len(launched(clip))]


def _launched_untouched(clip: Clip) -> Iterable[Value]:
    return [len(launched(clip) - {number for event in clip.of_type("collision") for number in event.objects})]


def _moving_objects(clip: Clip) -> Iterable[Value]:
    return [sum(any(speed > _MOVING for _, speed in _speeds(path)) for path in clip.paths.values())]


def _moving_at(frame: int) -> Callable[[Clip], Iterable[Value]]:
    return lambda clip: [
        sum(speed > _MOVING for path in clip.paths.values() for at, speed in _speeds(path) if at == frame)
    ]


def _all_speeds(clip: Clip) -> Iterable[Value]:
    return [speed for path in clip.paths.values() for _, speed in _speeds(path) if speed > _MOVING]


def _start_speeds(clip: Clip) -> Iterable[Value]:
    speeds = (first for path in clip.paths.values() for first in _speeds(path))
    return [speed for frame, speed in speeds if frame == 0 and speed > _LAUNCHED]


def _entries(clip: Clip) -> Iterator[tuple[tuple[int, float, float], tuple[int, float, float]]]:
    """The first two samples of every object that comes into view."""
    for path in clip.paths.values():
        if (
            len(path) > 1
            and path[0][0] > 0
            and path[1][0] - path[0][0] == INTERVAL
            and path[0][0] not in _SEAMS
        ):
            yield path[0], path[1]


def _entry_speeds(clip: Clip) -> Iterable[Value]:
    return [math.dist(a[1:], b[1:]) / (INTERVAL * format.SECONDS_PER_FRAME) for a, b in _entries(clip)]


def _entry_headings(clip: Clip) -> Iterable[Value]:
    return [math.degrees(math.atan2(b[2] - a[2], b[1] - a[1])) % 360 for a, b in _entries(clip)]


def _speed_after(place: Literal[0, 1]) -> Callable[[Clip], Iterable[Value]]:
    """Speed of one of two objects after the video's first collision, in units of the first one's before it;
    the second was at rest.

    Only if neither collides again before the sample is over. Restitution and masses determine this speed.
    """

    def ratios(clip: Clip) -> Iterable[Value]:
        first, *later = clip.of_type("collision") or [WorldEvent("collision", (), 0)]
        if first.objects != (0, 1) or launched(clip) & {0, 1} != {0}:
            return []
        before = (first.frame - 2) // INTERVAL * INTERVAL - INTERVAL
        after = (first.frame + 6) // INTERVAL * INTERVAL
        speeds = [dict(_speeds(clip.paths.get(number, ()))) for number in (0, 1)]
        alone = all(event.frame > after + INTERVAL + 1 for event in later if {0, 1} & set(event.objects))
        known = alone and before in speeds[0] and after in speeds[place]
        return [speeds[place][after] / speeds[0][before]] if known else []

    return ratios


def _rest(axis: Literal[1, 2]) -> Callable[[Clip], Iterable[Value]]:
    def places(clip: Clip) -> Iterable[Value]:
        set_off = launched(clip)
        return [
            path[0][axis]
            for name, path in clip.paths.items()
            if path and path[0][0] == 0 and name not in set_off
        ]

    return places


def _range(start: float, stop: float, step: float) -> tuple[float, ...]:
    return tuple(round(start + k * step, 4) for k in range(round((stop - start) / step)))


_in_motion = partial(Histogram, moving=True)
HISTOGRAMS: dict[str, Histogram] = {
    "objects": Histogram("objects a scene", lambda clip: [len(clip.objects)], (3, 4, 5, 6)),
    "colours": Histogram("colour of an object", _look("color"), format.COLORS),
    "materials": Histogram("material of an object", _look("material"), format.MATERIALS),
    "shapes": Histogram("shape of an object", _look("shape"), format.SHAPES),
    "collisions": Histogram("collisions a scene", _count("collision"), (0, 1, 2, 3, 4, 5)),
    "entries": Histogram("entries a scene", _count("in"), (0, 1, 2, 3, 4)),
    "exits": Histogram("exits a scene", _count("out"), (0, 1, 2, 3)),
    "collisions of an object": Histogram("collisions of an object", _collisions_of_objects, (0, 1, 2, 3)),
    "first collision": Histogram("frame of the first collision", _first_collision, _range(0, 130, 10)),
    "collision frames": Histogram("frame of a collision", _frames("collision"), _range(0, 130, 10)),
    "between collisions": Histogram(
        "frames from one collision to the next", _between_collisions, _range(0, 90, 10)
    ),
    "entry frames": Histogram("frame of an entry", _frames("in"), _range(0, 130, 10)),
    "exit frames": Histogram("frame of an exit", _frames("out"), _range(0, 130, 10)),
    "launched": _in_motion("objects set in motion a scene", _launched, (0, 1, 2, 3, 4)),
    "launched, untouched": _in_motion(
        "objects set in motion, never hit, a scene", _launched_untouched, (0, 1, 2)
    ),
    "moving": _in_motion("objects that move, a scene", _moving_objects, (1, 2, 3, 4, 5, 6)),
    "moving at 0": _in_motion("objects in view that move at frame 0", _moving_at(0), (0, 1, 2, 3)),
    "moving at 60": _in_motion("objects in view that move at frame 60", _moving_at(60), (0, 1, 2, 3, 4, 5)),
    "moving at 120": _in_motion(
        "objects in view that move at frame 120", _moving_at(120), (0, 1, 2, 3, 4, 5)
    ),
    "speeds": _in_motion("speed of what moves (units/s)", _all_speeds, _range(0, 3.2, 0.2)),
    "start speeds": _in_motion(
        "speed of what is set in motion, frame 0 (units/s)", _start_speeds, _range(1.8, 3.1, 0.1)
    ),
    "entry speeds": _in_motion("speed at an entry (units/s)", _entry_speeds, _range(0.8, 3.0, 0.2)),
    "entry headings": _in_motion(
        "direction at an entry (degrees from +x)", _entry_headings, _range(0, 360, 30)
    ),
    "hitter": _in_motion("speed kept after hitting one at rest (share)", _speed_after(0), _range(0, 1, 0.1)),
    "struck": _in_motion("speed given to one at rest (share)", _speed_after(1), _range(0, 1, 0.1)),
    "rest x": _in_motion("x at rest (units, towards the camera)", _rest(1), _range(-3, 2, 0.5)),
    "rest y": _in_motion("y at rest (units)", _rest(2), _range(-2, 2, 0.5)),
}
"""Every statistic by name, in the order of a report: looks, events, motion."""
