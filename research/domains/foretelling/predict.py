"""Predict collisions from observed motion only: many simulations of possible states, and a vote."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, combinations
from math import atan2, cos, exp, hypot, pi, remainder, sin, sqrt
from statistics import NormalDist, fmean

from msgspec.structs import replace

from research.domains.foretelling.estimate import Estimate, estimate, velocity_changes
from research.domains.foretelling.sight import SIGHT, Sight
from research.domains.foretelling.weights import VOTE_WEIGHTS, Outlook, Pair, Votes, believe
from substrate.base.errors import ParameterError
from substrate.domains.clevrer.format import FRAMES, CompactObject, Sampled
from substrate.domains.clevrer.motion.engine import Body, simulate
from substrate.domains.clevrer.motion.law import LAW, Law

AT = (80, 100)
"""The frames of the benchmark's predictions: nothing later may be known."""
DRAWS = 64

_MOVING = 0.05  # units/s; a slower body counts as at rest
_CHANCES = 6  # numbers that each body takes from one draw
_normal = NormalDist().inv_cdf
BAD = 0.25  # share of struck bodies whose velocity is badly wrong; see Sight.struck_badly


def predict_collisions(
    objects: Iterable[CompactObject],
    trajectory: Mapping[int, Sequence[Sampled]],
    at: int,
    until: int = FRAMES - 1,
    *,
    met: Iterable[Pair] | None = None,
) -> list[Pair]:
    """Predict the pairs that collide after frame ``at`` and by ``until``, sorted, each with a < b.

    Args:
        objects: number and shape of the scene's objects.
        trajectory: by object number, ``(frame, x, y)`` in ascending frames; later points than ``at`` are
            never read.
        at: last frame that may be known.
        until: last frame of the prediction.
        met: pairs known to have collided by ``at`` (from an event log); a pair collides once. By default they
            are inferred from the motion.

    Raises:
        ParameterError: ``until`` is not after ``at``, or a trajectory names an unknown object or goes back in
            time.

    >>> ball, box = CompactObject("red", "metal", "sphere", 0), CompactObject("blue", "rubber", "cube", 1)
    >>> trajectory = {0: [(75, -1.14, 0.0), (80, -1.0, 0.0)], 1: [(75, 0.0, 0.0), (80, 0.0, 0.0)]}
    >>> predict_collisions([ball, box], trajectory, at=80)
    [(0, 1)]
    """
    chances = probabilities(objects, trajectory, at, until, met=met)
    return sorted(pair for pair, chance in chances.items() if chance >= VOTE_WEIGHTS.cut)


def probabilities(
    objects: Iterable[CompactObject],
    trajectory: Mapping[int, Sequence[Sampled]],
    at: int,
    until: int = FRAMES - 1,
    *,
    met: Iterable[Pair] | None = None,
) -> dict[Pair, float]:
    """Give the probability of every pair that collides in some draw and has not met.

    The arguments are those of :func:`predict_collisions`.
    """
    known, seen = _known(objects, trajectory, at, until)
    past = met_pairs(known, seen) if met is None else {(min(pair), max(pair)) for pair in met}
    return believe(outlook(states(known, seen, at), until - at), past)


def _known(
    objects: Iterable[CompactObject], trajectory: Mapping[int, Sequence[Sampled]], at: int, until: int
) -> tuple[dict[int, CompactObject], dict[int, list[Sampled]]]:
    """The objects by number, and their known motion at ``at``."""
    if until <= at:
        raise ParameterError(f"until={until} is not after at={at}", hint="Give a later last frame")
    known = {thing.id: thing for thing in objects}
    seen: dict[int, list[Sampled]] = {}
    for name, points in sorted(trajectory.items()):
        if name not in known:
            raise ParameterError(
                f"the trajectory of object {name} belongs to none of the objects {sorted(known)}",
                hint="Declare every object",
            )
        if any(points[k][0] >= points[k + 1][0] for k in range(len(points) - 1)):
            raise ParameterError(
                f"the trajectory of object {name} does not go forward in time",
                hint="Sort its points by frame, one per frame",
            )
        seen[name] = [point for point in points if point[0] <= at]
    return known, seen


def states(
    known: Mapping[int, CompactObject],
    seen: Mapping[int, Sequence[Sampled]],
    at: int,
    *,
    law: Law = LAW,
    sight: Sight = SIGHT,
) -> list[Estimate]:
    """The estimated state of every object visible at ``at``, by number."""
    estimates = (
        estimate(name, known[name].shape, points, at, law=law, sight=sight)
        for name, points in sorted(seen.items())
    )
    return [state for state in estimates if state is not None]


def outlook(
    estimates: Sequence[Estimate], frames: int, *, draws: int = DRAWS, law: Law = LAW, sight: Sight = SIGHT
) -> Outlook:
    """The vote over some frames, with the bodies that move or are new."""
    fast = (state.body.id for state in estimates if hypot(state.body.vx, state.body.vy) > _MOVING)
    new = (state.body.id for state in estimates if state.trust == "new")
    votes = vote(estimates, frames, draws=draws, law=law, sight=sight)
    return Outlook(votes, frozenset(fast), frozenset(new))


def vote(
    estimates: Sequence[Estimate], frames: int, *, draws: int = DRAWS, law: Law = LAW, sight: Sight = SIGHT
) -> Votes:
    """Simulate ``draws`` worlds that the estimates allow; the first has the estimates and equal masses.

    The draws are a Kronecker sequence (multiples of square roots of primes, modulo 1): evenly spread, the
    same on every run, without a seed.
    """
    frames_of: dict[Pair, list[int]] = {}
    targets = [_targets(state, estimates, sight) if state.trust == "new" else [] for state in estimates]
    for draw in range(draws):
        world = [
            _drawn(
                state,
                [_chance(draw, _CHANCES * place + k) for k in range(_CHANCES)],
                targets[place],
                law,
                sight,
            )
            for place, state in enumerate(estimates)
        ]
        for frame, a, b in simulate(separated(world, 2 * law.radius), frames, law=law).contacts:
            frames_of.setdefault((a, b), []).append(frame)
    return {pair: (len(when) / draws, fmean(when) / frames) for pair, when in sorted(frames_of.items())}


def _primes() -> Iterator[int]:
    primes: list[int] = []
    for number in range(2, 10_000):
        if all(number % prime for prime in primes if prime * prime <= number):
            primes.append(number)
            yield number


_ROOTS = [sqrt(prime) for prime in _primes()]


def _chance(draw: int, dimension: int) -> float:
    """A number in (0, 1); one half at draw 0, which means no error."""
    return min(max((0.5 + draw * _ROOTS[dimension % len(_ROOTS)]) % 1, 1e-9), 1 - 1e-9)


Target = tuple[float, float]
"""A direction (radians), and the cumulative share of aimed bodies up to this target in the list."""


def _targets(state: Estimate, estimates: Sequence[Estimate], sight: Sight) -> list[Target]:
    """The directions of the other bodies, weighted by the general aim."""
    body, aim = state.body, _aim(state.body, sight)
    ways = [
        atan2(other.body.y - body.y, other.body.x - body.x) for other in estimates if other.body.id != body.id
    ]
    weights = [exp(-((remainder(way - aim, 2 * pi) / sight.entry_spread) ** 2) / 2) for way in ways]
    total = sum(weights)
    if not total:
        return []
    return [(way, upto / total) for way, upto in zip(ways, accumulate(weights), strict=True)]


def _aim(body: Body, sight: Sight) -> float:
    return atan2(sight.entry_aim[1] - body.y, sight.entry_aim[0] - body.x)


def _drawn(
    state: Estimate, chance: Sequence[float], targets: Sequence[Target], law: Law, sight: Sight
) -> Body:
    """A body that the estimate allows; a cube's yaw is random, since positions do not show it.

    ``chance`` has numbers in (0, 1) for yaw, mass, the two places and the two velocities.
    """
    body = state.body
    yaw = chance[0] * pi / 2 if body.shape == "cube" else 0.0
    if state.trust == "new":
        vx, vy = _entering(body, chance, targets, sight)
        x, y = body.x, body.y
    else:
        place, velocity = _spreads(state, chance, sight)
        x, y = body.x + place * _normal(chance[2]), body.y + place * _normal(chance[3])
        vx, vy = body.vx + velocity * _normal(chance[4]), body.vy + velocity * _normal(chance[5])
    return Body(body.id, body.shape, x, y, vx, vy, yaw, 0.0, exp(sight.mass * _normal(chance[1])))


def _spreads(state: Estimate, chance: Sequence[float], sight: Sight) -> tuple[float, float]:
    """The standard errors of place and velocity in this draw."""
    if state.trust == "struck":
        # A further number in (0, 1), made of the two for yaw and mass
        badly = (7 * chance[0] + chance[1]) % 1 < BAD
        return sight.struck_place, sight.struck_badly if badly else sight.struck_velocity
    scale = min(1.0, hypot(state.body.vx, state.body.vy) / 0.3)  # a slow body is well known
    fit = min(state.fit, len(sight.place) - 1)
    return scale * sight.place[fit], scale * sight.velocity[fit]


def _entering(
    body: Body, chance: Sequence[float], targets: Sequence[Target], sight: Sight
) -> tuple[float, float]:
    """A velocity for a body with only one known position: towards another body, or into the picture.

    Its place is not drawn, so ``chance`` serves otherwise than in :func:`_drawn`: number 2 gives the speed, 3
    the error of the direction, 4 whether the body was aimed at another, and 5 at which one.
    """
    mean, spread = sight.entry_speed
    speed = max(0.0, mean + spread * _normal(chance[2]))
    if targets and chance[4] < sight.entry_aimed:
        way = next((way for way, upto in targets if chance[5] <= upto), targets[-1][0])
        way += sight.entry_aimed_spread * _normal(chance[3])
    else:
        way = _aim(body, sight) + sight.entry_spread * _normal(chance[3])
    return speed * cos(way), speed * sin(way)


def separated(bodies: Sequence[Body], distance: float) -> list[Body]:
    """Push overlapping bodies apart until their discs just touch: an overlap is a position error.

    Each of two bodies takes half of the way, along the line of their centres. A push may cause an overlap
    with a third body, so there are four rounds.
    """
    places = [[body.x, body.y] for body in bodies]
    for _ in range(4):
        for a, b in combinations(places, 2):
            dx, dy = b[0] - a[0], b[1] - a[1]
            gap = hypot(dx, dy)
            if 0 < gap < distance:
                push = (distance - gap) / (2 * gap)
                for place, sign in ((a, -1), (b, 1)):
                    place[0] += sign * push * dx
                    place[1] += sign * push * dy
    return [replace(body, x=x, y=y) for body, (x, y) in zip(bodies, places, strict=True)]


def met_pairs(
    known: Mapping[int, CompactObject],
    seen: Mapping[int, Sequence[Sampled]],
    *,
    law: Law = LAW,
    sight: Sight = SIGHT,
) -> set[Pair]:
    """Infer the pairs that have collided: they touched, or came near and both changed velocity at once."""
    at = {name: {frame: (x, y) for frame, x, y in points} for name, points in seen.items()}
    changes = {name: dict(velocity_changes(points, known[name].shape, law)) for name, points in seen.items()}
    pairs: set[Pair] = set()
    for a, b in combinations(sorted(seen), 2):
        for frame in sorted(at[a].keys() & at[b].keys()):
            distance = hypot(at[a][frame][0] - at[b][frame][0], at[a][frame][1] - at[b][frame][1])
            both = min(changes[a].get(frame, 0.0), changes[b].get(frame, 0.0))
            if distance < sight.touching or (
                distance < sight.near and both > sight.blow and frame not in sight.edges
            ):
                pairs.add((a, b))
    return pairs
