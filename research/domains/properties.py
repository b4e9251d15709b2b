"""Mass and charge from the motion in reference videos, each with the evidence it rests on.

*Mass.* Whatever two bodies do to each other, momentum passes between them: over a contact, the ratio of
their changes of velocity along the line of exchange is the inverse ratio of their masses. Masses are
those of 1 and 5 that fit all measured ratios best; where ratios leave a choice, the lighter.

*Charge.* Out of contact, a force between two bodies shows as acceleration along the line between them.
Each body's acceleration is fitted, frame by frame, by a force of each other body that falls with the square
of the distance, and by what slows it down along its own way: dry friction and drag, one strength of each an
object, fitted too, so that nothing is known beforehand of the ground. A pair repels (same charge) or attracts
(opposite) where both, or the one that could move, say so; the charges that fit all forces best are taken.
Charges have no sign of their own: the first charged object counts as positive. Two charges also give their
mass ratio, which needs no contact.

Each mass and charge has a probability: of all combinations that the evidence allows, how likely are those
that agree with it?
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations, product
from typing import NamedTuple

import numpy as np

from substrate.base.delta import Op, Spelled
from substrate.domains.clevrer.format import MOVING_SPEED, RADIUS, SECONDS_PER_FRAME, MotionState, tracks
from substrate.domains.comphy.deltas import NAMESPACE, target_iri
from substrate.domains.comphy.format import MASSES, Target, look

_TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
_XSD = "http://www.w3.org/2001/XMLSchema#"
Pair = tuple[int, int]
Motion = Mapping[int, Sequence[MotionState]]
"""A video's motion states, frame by frame, by the target's object number."""

BEFORE, AFTER = 2, 3
"""Frames before and after a recorded contact between which momentum is exchanged: an impact lasts one or two,
and is recorded late by up to one.
"""
LEAST_CHANGE = 0.15
"""Units/s: a change of relative velocity below this says nothing, friction and rounding being near."""
LEAST_FRAMES = 4
"""Frames of a video that a force must be seen in: fewer fit anything."""
LEAST_STRENGTH = 0.1
"""Units³/s²: a fitted acceleration times distance squared below this is no force."""
LEAST_SIGMA = 8.0
"""The least distance of a force from none, in its standard errors."""
RATIO_SPREAD = 0.2
"""The mean distance of measurements from the truth, of a weighted logarithm of a mass ratio."""
MASS_PRIOR = {1: 0.75, 5: 0.25}
"""The prior of an object's mass: most objects are light."""
CHARGE_PRIOR = {0: 0.6, 1: 0.2, -1: 0.2}
"""The prior of an object's charge."""
FORCE_SPREAD = 3.0
"""The distance of a fitted force from the truth, in its standard errors: the errors know noise alone."""
STRENGTHS = (0.25, 0.5, 1.0, 2.0, 4.0)
"""Units³/s²: how strong the force between two charges may be, all as likely."""
MISSED = 0.05
"""The probability that a force between charges shows in no reference video: they are filmed to show it."""
MARGIN = 0.05
"""Gap (units) below which two bodies may touch within a frame: no distant force is read off there."""
_REACH = {"sphere": RADIUS, "cylinder": RADIUS, "cube": math.sqrt(2) * RADIUS}


class Sighting(NamedTuple):
    """A reference video's view of two objects of the target, ``first`` < ``second``, between two frames.

    ``kind`` is ``MomentumExchange``, where ``ratio`` is the mass of the first over that of the second, or
    ``DistantForce``, where ``strength`` (units³/s²) is the acceleration of a body of mass 1, times distance
    squared, positive where they repel, and ``ratio`` is known if both moved. ``weight`` grows with what was
    seen.
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
    """Masses and charges by the target's object number, how probable each is, and the evidence.

    What no evidence speaks of is likeliest light and uncharged, with the probability that the prior gives it.
    Charges are told up to the sign of all of them.
    """

    masses: dict[int, int]
    charges: dict[int, int]
    evidence: tuple[Sighting, ...]
    mass_probability: dict[int, float]
    charge_probability: dict[int, float]

    @property
    def strength(self) -> float:
        """Of the force between two unit charges (units³/s²); 0 where none was seen."""
        sizes = [
            (e.weight, abs(e.strength))
            for e in self.evidence
            if e.strength is not None and self.charges.get(e.first) and self.charges.get(e.second)
        ]
        total = sum(weight for weight, _ in sizes)
        return sum(weight * size for weight, size in sizes) / total if total else 0.0


class _Force(NamedTuple):
    """Fitted push of ``source`` on ``body``: acceleration times distance squared, its standard error, and the
    frames fitted.
    """

    size: float
    error: float
    frames: list[int]


def infer(target: Target) -> Inferred:
    """Hidden properties of a target's objects from its reference videos alone.

    Reads positions, velocities, visibility and recorded contacts; a mass or charge in a file is not even
    decoded.
    """
    numbers = {look(thing): thing.object_id for thing in target.annotation.object_property}
    exchanges: list[Sighting] = []
    motions: list[Motion] = []
    for video, reference in enumerate(target.references):
        known = {
            thing.object_id: numbers[look(thing)]
            for thing in reference.object_property
            if look(thing) in numbers
        }
        motion = {known[number]: track for number, track in tracks(reference).items() if number in known}
        met = [
            (c.frame_id, *(known[number] for number in c.object_ids))
            for c in reference.collision
            if set(c.object_ids) <= set(known)
        ]
        contacts = [(frame, min(a, b), max(a, b)) for frame, a, b in met]
        exchanges += _exchanges(video, motion, contacts)
        motions.append(motion)
    pushes = list(
        _pushes(motions, {thing.object_id: thing.shape for thing in target.annotation.object_property})
    )
    forces = [evidence for push in pushes if (evidence := _force(*push))]
    everyone = sorted(numbers.values())
    masses, mass_probability = _masses(everyone, [*exchanges, *forces])
    forces = [_weighed(evidence, masses, pushes) for evidence in forces]
    charges, charge_probability = _charges(masses, pushes)
    return Inferred(
        masses,
        charges,
        tuple(sorted([*exchanges, *forces], key=lambda e: (e.video, e.since, e.first, e.second, e.kind))),
        mass_probability,
        charge_probability,
    )


def _exchanges(video: int, motion: Motion, contacts: Sequence[tuple[int, int, int]]) -> Iterable[Sighting]:
    for frame, a, b in contacts:
        since, until = frame - BEFORE, frame + AFTER
        disturbed = any(
            abs(other - frame) <= BEFORE + AFTER and {a, b} & {c, d}
            for other, c, d in contacts
            if (c, d) != (a, b)
        )
        if (
            since < 0
            or until >= len(motion[a])
            or disturbed
            or not _seen(motion, (a, b), range(since, until + 1))
        ):
            continue
        ax, ay = _change(motion[a], since, until)
        bx, by = _change(motion[b], since, until)
        dx, dy = bx - ax, by - ay
        size = math.hypot(dx, dy)
        if size < LEAST_CHANGE:
            continue
        lost, won = -(ax * dx + ay * dy) / size, (bx * dx + by * dy) / size
        floor = 0.02 * size  # of a body that hardly moved, noise alone is left
        yield Sighting(
            "MomentumExchange",
            video,
            a,
            b,
            since,
            until,
            weight=size,
            ratio=max(won, floor) / max(lost, floor),
        )


def _seen(motion: Motion, pair: Pair, frames: Iterable[int]) -> bool:
    return all(motion[number][frame].inside_camera_view for number in pair for frame in frames)


def _change(track: Sequence[MotionState], since: int, until: int) -> tuple[float, float]:
    (ax, ay, _), (bx, by, _) = track[since].velocity, track[until].velocity
    return bx - ax, by - ay


def _pushes(
    motions: Sequence[Motion], shapes: Mapping[int, str]
) -> Iterable[tuple[int, Pair, _Force | None, _Force | None]]:
    """For each video and pair of its objects, the fitted force on the first and on the second."""
    fitted = {
        body: _fit(body, motions, shapes) for body in sorted({body for motion in motions for body in motion})
    }
    for video, motion in enumerate(motions):
        for a, b in combinations(sorted(motion), 2):
            on_first, on_second = fitted[a].get((video, b)), fitted[b].get((video, a))
            if on_first or on_second:
                yield video, (a, b), on_first, on_second


def _fit(body: int, motions: Sequence[Motion], shapes: Mapping[int, str]) -> dict[tuple[int, int], _Force]:
    """Least squares of a body's acceleration over all videos: one force a video and other body, one friction
    and one drag.
    """
    near = {
        other: _REACH[shapes[body]] + _REACH[shapes[other]] + MARGIN
        for other in sorted(shapes)
        if other != body
    }
    frames = {
        video: _free(body, motion, {other: near[other] for other in near if other in motion})
        for video, motion in enumerate(motions)
        if body in motion
    }
    frames = {video: free for video, free in frames.items() if len(free) >= LEAST_FRAMES}
    columns = {
        key: place
        for place, key in enumerate(
            (video, other) for video in frames for other in sorted(set(motions[video]) - {body})
        )
    }
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
                for other in sorted(set(motions[video]) - {body})
            ]
            for axis in (0, 1):
                row = [0.0] * len(columns) + [-velocity[axis] / speed, -velocity[axis] * (1 + speed)]
                for place, push in pushes:
                    row[place] = push[axis]
                rows.append(row)
                seen.append(
                    (track[frame + 1].velocity[axis] - track[frame - 1].velocity[axis])
                    / (2 * SECONDS_PER_FRAME)
                )
    matrix, target = np.array(rows), np.array(seen)
    inverse = np.linalg.pinv(matrix.T @ matrix)
    solution = inverse @ matrix.T @ target
    left = target - matrix @ solution
    spread = max(float(left @ left) / max(len(seen) - matrix.shape[1], 1), 1e-6)
    errors = np.sqrt(np.maximum(np.diag(inverse), 0.0) * spread)
    return {
        (video, other): _Force(float(solution[place]), float(errors[place]), frames[video])
        for (video, other), place in columns.items()
    }


def _free(body: int, motion: Motion, reach: Mapping[int, float]) -> list[int]:
    """The frames in which a body moves, touches nothing, and everyone is in view; ``reach`` is how near it
    touches each other body.
    """
    track, others = motion[body], [motion[other] for other in reach]
    frames: list[int] = []
    for frame in range(1, len(track) - 1):
        around = range(frame - 1, frame + 2)
        if not all(states[f].inside_camera_view for states in (track, *others) for f in around):
            continue
        if any(
            _distance(motion[other][f], track[f]) < touch for other, touch in reach.items() for f in around
        ):
            continue
        # A body that rests may be held by the ground, whatever pulls at it.
        if min(math.hypot(*track[f].velocity[:2]) for f in around) > MOVING_SPEED:
            frames.append(frame)
    return frames


def _distance(first: MotionState, second: MotionState) -> float:
    return math.dist(first.location[:2], second.location[:2])


def _away(body: MotionState, source: MotionState) -> tuple[float, float]:
    """From the source to the body, as long as one over their distance squared."""
    dx, dy = body.location[0] - source.location[0], body.location[1] - source.location[1]
    cube = math.hypot(dx, dy) ** 3
    return dx / cube, dy / cube


def _clear(force: _Force | None) -> bool:
    return (
        force is not None and abs(force.size) > LEAST_STRENGTH and abs(force.size) > LEAST_SIGMA * force.error
    )


def _force(video: int, pair: Pair, on_first: _Force | None, on_second: _Force | None) -> Sighting | None:
    """A force at a distance, where one body shows it clearly and the other, if it could be measured, does not
    deny it.
    """
    clear = [force for force in (on_first, on_second) if force and _clear(force)]
    if not clear or len({force.size > 0 for force in clear}) > 1:
        return None
    if any(
        force and not _clear(force) and force.error * LEAST_SIGMA < LEAST_STRENGTH / 2
        for force in (on_first, on_second)
    ):
        return None
    frames = sorted({frame for force in clear for frame in force.frames})
    ratio = on_second.size / on_first.size if on_first and on_second and len(clear) == 2 else None
    weight = math.sqrt(sum((force.size / force.error) ** 2 for force in clear)) / 100
    return Sighting(
        "DistantForce",
        video,
        *pair,
        frames[0],
        frames[-1],
        weight=min(weight, 1.0),
        ratio=ratio,
        strength=max((f.size for f in clear), key=abs),
    )


def _weighed(
    evidence: Sighting,
    masses: Mapping[int, int],
    pushes: Sequence[tuple[int, Pair, _Force | None, _Force | None]],
) -> Sighting:
    """The same evidence with the strength that a body of mass 1 would show."""
    on_first, on_second = next(
        (on_first, on_second)
        for video, pair, on_first, on_second in pushes
        if (video, *pair) == (evidence.video, evidence.first, evidence.second)
    )
    sides = [
        (force.error, force.size * masses[number])
        for force, number in ((on_first, evidence.first), (on_second, evidence.second))
        if force and _clear(force)
    ]
    return evidence._replace(strength=min(sides)[1])


def _masses(numbers: Sequence[int], evidence: Iterable[Sighting]) -> tuple[dict[int, int], dict[int, float]]:
    """The masses that fit the ratios best, group by group of objects that were compared, the lightest of
    equals; and how probable each is.
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
    # An absolute value, not a square: one wrong measurement must not outvote two right ones. Rounded, so that
    # equals are equal.
    return round(sum(weight * abs(log - math.log(masses[a] / masses[b])) for a, b, log, weight in ratios), 9)


def _groups(numbers: Sequence[int], pairs: Iterable[Pair]) -> list[list[int]]:
    groups = {number: [number] for number in numbers}
    for a, b in pairs:
        if groups[a] is not groups[b]:
            groups[a] += groups[b]
            for number in groups[b]:
                groups[number] = groups[a]
    return [sorted(group) for number, group in groups.items() if number == min(group)]


def _charges(
    masses: Mapping[int, int], pushes: Sequence[tuple[int, Pair, _Force | None, _Force | None]]
) -> tuple[dict[int, int], dict[int, float]]:
    """The likeliest charges, given every fitted force, the unclear ones too, and how probable each is, up to
    the sign of all; the first charged object is positive.
    """
    numbers = sorted(masses)
    interacting = {
        pair for video, pair, on_first, on_second in pushes if _force(video, pair, on_first, on_second)
    }
    weights: dict[tuple[int, ...], float] = {}
    for chosen in product(CHARGE_PRIOR, repeat=len(numbers)):
        charge = dict(zip(numbers, chosen, strict=True))
        charged = [number for number in numbers if charge[number]]
        if charged and charge[charged[0]] < 0:
            continue  # the mirror of another, with all signs changed
        fit = math.fsum(
            _fit_of(charge[a] * charge[b], (on_first, masses[a]), (on_second, masses[b]))
            for _, (a, b), on_first, on_second in pushes
        )
        prior = math.fsum(math.log(CHARGE_PRIOR[value]) for value in chosen) + math.log(2) * bool(charged)
        # A lone charge shows nothing, whatever is filmed.
        unseen = len(set(combinations(charged, 2)) - interacting) + (len(charged) == 1)
        weights[chosen] = round(fit + prior + unseen * math.log(MISSED), 9)
    best = max(weights, key=lambda chosen: (weights[chosen], chosen))
    total = math.fsum(math.exp(weight - weights[best]) for weight in weights.values())
    probability = dict.fromkeys(numbers, 0.0)
    for chosen, weight in weights.items():
        # Of a world whose first charged object is another, the signs that agree better are compared.
        agreement = sum(value * likeliest for value, likeliest in zip(chosen, best, strict=True))
        for number, value, likeliest in zip(numbers, chosen, best, strict=True):
            if (value if agreement >= 0 else -value) == likeliest:
                probability[number] += math.exp(weight - weights[best]) / total
    return dict(zip(numbers, best, strict=True)), probability


def _fit_of(product_of_charges: int, *sides: tuple[_Force | None, int]) -> float:
    """The logarithm of how likely the fitted forces on two bodies are, under a product of their charges."""
    seen = [(force, mass) for force, mass in sides if force]
    strengths = [strength * product_of_charges for strength in STRENGTHS] if product_of_charges else [0.0]
    likely = [
        math.fsum(-abs(force.size - strength / mass) / _spread(force) for force, mass in seen)
        for strength in strengths
    ]
    best = max(likely)
    return best + math.log(math.fsum(math.exp(term - best) for term in likely) / len(likely))


def _spread(force: _Force) -> float:
    return max(FORCE_SPREAD * force.error, LEAST_STRENGTH / 2)


def hidden(target: Target) -> Iterator[Spelled]:
    """Mass and charge as the reference videos show them, with the evidence, for the target's log."""
    scene, inferred = target_iri(target.scene), infer(target)
    yield from _property(scene, "mass", inferred.masses)
    yield from _property(scene, "charge", inferred.charges)
    yield from _probability(scene, "massProbability", inferred.mass_probability)
    yield from _probability(scene, "chargeProbability", inferred.charge_probability)
    if inferred.strength:
        yield _fact(f"<{scene}> <{NAMESPACE}strength> {_double(inferred.strength)}")
    for number, evidence in enumerate(inferred.evidence):
        name = f"<{scene}:evidence:{number}>"
        yield _fact(f"{name} {_TYPE} <{NAMESPACE}{evidence.kind}>")
        for key, value in (("video", evidence.video), ("since", evidence.since), ("until", evidence.until)):
            yield _fact(f"{name} <{NAMESPACE}{key}> {_integer(value)}")
        for key, value in (("first", evidence.first), ("second", evidence.second)):
            yield _fact(f"{name} <{NAMESPACE}{key}> <{scene}:object:{value}>")
            yield _fact(f"<{scene}:object:{value}> <{NAMESPACE}evidence> {name}")
        for key, value in (
            ("weight", evidence.weight),
            ("ratio", evidence.ratio),
            ("strength", evidence.strength),
        ):
            if value is not None:
                yield _fact(f"{name} <{NAMESPACE}{key}> {_double(value)}")


def _fact(text: str) -> Spelled:
    return Spelled(0, Op.INSERT, text)


def _property(scene: str, name: str, values: Mapping[int, int]) -> Iterator[Spelled]:
    for number, value in sorted(values.items()):
        yield _fact(f"<{scene}:object:{number}> <{NAMESPACE}{name}> {_integer(value)}")


def _probability(scene: str, name: str, values: Mapping[int, float]) -> Iterator[Spelled]:
    # Four digits: a probability is no better known than that.
    for number, value in sorted(values.items()):
        yield _fact(f"<{scene}:object:{number}> <{NAMESPACE}{name}> {_double(round(value, 4))}")


def _integer(value: int) -> str:
    return f'"{value}"^^<{_XSD}integer>'


def _double(value: float) -> str:
    # Least squares may differ in the last bits from one processor to another: what is measured is kept to six
    # digits.
    return f'"{float(f"{value:.6g}")!r}"^^<{_XSD}double>'
