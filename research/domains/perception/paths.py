"""Places ► paths: pieces of free motion under the calibrated law, joined by blows.

Between two collisions a body follows the law of :mod:`substrate.domains.clevrer.motion`: a straight line on
which drag and friction slow it down, or rest. A piece is the best such motion through the places measured
in its frames, and its cost is what the places say against it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import cache
from math import hypot, log1p

import msgspec
import numpy as np

from research.domains.perception.camera import CUBE, Camera, edge_errors
from research.domains.perception.masks import Look, Sightings
from research.domains.perception.tracks import Track
from substrate.domains.clevrer.format import SHAPES, Shape
from substrate.domains.clevrer.motion.law import LAW

_FINE, _FASTEST, _SLOWEST = 0.002, 9.0, 1e-3
_NOISE = 0.004
"""Standard error of a place beside what its box says (units)."""
_ROBUST = 9.0
"""Squared standard errors from which on a place counts less and less."""
_SPEED = 2.5
"""Spread of a velocity before anything is measured (units/s)."""
_AT_FIRST = np.eye(2) / _SPEED**2
_MOVES = 6.0
"""The cost of saying that a body moves rather than rests."""
_JUMP = 0.03
"""Standard error of the place where two pieces meet (units)."""
_ROUNDS = 5


class Glide:
    """The distance that a body of a shape glides: tables over time of one that starts at 9 units/s."""

    def __init__(self, shape: int) -> None:
        speeds, ways = [_FASTEST], [0.0]
        while speeds[-1] > _SLOWEST and len(speeds) < 40_000:
            slower = speeds[-1] - _FINE * LAW.deceleration(SHAPES[shape], speeds[-1])
            ways.append(ways[-1] + _FINE * (speeds[-1] + max(0.0, slower)) / 2)
            speeds.append(max(0.0, slower))
        self._speeds, self._ways = np.array(speeds), np.array(ways)
        self._slowing = -self._speeds  # ascending, as np.interp wants it
        self._times = np.arange(len(speeds)) * _FINE

    def _start(self, speed: float) -> float:
        return float(np.interp(-min(speed, _FASTEST), self._slowing, self._times))

    def share(self, speed: float, seconds: np.ndarray) -> np.ndarray:
        """The way after so long over the starting speed: the time it would take without loss (seconds)."""
        if speed < _SLOWEST:
            return np.minimum(seconds, _SLOWEST)
        start = self._start(speed)
        ways = np.interp(start + seconds, self._times, self._ways)
        return (ways - float(np.interp(start, self._times, self._ways))) / min(speed, _FASTEST)

    def speed(self, speed: float, seconds: float) -> float:
        """The rest of a speed after so long (units/s)."""
        return float(np.interp(self._start(speed) + seconds, self._times, self._speeds))


@cache
def glide(shape: int) -> Glide:
    """The tables of a shape, by its place in SHAPES."""
    return Glide(shape)


class Piece(msgspec.Struct, frozen=True):
    """Free motion from a frame on, through ``count`` places; ``cost`` is twice a negative log-likelihood."""

    shape: int
    start: int
    place: tuple[float, float]
    velocity: tuple[float, float]
    count: int
    cost: float
    rests: bool

    def at(self, frame: float) -> tuple[float, float]:
        """The place at a frame (units); before its start, backwards under the same law."""
        (x, y), (vx, vy) = self.place, self.velocity
        seconds, speed = (frame - self.start) * LAW.frame, hypot(vx, vy)
        if speed < 1e-6:
            return x, y
        if seconds < 0:
            loss = LAW.deceleration(SHAPES[self.shape], speed)
            share = seconds * (1 - loss * seconds / (2 * speed))
        else:
            share = float(glide(self.shape).share(speed, np.array(seconds)))
        return x + vx * share, y + vy * share

    def velocity_at(self, frame: float) -> tuple[float, float]:
        """The velocity at a frame (units/s)."""
        (vx, vy), seconds = self.velocity, (frame - self.start) * LAW.frame
        speed = hypot(vx, vy)
        if seconds <= 0 or speed < 1e-6:
            return vx, vy
        keep = glide(self.shape).speed(speed, seconds) / speed
        return vx * keep, vy * keep


class Path:
    """The measured places of one object, and the pieces of free motion through them.

    Args:
        look: the object's attributes.
        frames: in which it was seen (n), ascending.
        places: where (n, 2), in units.
        errors: their covariances (n, 2, 2).
    """

    def __init__(self, look: Look, frames: np.ndarray, places: np.ndarray, errors: np.ndarray) -> None:
        self.look, self.frames, self.places, self.errors = look, frames, places, errors
        self.kind = SHAPES.index(look[2])
        self.first, self.last = int(frames[0]), int(frames[-1])
        self._weights = np.linalg.inv(errors + np.eye(2) * _NOISE**2)
        self._pieces: dict[tuple[int, int], Piece] = {}
        self._costs: dict[tuple[int, ...], float] = {}

    @property
    def shape(self) -> Shape:
        """The object's shape."""
        return SHAPES[self.kind]

    def filled(self, frames: int, *, bridged: bool = True) -> np.ndarray:
        """Places at all frames (frames, 2): straight across gaps, NaN before the first and after the last.

        Where gaps are not ``bridged``, they are NaN too.
        """
        whole = np.full((frames, 2), np.nan)
        if not bridged:
            whole[self.frames] = self.places
            return whole
        between = np.arange(self.first, self.last + 1)
        for axis in (0, 1):
            whole[between, axis] = np.interp(between, self.frames, self.places[:, axis])
        return whole

    def piece(self, start: int, end: int) -> Piece:
        """The free motion through the places of frames ``start`` to ``end``."""
        key = (start, end)
        if key not in self._pieces:
            self._pieces[key] = self._fitted(start, end)
        return self._pieces[key]

    def _fitted(self, start: int, end: int) -> Piece:
        low, high = np.searchsorted(self.frames, [start, end + 1])
        count = int(high - low)
        if not count:
            nearest = self.places[min(max(low - 1, 0), len(self.places) - 1)]
            return Piece(self.kind, start, _pair(nearest), (0.0, 0.0), 0, 0.0, True)
        seconds = (self.frames[low:high] - start) * LAW.frame
        places, weights = self.places[low:high], self._weights[low:high]
        rest, against_rest = _resting(places, weights)
        place, velocity, against = _moving(self.kind, seconds, places, weights)
        if against_rest < against + _MOVES:
            return Piece(self.kind, start, rest, (0.0, 0.0), count, against_rest, True)
        return Piece(self.kind, start, place, velocity, count, against + _MOVES, False)

    def cost(self, blows: Collection[int]) -> float:
        """The cost of a path with blows after these frames and free motion between them."""
        key = tuple(sorted(blows))
        if key not in self._costs:
            total, start, before = 0.0, self.first, None
            for blow in (*key, self.last):
                end = max(blow, start)
                piece = self.piece(start, end)
                total += piece.cost
                if before is not None and before.count and piece.count:
                    (x0, y0), (x1, y1) = before.at(start - 0.5), piece.at(start - 0.5)
                    jump = ((x1 - x0) ** 2 + (y1 - y0) ** 2) / _JUMP**2
                    total += _ROBUST * log1p(jump / _ROBUST)
                before, start = piece, end + 1
                if start > self.last:
                    break
            self._costs[key] = total
        return self._costs[key]

    def before(self, blows: Collection[int], frame: int) -> Piece:
        """The piece that ends with a blow after ``frame``, which is one of ``blows``."""
        start = max([self.first, *(blow + 1 for blow in blows if blow < frame)])
        return self.piece(min(start, frame), frame)

    def after(self, blows: Collection[int], frame: int) -> Piece:
        """The piece that begins with a blow after ``frame``, which is one of ``blows``."""
        end = min([self.last, *(blow for blow in blows if blow > frame)])
        return self.piece(frame + 1, max(frame + 1, end))


def _pair(values: np.ndarray) -> tuple[float, float]:
    return float(values[0]), float(values[1])


def _against(rest: np.ndarray, weights: np.ndarray) -> np.ndarray:
    return np.einsum("ni,nij,nj->n", rest, weights, rest)


def _resting(places: np.ndarray, weights: np.ndarray) -> tuple[tuple[float, float], float]:
    """The place where a body rests, and the cost of saying so."""
    place, squares, share = places[0], np.zeros(len(places)), np.ones(len(places))
    for _ in range(3):
        trusted = weights * share[:, None, None]
        place = np.linalg.solve(trusted.sum(0), np.einsum("nij,nj->i", trusted, places))
        squares = _against(places - place, weights)
        share = 1 / (1 + squares / _ROBUST)
    return _pair(place), float(_ROBUST * np.log1p(squares / _ROBUST).sum())


def _moving(
    kind: int, seconds: np.ndarray, places: np.ndarray, weights: np.ndarray
) -> tuple[tuple[float, float], tuple[float, float], float]:
    """Place and velocity at the start of the best free motion, and what speaks against it."""
    share, ways = np.ones(len(places)), seconds
    place, velocity, squares = places[0], np.zeros(2), share
    normal, right = np.zeros((4, 4)), np.zeros(4)
    for turn in range(_ROUNDS):
        trusted = weights * share[:, None, None]
        crossed = (trusted * ways[:, None, None]).sum(0)
        normal[:2, :2], normal[:2, 2:], normal[2:, :2] = trusted.sum(0), crossed, crossed
        normal[2:, 2:] = (trusted * (ways * ways)[:, None, None]).sum(0) + _AT_FIRST
        pulled = np.einsum("nij,nj->ni", trusted, places)
        right[:2], right[2:] = pulled.sum(0), (pulled * ways[:, None]).sum(0)
        found = np.linalg.solve(normal, right)
        place, velocity = found[:2], found[2:]
        squares = _against(places - place - ways[:, None] * velocity, weights)
        share = 1 / (1 + squares / _ROBUST)
        if turn < _ROUNDS - 1:
            ways = glide(kind).share(hypot(*_pair(velocity)), seconds)
    speed = float(velocity @ velocity) / _SPEED**2
    return _pair(place), _pair(velocity), float(_ROBUST * np.log1p(squares / _ROBUST).sum()) + speed


def paths(seen: Sightings, objects: dict[Look, Track], camera: Camera) -> list[Path]:
    """The path of each object, in the order of their attributes."""
    looks = sorted(objects)
    where = {place: (n, frame) for n, look in enumerate(looks) for frame, place in objects[look].items()}
    used = np.array(sorted(where), dtype=int)
    if not len(used):
        return []
    errors = np.zeros((len(seen.frames), 4))
    for frame in np.unique(seen.frames[used]):
        here = used[seen.frames[used] == frame]
        errors[here] = edge_errors(seen.boxes[here], seen.width, seen.height)
    found: list[Path] = []
    for look in looks:
        frames = np.array(sorted(objects[look]))
        places = np.array([objects[look][int(frame)] for frame in frames])
        spots, spreads, _ = camera.locate(SHAPES.index(look[2]), seen.boxes[places], errors[places])
        found.append(Path(look, frames, spots, spreads + np.eye(2) * 1e-6))
    return found


def contact_distances(a: Path, b: Path) -> tuple[float, float]:
    """Between which distances of their centres two bodies can touch (units): a cube reaches as far as it is
    turned.
    """
    wide: Sequence[bool] = (a.kind == CUBE, b.kind == CUBE)
    return 0.4, 0.4 + 0.08 * sum(wide)
