"""Places ► paths: pieces of free motion under the calibrated law, joined by blows.

Between two collisions a body follows the law of :mod:`substrate.domains.clevrer.motion`: it rests, or moves
straight while drag and friction slow it down. A piece is the best such motion through the places measured
in its frames; its cost measures how badly the places fit. A blow is named by the last frame before it. So
blows divide a path into pieces, and the cost of the path is the sum of the costs of its pieces and of the
jumps between them. Here a ball is seen in ten frames, and is turned aside after frame 4:

>>> track = [(0.1 * frame, 0.0) if frame < 5 else (0.4, 0.1 * (frame - 4)) for frame in range(10)]
>>> errors = np.array([np.eye(2) * 1e-4] * 10)
>>> path = BodyPath(Look("red", "metal", "sphere"), np.arange(10), np.array(track), errors)
>>> round(path.cost([]), 1), round(path.cost([3]), 1), round(path.cost([4]), 1)
(176.5, 20.7, 20.4)
>>> first, second = path.before([4], 4), path.after([4], 4)
>>> (first.start, first.count), (second.start, second.count)
((0, 5), (5, 5))
>>> round(first.velocity[0], 1), round(second.velocity[1], 1)
(3.6, 3.6)

A fit is a least-squares fit that is repeated: a place that is far off the last fit has less trust in the
next one. :func:`_resting` solves for a place (2 unknowns), :func:`_moving` for a place and a velocity (4).
Drag bends the motion, so :func:`_moving` also repeats the glide: the seconds in which a body without drag
would come as far.

The search for collisions asks for thousands of pieces, so many are fitted at once, as columns of one array:
m rows are the places of a piece, n columns the pieces, and a shorter piece is padded with places without
weight. The pinned results hold to the last bit, whatever pieces happen to share an array. Sums of
floating-point numbers depend on the order of the additions, so six lines below keep the operations of a
separate fit. The comment above each begins with "Same bits".
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Iterator
from itertools import accumulate
from math import hypot, log1p

import msgspec
import numpy as np

from research.domains.objects import Look
from research.domains.perception.camera import CUBE, Camera, edge_errors
from research.domains.perception.glide_table import glide_table
from research.domains.perception.masks import Sightings
from research.domains.perception.tracks import Track
from substrate.domains.clevrer.format import SHAPES, Shape
from substrate.domains.clevrer.motion.law import LAW

_NOISE = 0.004
"""Standard error of a place in addition to the error of its box (units)."""
_ROBUST = 9.0
"""A place that is off by more squared standard errors counts less and less."""
_SPEED = 2.5
"""Prior spread of a velocity (units/s)."""
_PRIOR = np.eye(2) / _SPEED**2  # the weight of a velocity of 0, which the prior expects
_MOVES = 6.0
"""The cost of assuming that a body moves."""
_JUMP = 0.03
"""Standard error of the place where two pieces meet (units)."""
_ROUNDS = 5
_AT_ONCE = 32
"""Pieces that are fitted at once: more would not fit into a processor's cache."""


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
        """The place at a frame (units); before its start, with the start's deceleration throughout."""
        (x, y), (vx, vy) = self.place, self.velocity
        seconds, speed = (frame - self.start) * LAW.frame, hypot(vx, vy)
        if speed < 1e-6:
            return x, y
        if seconds < 0:
            loss = LAW.deceleration(SHAPES[self.shape], speed)
            glide = seconds * (1 - loss * seconds / (2 * speed))
        else:
            glide = glide_table(self.shape).share(speed, seconds)
        return x + vx * glide, y + vy * glide

    def velocity_at(self, frame: float) -> tuple[float, float]:
        """The velocity at a frame (units/s); before its start, the velocity at the start."""
        (vx, vy), seconds = self.velocity, (frame - self.start) * LAW.frame
        speed = hypot(vx, vy)
        if seconds <= 0 or speed < 1e-6:
            return vx, vy
        keep = glide_table(self.shape).speed(speed, seconds) / speed
        return vx * keep, vy * keep


class BodyPath:
    """The measured places of one object, and the pieces of free motion through them.

    Args:
        look: the object's attributes.
        frames: in which it was seen (n), ascending.
        places: where (n, 2), in units.
        errors: their covariances (n, 2, 2).
    """

    def __init__(self, look: Look, frames: np.ndarray, places: np.ndarray, errors: np.ndarray) -> None:
        self.look, self.frames, self.places, self.errors = look, frames, places, errors
        self.kind = SHAPES.index(look.shape)
        self._seen: list[int] = frames.tolist()
        self.first, self.last = self._seen[0], self._seen[-1]
        self.weights = np.linalg.inv(errors + np.eye(2) * _NOISE**2).transpose(1, 2, 0)
        self.pieces: dict[tuple[int, int], Piece] = {}
        self._costs: dict[tuple[int, ...], float] = {}

    @property
    def shape(self) -> Shape:
        """The object's shape."""
        return SHAPES[self.kind]

    def filled(self, frames: int) -> np.ndarray:
        """Places at all frames (frames, 2): straight across gaps, NaN before the first and after the last."""
        whole = np.full((frames, 2), np.nan)
        between = np.arange(self.first, self.last + 1)
        for axis in (0, 1):
            whole[between, axis] = np.interp(between, self.frames, self.places[:, axis])
        return whole

    def piece(self, start: int, end: int) -> Piece:
        """The free motion through the places of frames ``start`` to ``end``."""
        if (start, end) not in self.pieces:
            _fit([(self, start, end)])
        return self.pieces[start, end]

    def lacking(self, divisions: Iterable[Collection[int]]) -> list[tuple[BodyPath, int, int]]:
        """The spans of the pieces that some divisions of this path need and that are not fitted yet.

        A division has the frames after which there are blows; a span is the path with the first and the last
        frame of a piece.
        """
        spans = dict.fromkeys(span for blows in divisions for span in self._spans(blows))
        return [(self, *span) for span in spans if span not in self.pieces]

    def bounds(self, start: int, end: int) -> tuple[int, int]:
        """The index range (end exclusive) of the places of frames ``start`` to ``end``."""
        return bisect_left(self._seen, start), bisect_right(self._seen, end)

    def _spans(self, blows: Collection[int]) -> Iterator[tuple[int, int]]:
        """First and last frame of each piece between blows after some frames."""
        start = self.first
        for blow in (*sorted(blows), self.last):
            yield start, max(blow, start)
            start = max(blow, start) + 1
            if start > self.last:
                return

    def cost(self, blows: Collection[int]) -> float:
        """The cost of a path with blows after the given frames and free motion between them."""
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


def prepare(wanted: Iterable[tuple[BodyPath, int, int]]) -> None:
    """Fit the pieces of some spans of :meth:`BodyPath.lacking`: many cost little more than one."""
    counts = {span: high - low for span in wanted for low, high in [span[0].bounds(*span[1:])]}
    # Same bits: a piece of a single place is fitted apart, since `_squares` adds it in another order
    few = [span for span, count in counts.items() if count < 2]
    many = sorted((span for span, count in counts.items() if count > 1), key=counts.__getitem__)
    for some in (few, *(many[first : first + _AT_ONCE] for first in range(0, len(many), _AT_ONCE))):
        if some:
            _fit(some)


def _fit(wanted: list[tuple[BodyPath, int, int]]) -> None:
    """Fit the pieces of some spans: each a path, and the first and the last frame of a piece.

    Each result equals that of a separate fit: the padding behind a column's last place has no weight.
    """
    # Same bits: a single piece is fitted twice, since numpy adds up a single column in another order
    given = wanted if len(wanted) > 1 else wanted * 2
    paths = list(dict.fromkeys(path for path, *_ in given))
    firsts = dict(zip(paths, accumulate([len(path.frames) for path in paths], initial=0), strict=False))
    frames = np.concatenate([path.frames for path in paths])
    starts, kinds = np.array([(start, path.kind) for path, start, _ in given]).T
    low, high = np.array([np.add(path.bounds(start, end), firsts[path]) for path, start, end in given]).T
    counts = high - low
    # Of each piece (a column): the index of each of its places (rows) among the places of all paths
    rows = low + np.arange(max(1, counts.max()))[:, None]
    padding = rows >= high
    rows = np.minimum(rows, len(frames) - 1)
    seconds = (frames[rows] - starts) * LAW.frame
    # Contiguous columns halve the time
    places = np.ascontiguousarray(np.concatenate([path.places for path in paths]).T[:, rows])
    weights = np.ascontiguousarray(np.concatenate([path.weights for path in paths], 2)[:, :, rows])
    weights[:, :, padding] = 0.0
    # Without a place there is nothing to fit
    weights[..., counts == 0] = np.eye(2)[..., None, None]
    rests = _resting(places, weights, counts)
    moves = _moving(kinds, seconds, places, weights, counts)
    fits = zip(wanted, counts.tolist(), rests, moves, strict=False)
    for (path, start, end), count, (rest, rest_cost), (place, velocity, move_cost) in fits:
        if not count:
            x, y = path.places[max(path.bounds(start, end)[0] - 1, 0)].tolist()
            piece = Piece(path.kind, start, (x, y), (0.0, 0.0), 0, 0.0, True)
        elif rest_cost < move_cost + _MOVES:
            piece = Piece(path.kind, start, rest, (0.0, 0.0), count, rest_cost, True)
        else:
            piece = Piece(path.kind, start, place, velocity, count, move_cost + _MOVES, False)
        path.pieces[start, end] = piece


def _squares(residuals: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """The squared standard errors (m, n) of the residuals (2, m, n) of places."""
    products = (residuals[:, None] * weights * residuals).reshape(4, *residuals.shape[1:])
    # Same bits: numpy adds the four products of a single place in pairs, and of several places one by one
    if len(products[0]) == 1:
        return products[:2].sum(0) + products[2:].sum(0)
    return products.sum(0)


def _costs(squares: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """The costs of columns of squared standard errors, of which the first ``counts`` count."""
    # Each column becomes a row: a zero, its terms, a zero. Then all rows are one, which the ends cut up
    terms = np.zeros((squares.shape[1], squares.shape[0] + 2))
    terms[:, 1:-1] = np.log1p(squares / _ROBUST).T
    firsts = np.arange(len(terms)) * terms.shape[1]
    # Same bits: after a leading zero, each sum equals the sum of only its terms
    ends = np.stack([firsts, firsts + counts + 1], 1).ravel()
    return _ROBUST * np.add.reduceat(terms.ravel(), ends)[::2]


def _resting(
    places: np.ndarray, weights: np.ndarray, counts: np.ndarray
) -> list[tuple[tuple[float, float], float]]:
    """Fit a resting body to each column of measured places; return its places and costs.

    Each round solves ``normal · place = right``, the equations of weighted least squares.
    """
    place, squares, trust = places[:, 0], np.zeros(places.shape[1:]), np.ones(places.shape[1:])
    for _ in range(3):
        trusted = weights * trust
        right = (trusted * places).sum(1).sum(1)
        normal = trusted.sum(2).transpose(2, 0, 1)
        place = np.linalg.solve(normal, right.T[..., None])[..., 0].T
        squares = _squares(places - place[:, None], weights)
        trust = 1 / (1 + squares / _ROBUST)
    return list(zip(zip(*place.tolist(), strict=True), _costs(squares, counts).tolist(), strict=True))


def _moving(
    kinds: np.ndarray, seconds: np.ndarray, places: np.ndarray, weights: np.ndarray, counts: np.ndarray
) -> list[tuple[tuple[float, float], tuple[float, float], float]]:
    """The best free motion through each column of places: its first place and velocity, and its cost.

    Each round solves ``normal · (place, velocity) = right``, the equations of weighted least squares for
    ``place + glide · velocity``. In the first round the glides are the plain seconds, as if without drag.
    """
    trust, glides, many = np.ones(seconds.shape), seconds, seconds.shape[1]
    place, velocity, squares = places[:, 0], np.zeros((2, many)), trust
    # Rows and columns 0 and 1 are the place's, 2 and 3 the velocity's
    normal, right = np.zeros((4, 4, many)), np.zeros((4, many))
    for iteration in range(_ROUNDS):
        trusted = weights * trust
        normal[:2, :2] = trusted.sum(2)
        normal[:2, 2:] = normal[2:, :2] = (trusted * glides).sum(2)
        normal[2:, 2:] = (trusted * (glides * glides)).sum(2) + _PRIOR[..., None]
        pulled = (trusted * places).sum(1)
        right[:2] = pulled.sum(1)
        right[2:] = (pulled * glides).sum(1)
        solved = np.linalg.solve(normal.transpose(2, 0, 1), right.T[..., None])[..., 0]
        place, velocity = solved.T[:2], solved.T[2:]
        squares = _squares(places - place[:, None] - glides * velocity[:, None], weights)
        trust = 1 / (1 + squares / _ROBUST)
        if iteration < _ROUNDS - 1:
            # Same bits: the hypot of `math`, which differs in the last bits from numpy's
            speeds, glides = np.array(list(map(hypot, *velocity.tolist()))), np.zeros(seconds.shape)
            for kind in set(kinds.tolist()):
                mine = kinds == kind
                glides[:, mine] = glide_table(kind).shares(speeds[mine], seconds[:, mine])
    # Same bits: the product of one velocity with itself, which differs in the last bits from a sum of squares
    fast = [float(each @ each) / _SPEED**2 for each in velocity.T]
    costs = [cost + speed for cost, speed in zip(_costs(squares, counts).tolist(), fast, strict=True)]
    pairs = zip(*place.tolist(), strict=True), zip(*velocity.tolist(), strict=True)
    return list(zip(*pairs, costs, strict=True))


def paths(seen: Sightings, objects: dict[Look, Track], camera: Camera) -> list[BodyPath]:
    """The path of each object, in the order of their attributes."""
    looks = sorted(objects)
    used = np.array(sorted({index for track in objects.values() for index in track.values()}), dtype=int)
    if not len(used):
        return []
    errors = np.zeros((len(seen.frames), 4))
    for frame in np.unique(seen.frames[used]):
        here = used[seen.frames[used] == frame]
        errors[here] = edge_errors(seen.boxes[here], seen.width, seen.height)
    located: list[BodyPath] = []
    for look in looks:
        frames = np.array(sorted(objects[look]))
        sightings = np.array([objects[look][int(frame)] for frame in frames])
        spots, spreads, _ = camera.locate(SHAPES.index(look.shape), seen.boxes[sightings], errors[sightings])
        located.append(BodyPath(look, frames, spots, spreads + np.eye(2) * 1e-6))
    return located


def contact_distances(a: BodyPath, b: BodyPath) -> tuple[float, float]:
    """The least and largest distance of two touching bodies' centres (units): a cube's reach depends on its
    turn.
    """
    return 0.4, 0.4 + 0.08 * ((a.kind == CUBE) + (b.kind == CUBE))
