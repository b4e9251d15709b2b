"""Mass and charge from the motion in reference videos, each with its evidence.

*Mass.* Two bodies in contact exchange momentum: over a contact, the ratio of their changes of velocity along
the line of exchange is the inverse ratio of their masses. Each mass is 1 or 5, chosen to fit all measured
ratios best; if the ratios leave a choice, the mass is the lighter.

*Charge.* Out of contact, a force between two bodies shows as acceleration along the line between them.
Each body's acceleration is fitted, frame by frame, by a force of each other body that falls with the square
of the distance, and by dry friction and drag along its own path. Friction and drag have one fitted strength
per object, so the fit assumes nothing about the ground. A pair repels (same charge) or attracts (opposite) if
one body clearly shows it and the other, if measured, does not contradict it. The charges are those that fit
all forces best, unclear forces included.
Charges have no absolute sign: the first charged object counts as positive. Two charged bodies also show their
mass ratio without a contact.

Each mass and charge has a probability: the share of all combinations that agree with it, weighed by how
likely the evidence makes them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations, product
from typing import NamedTuple

import numpy as np

from substrate.domains.clevrer.format import MOVING_SPEED, RADIUS, SECONDS_PER_FRAME, MotionState, tracks
from substrate.domains.comphy.format import MASSES, Target, appearance

Pair = tuple[int, int]
Motion = Mapping[int, Sequence[MotionState]]
"""A video's motion states, frame by frame, by the target's object number."""

BEFORE, AFTER = 2, 3
"""Frames before and after a recorded contact between which momentum is exchanged: an impact lasts one or two
frames, and is recorded up to one frame late.
"""
LEAST_CHANGE = 0.15
"""Units/s: a smaller change of relative velocity is no evidence; it may be friction or rounding."""
LEAST_FRAMES = 4
"""The least number of a body's frames without contact in a video: any force would fit fewer."""
LEAST_STRENGTH = 0.1
"""Units³/s²: a smaller product of fitted acceleration and distance squared is no force."""
LEAST_SIGMA = 8.0
"""The least size of a force, in its standard errors."""
RATIO_SPREAD = 0.2
"""The mean error of a weighted logarithm of a measured mass ratio."""
MASS_PRIOR = {1: 0.75, 5: 0.25}
"""The prior of an object's mass: most objects are light."""
CHARGE_PRIOR = {0: 0.6, 1: 0.2, -1: 0.2}
"""The prior of an object's charge."""
FORCE_SPREAD = 3.0
"""The error of a fitted force, in its standard errors: these cover only noise."""
STRENGTHS = (0.25, 0.5, 1.0, 2.0, 4.0)
"""Units³/s²: possible strengths of the force between two charges, all equally likely."""
MISSED = 0.05
"""The probability that a force between charges shows in no reference video: they are filmed to show it."""
MARGIN = 0.05
"""Gap (units) below which two bodies may touch within a frame: no distant force is measured there."""
_REACH = {"sphere": RADIUS, "cylinder": RADIUS, "cube": math.sqrt(2) * RADIUS}


class Sighting(NamedTuple):
    """A reference video's view of two objects of the target, ``first`` < ``second``, between two frames.

    ``kind`` is ``MomentumExchange`` or ``DistantForce``. ``ratio`` is the first mass over the second; a
    distant force gives it only if both moved. A distant force's ``strength`` (units³/s²) is the acceleration
    of a body of mass 1, times distance squared, positive if they repel. ``weight`` grows with the evidence.
    """

    kind: str
    video: int
    first: int
    second: int
    since: int
    until: int
    weight: float
    ratio: float | None = None
    strength: float | None = None


class Inferred(NamedTuple):
    """Masses and charges by the target's object number, their probabilities, and the evidence.

    An object without evidence counts as light and uncharged, with the prior's probability. The charges are
    known up to a common sign.
    """

    masses: dict[int, int]
    charges: dict[int, int]
    evidence: tuple[Sighting, ...]
    mass_probability: dict[int, float]
    charge_probability: dict[int, float]

    @property
    def strength(self) -> float:
        """The strength of the force between two unit charges (units³/s²); 0 if none was seen."""
        sizes = [
            (e.weight, abs(e.strength))
            for e in self.evidence
            if e.strength is not None and self.charges.get(e.first) and self.charges.get(e.second)
        ]
        total = sum(weight for weight, _ in sizes)
        return sum(weight * size for weight, size in sizes) / total if total else 0.0


class _Force(NamedTuple):
    """The fitted push of one body on another: acceleration times distance squared, its standard error, and
    the frames fitted.
    """

    size: float
    error: float
    frames: list[int]

    @property
    def clear(self) -> bool:
        """Tell whether the fit shows a force, not only noise."""
        return abs(self.size) > max(LEAST_STRENGTH, LEAST_SIGMA * self.error)


class _Push(NamedTuple):
    """The fitted forces on the two bodies of a pair in a video, if any."""

    video: int
    pair: Pair
    on_first: _Force | None
    on_second: _Force | None


def infer(target: Target) -> Inferred:
    """Infer the hidden properties of a target's objects from only its reference videos.

    Reads positions, velocities, visibility and recorded contacts; it does not even decode a mass or charge
    in a file.
    """
    numbers = {appearance(thing): thing.object_id for thing in target.annotation.object_property}
    exchanges: list[Sighting] = []
    motions: list[Motion] = []
    for video, reference in enumerate(target.references):
        known = {
            o.object_id: numbers[appearance(o)] for o in reference.object_property if appearance(o) in numbers
        }
        motion = {known[number]: track for number, track in tracks(reference).items() if number in known}
        contacts = [
            (contact.frame_id, *sorted(known[number] for number in contact.object_ids))
            for contact in reference.collision
            if set(contact.object_ids) <= set(known)
        ]
        exchanges += _exchanges(video, motion, contacts)
        motions.append(motion)
    shapes = {thing.object_id: thing.shape for thing in target.annotation.object_property}
    pushes = list(_pushes(motions, shapes))
    forces = [(push, evidence) for push in pushes if (evidence := _force(push))]
    seen = [*exchanges, *(evidence for _, evidence in forces)]
    masses, mass_probability = _masses(sorted(numbers.values()), seen)
    charges, charge_probability = _charges(masses, pushes)
    seen = [*exchanges, *(_with_strength(evidence, masses, push) for push, evidence in forces)]
    seen.sort(key=lambda e: (e.video, e.since, e.first, e.second, e.kind))
    return Inferred(masses, charges, tuple(seen), mass_probability, charge_probability)


def _exchanges(video: int, motion: Motion, contacts: Sequence[tuple[int, ...]]) -> Iterable[Sighting]:
    for frame, a, b in contacts:
        since, until = frame - BEFORE, frame + AFTER
        disturbed = any(
            abs(other - frame) <= BEFORE + AFTER and {a, b} & {c, d}
            for other, c, d in contacts
            if (c, d) != (a, b)
        )
        if since < 0 or until >= len(motion[a]) or disturbed:
            continue
        if not all(motion[n][f].inside_camera_view for n in (a, b) for f in range(since, until + 1)):
            continue
        ax, ay = _change(motion[a], since, until)
        bx, by = _change(motion[b], since, until)
        dx, dy = bx - ax, by - ay
        size = math.hypot(dx, dy)
        if size < LEAST_CHANGE:
            continue
        lost, won = -(ax * dx + ay * dy) / size, (bx * dx + by * dy) / size
        floor = 0.02 * size  # a body that hardly moved shows only noise
        ratio = max(won, floor) / max(lost, floor)
        yield Sighting("MomentumExchange", video, a, b, since, until, weight=size, ratio=ratio)


def _change(track: Sequence[MotionState], since: int, until: int) -> tuple[float, float]:
    (ax, ay, _), (bx, by, _) = track[since].velocity, track[until].velocity
    return bx - ax, by - ay


def _pushes(motions: Sequence[Motion], shapes: Mapping[int, str]) -> Iterable[_Push]:
    """For each video and pair of its objects, the fitted force on the first and on the second."""
    fitted = {body: _fit(body, motions, shapes) for body in sorted(set().union(*motions))}
    for video, motion in enumerate(motions):
        for a, b in combinations(sorted(motion), 2):
            on_first, on_second = fitted[a].get((video, b)), fitted[b].get((video, a))
            if on_first or on_second:
                yield _Push(video, (a, b), on_first, on_second)


def _fit(body: int, motions: Sequence[Motion], shapes: Mapping[int, str]) -> dict[tuple[int, int], _Force]:
    """Fit a body's acceleration over all videos by least squares: one force per video and other body, one
    friction and one drag.
    """
    near = {other: _REACH[shapes[body]] + _REACH[shapes[other]] + MARGIN for other in shapes}
    others = {video: sorted(motion.keys() - {body}) for video, motion in enumerate(motions) if body in motion}
    frames = {
        video: _free(body, motions[video], {other: near[other] for other in beside})
        for video, beside in others.items()
    }
    frames = {video: free for video, free in frames.items() if len(free) >= LEAST_FRAMES}
    keys = [(video, other) for video in frames for other in others[video]]
    columns = {key: place for place, key in enumerate(keys)}
    if not columns:
        return {}
    rows: list[list[float]] = []
    seen: list[float] = []
    for video, free in frames.items():
        track = motions[video][body]
        for frame in free:
            velocity = track[frame].velocity
            speed = math.hypot(velocity[0], velocity[1])
            pushes = [
                (columns[video, other], _away(track[frame], motions[video][other][frame]))
                for other in others[video]
            ]
            for axis in (0, 1):
                # The last two columns are friction, and drag with its linear and its quadratic part.
                row = [0.0] * len(columns) + [-velocity[axis] / speed, -velocity[axis] * (1 + speed)]
                for place, push in pushes:
                    row[place] = push[axis]
                rows.append(row)
                gained = track[frame + 1].velocity[axis] - track[frame - 1].velocity[axis]
                seen.append(gained / (2 * SECONDS_PER_FRAME))
    matrix, target = np.array(rows), np.array(seen)
    inverse = np.linalg.pinv(matrix.T @ matrix)
    solution = inverse @ matrix.T @ target
    residual = target - matrix @ solution
    spread = max(float(residual @ residual) / max(len(seen) - matrix.shape[1], 1), 1e-6)
    errors = np.sqrt(np.maximum(np.diag(inverse), 0.0) * spread)
    return {
        (video, other): _Force(float(solution[place]), float(errors[place]), frames[video])
        for (video, other), place in columns.items()
    }


def _free(body: int, motion: Motion, reach: Mapping[int, float]) -> list[int]:
    """The frames in which a body moves and touches nothing, and all bodies are in view; ``reach`` gives the
    contact distance to each other body.
    """
    track, others = motion[body], [motion[other] for other in reach]
    frames: list[int] = []
    for frame in range(1, len(track) - 1):
        around = range(frame - 1, frame + 2)
        if not all(states[f].inside_camera_view for states in (track, *others) for f in around):
            continue
        if any(
            math.dist(motion[other][f].location[:2], track[f].location[:2]) < touch
            for other, touch in reach.items()
            for f in around
        ):
            continue
        # Static friction may hold a resting body against any force.
        if min(math.hypot(*track[f].velocity[:2]) for f in around) > MOVING_SPEED:
            frames.append(frame)
    return frames


def _away(body: MotionState, source: MotionState) -> tuple[float, float]:
    """The vector from the source to the body, with length one over their distance squared."""
    dx, dy = body.location[0] - source.location[0], body.location[1] - source.location[1]
    cube = math.hypot(dx, dy) ** 3
    return dx / cube, dy / cube


def _force(push: _Push) -> Sighting | None:
    """A force at a distance that one body shows clearly and the other, if measured, does not contradict."""
    video, pair, on_first, on_second = push
    measured = [force for force in (on_first, on_second) if force]
    clear = [force for force in measured if force.clear]
    if not clear or len({force.size > 0 for force in clear}) > 1:
        return None
    if any(not force.clear and force.error * LEAST_SIGMA < LEAST_STRENGTH / 2 for force in measured):
        return None
    frames = sorted({frame for force in clear for frame in force.frames})
    ratio = on_second.size / on_first.size if on_first and on_second and len(clear) == 2 else None
    # A force of 100 standard errors has the full weight 1.
    weight = math.sqrt(sum((force.size / force.error) ** 2 for force in clear)) / 100
    return Sighting("DistantForce", video, *pair, frames[0], frames[-1], weight=min(weight, 1.0), ratio=ratio)


def _with_strength(evidence: Sighting, masses: Mapping[int, int], push: _Push) -> Sighting:
    """The evidence with the strength that a body of mass 1 would show, by the more exact clear force."""
    sides = [
        (force.error, force.size * masses[number])
        for force, number in zip((push.on_first, push.on_second), push.pair, strict=True)
        if force and force.clear
    ]
    return evidence._replace(strength=min(sides)[1])


def _masses(numbers: Sequence[int], evidence: Iterable[Sighting]) -> tuple[dict[int, int], dict[int, float]]:
    """The masses that fit the ratios best, for each group of compared objects, with their probabilities; of
    equally good fits, the lightest masses.
    """
    ratios = [(e.first, e.second, math.log(e.ratio), e.weight) for e in evidence if e.ratio]
    masses: dict[int, int] = {}
    probability: dict[int, float] = {}
    for group in _groups(numbers, [(a, b) for a, b, _, _ in ratios]):
        measured = [ratio for ratio in ratios if ratio[0] in group]
        misfits = {
            chosen: _misfit(dict(zip(group, chosen, strict=True)), measured)
            for chosen in product(MASSES, repeat=len(group))
        }
        best = min(misfits, key=lambda chosen: (misfits[chosen], chosen))
        likelihood = {
            chosen: math.exp(-misfit / RATIO_SPREAD) * math.prod(MASS_PRIOR[mass] for mass in chosen)
            for chosen, misfit in misfits.items()
        }
        total = math.fsum(likelihood.values())
        for place, number in enumerate(group):
            agreeing = (size for chosen, size in likelihood.items() if chosen[place] == best[place])
            masses[number], probability[number] = best[place], math.fsum(agreeing) / total
    return dict(sorted(masses.items())), dict(sorted(probability.items()))


def _misfit(masses: Mapping[int, int], ratios: Iterable[tuple[int, int, float, float]]) -> float:
    # An absolute value, not a square: one wrong measurement must not outvote two right ones. Rounding makes
    # ties exact.
    return round(sum(weight * abs(log - math.log(masses[a] / masses[b])) for a, b, log, weight in ratios), 9)


def _groups(numbers: Sequence[int], pairs: Iterable[Pair]) -> list[list[int]]:
    groups = {number: [number] for number in numbers}
    for a, b in pairs:
        if groups[a] is not groups[b]:
            groups[a] += groups[b]
            for number in groups[b]:
                groups[number] = groups[a]
    return [sorted(group) for number, group in groups.items() if number == min(group)]


def _charges(masses: Mapping[int, int], pushes: Sequence[_Push]) -> tuple[dict[int, int], dict[int, float]]:
    """The likeliest charges, given every fitted force, even unclear ones, with their probabilities. The
    charges are known up to a common sign: the first charged object is positive.
    """
    numbers = sorted(masses)
    interacting = {push.pair for push in pushes if _force(push)}
    weights: dict[tuple[int, ...], float] = {}
    for chosen in product(CHARGE_PRIOR, repeat=len(numbers)):
        charge = dict(zip(numbers, chosen, strict=True))
        charged = [number for number in numbers if charge[number]]
        if charged and charge[charged[0]] < 0:
            continue  # the mirror image of another combination, with all signs changed
        fit = math.fsum(
            _fit_of(charge[a] * charge[b], (on_first, masses[a]), (on_second, masses[b]))
            for _, (a, b), on_first, on_second in pushes
        )
        # The combination counts for its mirror image too: its prior is doubled if anything is charged.
        prior = math.fsum(math.log(CHARGE_PRIOR[value]) for value in chosen) + math.log(2) * bool(charged)
        # A single charge exerts no force that a film could show.
        unseen = len(set(combinations(charged, 2)) - interacting) + (len(charged) == 1)
        weights[chosen] = round(fit + prior + unseen * math.log(MISSED), 9)
    best = max(weights, key=lambda chosen: (weights[chosen], chosen))
    total = math.fsum(math.exp(weight - weights[best]) for weight in weights.values())
    probability = dict.fromkeys(numbers, 0.0)
    for chosen, weight in weights.items():
        # Signs are known up to a common one: compare with the one that agrees better with the best.
        agreement = sum(value * likeliest for value, likeliest in zip(chosen, best, strict=True))
        for number, value, likeliest in zip(numbers, chosen, best, strict=True):
            if (value if agreement >= 0 else -value) == likeliest:
                probability[number] += math.exp(weight - weights[best]) / total
    return dict(zip(numbers, best, strict=True)), probability


def _fit_of(product_of_charges: int, *sides: tuple[_Force | None, int]) -> float:
    """The log-likelihood of the fitted forces on two bodies, given the product of their charges."""
    seen = [(force, mass) for force, mass in sides if force]
    strengths = [strength * product_of_charges for strength in STRENGTHS] if product_of_charges else [0.0]
    likely = [
        math.fsum(
            -abs(force.size - strength / mass) / max(FORCE_SPREAD * force.error, LEAST_STRENGTH / 2)
            for force, mass in seen
        )
        for strength in strengths
    ]
    best = max(likely)
    return best + math.log(math.fsum(math.exp(term - best) for term in likely) / len(likely))
