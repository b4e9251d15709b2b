"""Fit how well positions show a state, and how well a vote shows a collision, on half of the trajectories."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import product
from math import atan2, exp, fsum, hypot, log, pi, remainder
from statistics import NormalDist, fmean, median

import numpy as np
from msgspec import Struct
from msgspec.structs import astuple, replace

from research.domains.foretelling import predict
from research.domains.foretelling.estimate import estimate, velocity_changes
from research.domains.foretelling.scoring import Tracked, outlooks_at, score
from research.domains.foretelling.sight import Sight
from research.domains.foretelling.weights import VoteWeights, features
from substrate.domains.clevrer.format import FRAMES, Shape
from substrate.domains.clevrer.motion.engine import simulate
from substrate.domains.clevrer.motion.law import Law

_HALF = NormalDist().inv_cdf(0.75)  # the median error of a normal distribution, in standard errors
_SLIGHT = 0.03  # change of velocity that a seam causes in nearly every body (units/s)
_SEAM = 3.0  # a seam changes the velocities of this many times more bodies than an ordinary frame
_TOUCHING = (0.4, 0.42, 0.44)
_NEAR = (0.56, 0.62, 0.68, 0.74)
_BLOWS = (0.05, 0.08, 0.12)
_AIMS = [k / 4 for k in range(-12, 9)]
_CUTS = [k / 40 for k in range(8, 29)]
_AIMED = [k / 20 for k in range(18)]
_AIMED_SPREADS = (0.04, 0.06, 0.08, 0.1, 0.12)
_RIDGE = 0.5

# Read off the files, not fitted.
UNSEEN = Sight(
    interval=5,
    seams=(),
    still=0.003,
    touching=0.42,
    near=0.62,
    blow=0.08,
    place=(0.01,),
    velocity=(0.03,),
    struck_place=0.05,
    struck_velocity=0.06,
    struck_badly=0.3,
    entry_speed=(2.3, 0.3),
    entry_aim=(-1.0, 0.0),
    entry_spread=0.3,
    entry_aimed=0.0,
    entry_aimed_spread=0.1,
    mass=0.2,
)


def fit_sight(tracked: Sequence[Tracked], law: Law, mass: float) -> Sight:
    """Fit how the trajectories differ from the true motion. Each step uses the results of the steps before:

    1. the seams (:func:`_seams`);
    2. the speed and direction of entering bodies (:func:`_entries`);
    3. the distances and the change of velocity by which two bodies have met (:func:`_met_score`);
    4. the errors of places and velocities, by the number of seams before them (:func:`_errors`).
    """
    sight = replace(UNSEEN, mass=round(mass, 2))
    sight = replace(sight, seams=_seams(tracked, law, sight))
    sight = _entries(tracked, law, sight)
    sight = max(
        (replace(sight, touching=t, near=n, blow=b) for t, n, b in product(_TOUCHING, _NEAR, _BLOWS)),
        key=lambda s: _met_score(tracked, law, s),
    )
    return _errors(tracked, law, sight)


def _seams(tracked: Sequence[Tracked], law: Law, sight: Sight) -> tuple[int, ...]:
    """Find the seams: each is the second of two frames where far more bodies than usual change velocity."""
    changed, counted = Counter[int](), Counter[int]()
    for scene in tracked:
        shapes: dict[int, Shape] = {thing.id: thing.shape for thing in scene.motion.objects}
        for name, points in scene.motion.trajectory.items():
            for frame, change in velocity_changes([p for p in points if p[0] < FRAMES], shapes[name], law):
                counted[frame] += 1
                changed[frame] += change > _SLIGHT
    share = {frame: changed[frame] / counted[frame] for frame in sorted(counted)}
    usual = median(share.values())
    return tuple(
        frame for frame in share if min(share[frame], share.get(frame - sight.interval, 0.0)) > _SEAM * usual
    )


class _Entry(Struct, frozen=True):
    """A body's first place in view, its speed there and direction, and the directions of the others."""

    x: float
    y: float
    speed: float
    heading: float
    others: list[float]

    def off(self, aim: tuple[float, float]) -> float:
        """The angle between the heading and a direction (radians)."""
        return remainder(atan2(aim[1] - self.y, aim[0] - self.x) - self.heading, 2 * pi)


def _entries(tracked: Sequence[Tracked], law: Law, sight: Sight) -> Sight:
    """Fit the speed and heading of entering bodies that nothing hit between their first two points."""
    entries = [entry for scene in tracked for entry in _entered(scene, law)]
    usual = median(entry.speed for entry in entries)
    spread = median(abs(entry.speed - usual) for entry in entries) / _HALF
    aim = min(product(_AIMS, _AIMS), key=lambda a: median(abs(entry.off(a)) for entry in entries))
    sight = replace(
        sight,
        entry_speed=(round(usual, 2), round(spread, 2)),
        entry_aim=aim,
        entry_spread=round(median(abs(entry.off(aim)) for entry in entries) / _HALF, 2),
    )
    aimed = (
        replace(sight, entry_aimed=share, entry_aimed_spread=near)
        for share, near in product(_AIMED, _AIMED_SPREADS)
    )
    return max(aimed, key=lambda s: fsum(log(_entry_likelihood(entry, s)) for entry in entries))


def _entered(scene: Tracked, law: Law) -> Iterator[_Entry]:
    shapes: dict[int, Shape] = {thing.id: thing.shape for thing in scene.motion.objects}
    for name, points in sorted(scene.motion.trajectory.items()):
        if len(points) < 2 or not 0 < points[0][0] < points[1][0] < FRAMES:
            continue
        (frame, x, y), (until, x1, y1) = points[:2]
        if scene.struck(name, 0, until):
            continue
        time = (until - frame) * law.frame
        mean = hypot(x1 - x, y1 - y) / time
        speed = mean + law.deceleration(shapes[name], mean) * time / 2
        others = [
            atan2(there[2] - y, there[1] - x)
            for other, known in sorted(scene.motion.trajectory.items())
            for there in known
            if other != name and there[0] == frame
        ]
        yield _Entry(x, y, speed, atan2(y1 - y, x1 - x), others)


def _entry_likelihood(entry: _Entry, sight: Sight) -> float:
    """The likelihood of a heading: a mixture of the general aim and the directions of the other bodies."""

    def bell(off: float, spread: float) -> float:
        return exp(-((off / spread) ** 2) / 2) / spread

    off = entry.off(sight.entry_aim)
    general = bell(off, sight.entry_spread)
    ways = [remainder(way - entry.heading, 2 * pi) for way in entry.others]
    weights = [bell(way - off, sight.entry_spread) for way in ways]
    if not sum(weights):
        return max(general, 1e-9)
    near = [bell(way, sight.entry_aimed_spread) for way in ways]
    aimed = sum(weight * density for weight, density in zip(weights, near, strict=True)) / sum(weights)
    return max((1 - sight.entry_aimed) * general + sight.entry_aimed * aimed, 1e-9)


def _met_score(tracked: Sequence[Tracked], law: Law, sight: Sight) -> float:
    """F1 of the inferred past collisions, over both frames of the benchmark."""
    right = guessed = true = 0
    for scene, at in product(tracked, predict.AT):
        known = {thing.id: thing for thing in scene.motion.objects}
        seen = scene.seen(at)
        guesses = predict.met_pairs(known, seen, law=law, sight=sight)
        met = {pair for pair in scene.met(at) if set(pair) <= set(seen)}
        right, guessed, true = right + len(guesses & met), guessed + len(guesses), true + len(met)
    return 2 * right / (guessed + true)


class _Error(Struct, frozen=True):
    """Estimated minus true state along one axis, the truth taken from the fit after the next seam."""

    trust: str
    fit: int
    place: float
    velocity: float


def _errors(tracked: Sequence[Tracked], law: Law, sight: Sight) -> Sight:
    """Fit standard errors by medians; struck bodies get a second spread that explains their largest tenth."""
    errors = list(_state_errors(tracked, law, sight))
    steady = [[e for e in errors if e.trust == "steady" and e.fit == fit] for fit in range(len(sight.seams))]
    struck = [e for e in errors if e.trust == "struck"]
    if not all(steady) or not struck:
        return sight
    core = median(abs(e.velocity) for e in struck) / _HALF
    tenth = float(np.quantile([abs(e.velocity) for e in struck], 0.9))
    normal = NormalDist().cdf
    # The spread with which a twentieth of the mixture of two normal distributions lies below minus `tenth`
    bad = min(
        (core * k / 20 for k in range(20, 400)),
        key=lambda s: abs(
            predict.BAD * normal(-tenth / s) + (1 - predict.BAD) * normal(-tenth / core) - 0.05
        ),
    )

    return replace(
        sight,
        place=tuple(round(median(abs(e.place) for e in fit) / _HALF, 3) for fit in steady),
        velocity=tuple(round(median(abs(e.velocity) for e in fit) / _HALF, 3) for fit in steady),
        struck_place=round(median(abs(e.place) for e in struck) / _HALF, 3),
        struck_velocity=round(core, 3),
        struck_badly=round(bad, 3),
    )


def _state_errors(tracked: Sequence[Tracked], law: Law, sight: Sight) -> Iterator[_Error]:
    """Errors of moving bodies two intervals before a seam, if nothing hits them until the new fit."""
    for scene, seam in product(tracked, sight.seams):
        at, later = seam - 2 * sight.interval, seam + sight.interval
        for thing in scene.motion.objects:
            points = [p for p in scene.motion.trajectory.get(thing.id, []) if p[0] <= later]
            now = estimate(thing.id, thing.shape, points, at, law=law, sight=sight)
            then = estimate(thing.id, thing.shape, points, later, law=law, sight=sight)
            if now is None or then is None or now.trust == "new" or scene.struck(thing.id, at, later + 1):
                continue
            if [p[0] for p in points[-2:]] != [seam, later] or not now.body.vx or not then.body.vx:
                continue
            moved = simulate([now.body], later - at, law=law).final[0]
            for place, velocity in (
                (moved.x - then.body.x, moved.vx - then.body.vx),
                (moved.y - then.body.y, moved.vy - then.body.vy),
            ):
                # The velocity error also moved the projected body: subtract that part.
                yield _Error(now.trust, now.fit, place - velocity * (later - at) * law.frame, velocity)


def fit_weights(tracked: Sequence[Tracked], law: Law, sight: Sight) -> VoteWeights:
    """Regress collisions on votes (logistic, ridge), then choose the cut with the highest mean F1 over the
    benchmark's frames.
    """
    outlooks = {at: outlooks_at(tracked, at, law, sight) for at in predict.AT}
    rows: list[tuple[float, ...]] = []
    collided: list[bool] = []
    for at in predict.AT:
        for scene, evidence in zip(tracked, outlooks[at], strict=True):
            truth = scene.truth(at)
            for pair, terms in sorted(features(evidence, scene.met(at)).items()):
                rows.append(astuple(terms))
                collided.append(pair in truth)
    fitted = _logistic(np.array(rows), np.array(collided, dtype=float))
    weights = VoteWeights(*(round(float(weight), 2) for weight in fitted))
    cut = max(
        _CUTS,
        key=lambda c: fmean(score(tracked, at, outlooks[at], replace(weights, cut=c)).f1 for at in outlooks),
    )
    return replace(weights, cut=cut)


def _logistic(rows: np.ndarray, outcomes: np.ndarray) -> np.ndarray:
    """The weights of a logistic regression, by Newton's method; a ridge keeps rare features small."""
    weights = np.zeros(rows.shape[1])
    for _ in range(50):
        chance = 1 / (1 + np.exp(-rows @ weights))
        curvature = (rows * (chance * (1 - chance))[:, None]).T @ rows + _RIDGE * np.eye(len(weights))
        weights = weights + np.linalg.solve(curvature, rows.T @ (outcomes - chance) - _RIDGE * weights)
    return weights
