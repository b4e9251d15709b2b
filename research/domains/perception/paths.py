"""Places ► paths: pieces of free motion under the calibrated law, joined by blows.

Between two collisions a body follows the law of :mod:`substrate.domains.clevrer.motion`: a straight line on
which drag and friction slow it down, or rest. A piece is the best such motion through the places measured
in its frames, and its cost is what the places say against it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
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
_AT_ONCE = 32
"""Pieces that are fitted at once: more would not lie in a processor's cache."""


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

    def share(self, speed: float, seconds: float) -> float:
        """The way after so long over the starting speed: the time it would take without loss (seconds)."""
        if speed < _SLOWEST:
            return min(seconds, _SLOWEST)
        start = self._start(speed)
        end, begin = np.interp((start + seconds, start), self._times, self._ways).tolist()
        return (end - begin) / min(speed, _FASTEST)

    def shares(self, speeds: np.ndarray, seconds: np.ndarray) -> np.ndarray:
        """The same of many speeds (n, 1), each after some times (n, m)."""
        start = np.interp(-np.minimum(speeds, _FASTEST), self._slowing, self._times)
        ways = np.interp(start + seconds, self._times, self._ways)
        shares = (ways - np.interp(start, self._times, self._ways)) / np.clip(speeds, _SLOWEST, _FASTEST)
        return np.where(speeds < _SLOWEST, np.minimum(seconds, _SLOWEST), shares)

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
            share = glide(self.shape).share(speed, seconds)
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
        if (start, end) not in self._pieces:
            self._fit([(start, end)])
        return self._pieces[start, end]

    def prepare(self, paths: Iterable[Collection[int]]) -> None:
        """Fit the pieces of paths with blows after some frames: many at once cost little more than one."""
        spans = dict.fromkeys(span for blows in paths for span in self._spans(blows))
        lacking = [span for span in spans if span not in self._pieces]
        bounds = np.searchsorted(self.frames, np.add(np.reshape(lacking, (-1, 2)), (0, 1)))
        counts = dict(zip(lacking, (bounds[:, 1] - bounds[:, 0]).tolist(), strict=True))
        # The products of a single place are multiplied in another order among others
        many = sorted((span for span in lacking if counts[span] > 1), key=counts.__getitem__)
        for first in range(0, len(many), _AT_ONCE):
            self._fit(many[first : first + _AT_ONCE])

    def _spans(self, blows: Collection[int]) -> Iterator[tuple[int, int]]:
        """First and last frame of each piece between blows after some frames."""
        start = self.first
        for blow in (*sorted(blows), self.last):
            yield start, max(blow, start)
            start = max(blow, start) + 1
            if start > self.last:
                return

    def _fit(self, spans: list[tuple[int, int]]) -> None:
        """Fit the pieces between some frames.

        Each is as if it were fitted alone: what fills a row behind its last place weighs nothing.
        """
        starts, ends = np.array(spans).T
        low, high = np.searchsorted(self.frames, starts), np.searchsorted(self.frames, ends + 1)
        counts = high - low
        rows = low[:, None] + np.arange(max(1, counts.max()))
        beyond, rows = rows >= high[:, None], np.minimum(rows, len(self.frames) - 1)
        seconds, places = (self.frames[rows] - starts[:, None]) * LAW.frame, self.places[rows]
        weights = self._weights[rows]
        weights[beyond] = 0.0
        # Without a place there is nothing to fit
        weights[counts == 0] = np.eye(2)
        rests = _resting(places, weights, counts)
        moves = _moving(self.kind, seconds, places, weights, counts)
        each = zip(spans, low.tolist(), counts.tolist(), rests, moves, strict=True)
        for (start, end), first, count, (rest, against_rest), (place, velocity, against) in each:
            if not count:
                nearest = self.places[min(max(first - 1, 0), len(self.places) - 1)]
                piece = Piece(self.kind, start, _pair(nearest), (0.0, 0.0), 0, 0.0, True)
            elif against_rest < against + _MOVES:
                piece = Piece(self.kind, start, rest, (0.0, 0.0), count, against_rest, True)
            else:
                piece = Piece(self.kind, start, place, velocity, count, against + _MOVES, False)
            self._pieces[start, end] = piece

    def cost(self, blows: Collection[int]) -> float:
        """The cost of a path with blows after these frames and free motion between them."""
        key = tuple(sorted(blows))
        if key not in self._costs:
            total, before = 0.0, None
            for start, end in self._spans(key):
                piece = self.piece(start, end)
                total += piece.cost
                if before is not None and before.count and piece.count:
                    (x0, y0), (x1, y1) = before.at(start - 0.5), piece.at(start - 0.5)
                    jump = ((x1 - x0) ** 2 + (y1 - y0) ** 2) / _JUMP**2
                    total += _ROBUST * log1p(jump / _ROBUST)
                before = piece
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
    return np.einsum("pni,pnij,pnj->pn", rest, weights, rest)


def _costs(squares: np.ndarray, counts: np.ndarray) -> list[float]:
    """The costs of rows of squared standard errors, of which so many count."""
    terms = np.log1p(squares / _ROBUST)
    return [float(_ROBUST * row[:count].sum()) for row, count in zip(terms, counts.tolist(), strict=True)]


def _resting(
    places: np.ndarray, weights: np.ndarray, counts: np.ndarray
) -> list[tuple[tuple[float, float], float]]:
    """The places where a body rests, a row of measured ones each, and the costs of saying so."""
    place, squares, share = places[:, 0], np.zeros(places.shape[:2]), np.ones(places.shape[:2])
    for _ in range(3):
        trusted = weights * share[..., None, None]
        right = np.einsum("pnij,pnj->pi", trusted, places)
        place = np.linalg.solve(trusted.sum(1), right[..., None])[..., 0]
        squares = _against(places - place[:, None], weights)
        share = 1 / (1 + squares / _ROBUST)
    return list(zip(map(_pair, place), _costs(squares, counts), strict=True))


def _moving(
    kind: int, seconds: np.ndarray, places: np.ndarray, weights: np.ndarray, counts: np.ndarray
) -> list[tuple[tuple[float, float], tuple[float, float], float]]:
    """Places and velocities at the start of the best free motions through rows of places, and what speaks
    against each.
    """
    share, ways = np.ones(seconds.shape), seconds
    place, velocity, squares = places[:, 0], np.zeros((len(places), 2)), share
    normal, right = np.zeros((len(places), 4, 4)), np.zeros((len(places), 4, 1))
    for turn in range(_ROUNDS):
        trusted = weights * share[..., None, None]
        crossed = (trusted * ways[..., None, None]).sum(1)
        normal[:, :2, :2], normal[:, :2, 2:], normal[:, 2:, :2] = trusted.sum(1), crossed, crossed
        normal[:, 2:, 2:] = (trusted * (ways * ways)[..., None, None]).sum(1) + _AT_FIRST
        pulled = np.einsum("pnij,pnj->pni", trusted, places)
        right[:, :2, 0], right[:, 2:, 0] = pulled.sum(1), (pulled * ways[..., None]).sum(1)
        solved = np.linalg.solve(normal, right)[..., 0]
        place, velocity = solved[:, :2], solved[:, 2:]
        squares = _against(places - place[:, None] - ways[..., None] * velocity[:, None], weights)
        share = 1 / (1 + squares / _ROBUST)
        if turn < _ROUNDS - 1:
            # The library's hypot, which is not to the bit that of an array
            speeds = np.array([hypot(*_pair(each)) for each in velocity])
            ways = glide(kind).shares(speeds[:, None], seconds)
    speeds = [float(each @ each) / _SPEED**2 for each in velocity]
    costs = [cost + speed for cost, speed in zip(_costs(squares, counts), speeds, strict=True)]
    return list(zip(map(_pair, place), map(_pair, velocity), costs, strict=True))


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
    located: list[Path] = []
    for look in looks:
        frames = np.array(sorted(objects[look]))
        places = np.array([objects[look][int(frame)] for frame in frames])
        spots, spreads, _ = camera.locate(SHAPES.index(look[2]), seen.boxes[places], errors[places])
        located.append(Path(look, frames, spots, spreads + np.eye(2) * 1e-6))
    return located


def contact_distances(a: Path, b: Path) -> tuple[float, float]:
    """Between which distances of their centres two bodies can touch (units): a cube reaches as far as it is
    turned.
    """
    wide: Sequence[bool] = (a.kind == CUBE, b.kind == CUBE)
    return 0.4, 0.4 + 0.08 * sum(wide)
