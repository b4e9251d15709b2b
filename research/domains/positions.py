"""Positions of bodies, as a tracker or ``perceive`` gives them ► poses, and which bodies move at a frame.

Between two of its collisions a body is in free flight: it rests, or it glides straight while the law of
motion slows it down. So a state comes from the positions of one flight. A body that rests does so until its
first collision; one that moves stops only by friction, which spheres do not have (``docs/design/motion.md``).
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property, partial
from itertools import pairwise
from math import hypot
from typing import NamedTuple

from substrate.domains.clevrer import format
from substrate.domains.clevrer.deltas import events_log
from substrate.domains.clevrer.motion.law import LAW, Law
from substrate.log.event_log import EventLog

_DIGITS = 4
_WINDOW = 10
"""Frames to either side of a frame whose positions of the same flight give the state there."""
_LAUNCHED = 1.0
"""Mean speed that tells a body launched before frame 0 from one at rest (units/s). In annotations the former
have 2.7 or more, the latter none.
"""
_LAUNCH = 2.7, 3.0
"""The speeds at frame 0 of all bodies that move then, in view or not, in the annotations (units/s)."""
_ROUNDS = 4  # after these, a speed and its slowing agree


class BodyState(NamedTuple):
    """The place (units) and velocity (units/s) of a body at a frame."""

    x: float
    y: float
    vx: float
    vy: float


class Watched:
    """The motion of a body, from its positions.

    Args:
        shape: its shape.
        points: its positions, by ascending frame.
        hits: the frames of its collisions.
        views: the first and last frame of each time that it is in view.
        law: the law that slows it down.
    """

    def __init__(
        self,
        shape: format.Shape,
        points: Sequence[format.Sampled],
        hits: Iterable[int],
        views: Sequence[tuple[int, int]],
        law: Law = LAW,
    ) -> None:
        self.shape: format.Shape = shape
        self.views, self.hits, self._law = views, sorted(set(hits)), law
        self._flights: list[list[format.Sampled]] = [[] for _ in range(len(self.hits) + 1)]
        for point in points:
            self._flights[bisect_right(self.hits, point[0] - format.BEFORE)].append(point)
        for flight, hit in zip(self._flights, self.hits, strict=False):
            # A position in the frame of a collision may show either flight.
            flight[:] = [point for point in flight if point[0] < hit]

    def in_view(self, frame: int) -> bool:
        """Tell whether the body is in view at a frame."""
        return any(first <= frame <= last for first, last in self.views)

    @cached_property
    def launched(self) -> bool:
        """Tell whether the body moves when the video begins."""
        if not self.in_view(0):
            return True
        free = self._flights[0]
        if len(free) < 2:
            return False
        (since, x0, y0), (until, x1, y1) = free[0], free[-1]
        return hypot(x1 - x0, y1 - y0) > _LAUNCHED * (until - since) * self._law.frame

    def rests(self, frame: int) -> bool:
        """Tell whether the body has been at rest from the beginning of the video to a frame."""
        return not self.launched and not bisect_right(self.hits, frame)

    def moves(self, frame: int) -> bool:
        """Tell whether the body moves at a frame; without positions it moves once it was hit."""
        if self.rests(frame):
            return False
        since = self.hits[bisect_right(self.hits, frame) - 1] if self.hits else -1
        state = None if self.shape == "sphere" or 0 <= frame - since <= format.AFTER else self.state(frame)
        return state is None or hypot(state.vx, state.vy) > format.MOVING_SPEED

    def motion(self, frames: int) -> bytes:
        """For each frame of a video, 1 if the body moves; in each flight it stops once at most."""
        moving = bytearray(frames)
        for start, stop in pairwise([0, *(hit for hit in self.hits if 0 < hit < frames), frames]):
            end = bisect_left(range(start, stop), 1, key=lambda frame: not self.moves(frame))
            moving[start : start + end] = b"\1" * end
        return bytes(moving)

    def state(self, frame: int) -> BodyState | None:
        """The state at a frame; ``None`` if too few positions show it."""
        place = bisect_right(self.hits, frame)
        free = self._flights[place]
        if self.rests(frame):
            if not free:
                return None
            _, x, y = min(free, key=lambda point: abs(point[0] - frame))
            return BodyState(x, y, 0.0, 0.0)
        near = [point for point in free if abs(point[0] - frame) <= _WINDOW]
        if len(near) < 2:
            known = free if len(free) > 1 else [*free, *self._ends(place)]
            near = sorted(sorted(known, key=lambda point: abs(point[0] - frame))[:2])
        if len(near) < 2:
            return None
        return fit_state(near, frame, self.shape, self._law, None if place else _LAUNCH)

    def poses(self, frames: Iterable[int]) -> list[format.Posed]:
        """The poses at those frames at which the body is in view and positions show its state.

        Positions do not show the yaw and spin of a cube: both are 0.
        """
        posed: list[format.Posed] = []
        for frame in frames:
            state = self.state(frame) if self.in_view(frame) else None
            if state:
                x, y, vx, vy = (round(value, _DIGITS) + 0.0 for value in state)
                posed.append((frame, x, y, 0.0, vx, vy, 0.0))
        return posed

    def _ends(self, place: int) -> list[format.Sampled]:
        """The positions in which a flight begins and ends, by the flights before and after it."""
        ends: list[format.Sampled] = []
        # Flight n ends with hit n, so the hit before this flight has the number of the flight before.
        for other, hit in ((place - 1, place - 1), (place + 1, place)):
            if 0 <= hit < len(self.hits) and len(self._flights[other]) > 1:
                frame = self.hits[hit]
                near = sorted(sorted(self._flights[other], key=lambda point: abs(point[0] - frame))[:3])
                x, y, _, _ = fit_state(near, frame, self.shape, self._law)
                ends.append((frame, x, y))
        return ends


def fit_state(
    points: Sequence[format.Sampled],
    frame: int,
    shape: format.Shape,
    law: Law = LAW,
    launch: tuple[float, float] | None = None,
) -> BodyState:
    """The state at a frame of the free motion that fits two or more positions best.

    Args:
        points: positions, by ascending frame.
        frame: the frame of the state.
        shape: the body's shape.
        law: the law that slows it down.
        launch: the range of the speed at frame 0, if it is known (units/s).

    >>> x, y, vx, vy = fit_state([(70, 0.0, 0.0), (75, 0.14, 0.0), (80, 0.276, 0.0)], 80, "sphere")
    >>> round(x, 2), round(vx, 2)
    (0.28, 0.97)
    >>> fast = [(120, 1.0, 0.0), (125, 0.72, 0.0)]  # of a sphere that was launched at 3 units/s or less
    >>> [round(fit_state(fast, 125, "sphere", launch=launch).vx, 2) for launch in (None, (2.7, 3.0))]
    [-1.98, -1.87]
    """
    first, x0, y0 = points[0]
    seconds = [(at - first) * law.frame for at, _, _ in points]
    xs, ys = ([point[axis] for point in points] for axis in (1, 2))
    x, y, count = sum(xs) / len(points), sum(ys) / len(points), len(points)
    speed = hypot(xs[-1] - x0, ys[-1] - y0) / seconds[-1]
    ux = uy = 0.0
    mean = 0.0
    for _ in range(_ROUNDS):
        ways = [law.glide(shape, speed, time)[0] for time in seconds]
        mean = sum(ways) / count
        spread = sum((way - mean) ** 2 for way in ways)
        if not spread:
            return BodyState(x, y, 0.0, 0.0)
        ux = sum((way - mean) * place for way, place in zip(ways, xs, strict=True)) / spread
        uy = sum((way - mean) * place for way, place in zip(ways, ys, strict=True)) / spread
        speed *= hypot(ux, uy)
    if launch and (length := hypot(ux, uy)):
        # A tracker that has seen a body for a few frames misjudges its speed more than its direction.
        begun = law.glide(shape, speed, -first * law.frame)[1]
        speed = law.glide(shape, min(max(begun, launch[0]), launch[1]), first * law.frame)[1]
        ux, uy = ux / length, uy / length
        mean = sum(law.glide(shape, speed, time)[0] for time in seconds) / count
    way, now = law.glide(shape, speed, (frame - first) * law.frame)
    return BodyState(x + ux * (way - mean), y + uy * (way - mean), ux * now, uy * now)


def views(events: format.SceneEvents, number: int, last: int) -> list[tuple[int, int]]:
    """The first and last frame of each time that an object is in view, by its entries and exits.

    >>> from substrate.domains.clevrer.format import InOut
    >>> views(format.SceneEvents(7, 128, [], [InOut(20, 0, "in"), InOut(90, 0, "out")], []), 0, 127)
    [(20, 89)]
    """
    moves = sorted((e.frame, e.type) for e in events.in_outs if number in format.in_out_objects(e))
    since = 0 if not moves or moves[0][1] == "out" else None
    times: list[tuple[int, int]] = []
    for frame, kind in moves:
        if kind == "out" and since is not None:
            times.append((since, frame - 1))
            since = None
        elif kind == "in" and since is None:
            since = frame
    return times if since is None else [*times, (since, last)]


def watched(events: format.SceneEvents, last: int) -> Mapping[int, Watched]:
    """The motion of every object of a record with positions; positions after frame ``last`` are not read."""
    by_number: dict[int, Watched] = {}
    for thing in events.objects:
        points = (events.trajectory or {}).get(thing.id, ())
        by_number[thing.id] = Watched(
            thing.shape,
            [point for point in points if point[0] <= last],
            [hit.frame for hit in events.collisions if thing.id in hit.object],
            views(events, thing.id, last),
        )
    return by_number


def tracked_log(events: format.SceneEvents) -> EventLog:
    """The event log of a record, with the motion, views and poses that its positions show, if it has any."""
    return events_log(events, None if events.trajectory is None else partial(watched, events))
