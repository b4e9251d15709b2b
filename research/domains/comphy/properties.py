"""Mass and charge of a target's objects, from the :mod:`evidence <.evidence>` of reference videos.

*Mass.* Each mass is 1 or 5, chosen to fit all measured ratios best; if the ratios leave a choice, the mass is
the lighter.

*Charge.* The charges are those that fit all forces best, unclear forces included. Charges have no absolute
sign: the first charged object counts as positive. Two charged bodies also show their mass ratio without a
contact.

Each mass and charge has a probability: the share of all combinations that agree with it, weighed by how
likely the evidence makes them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations, product
from typing import NamedTuple

from research.domains.comphy.evidence import (
    LEAST_STRENGTH,
    Force,
    Motion,
    Pair,
    Push,
    Sighting,
    exchanges,
    force_between,
    pushes_of,
)
from substrate.domains.clevrer.format import tracks
from substrate.domains.comphy.format import MASSES, Target, appearance

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


def infer(target: Target) -> Inferred:
    """Infer the hidden properties of a target's objects from only its reference videos.

    Reads positions, velocities, visibility and recorded contacts; it does not even decode a mass or charge
    in a file.
    """
    numbers = {appearance(thing): thing.object_id for thing in target.annotation.object_property}
    momenta: list[Sighting] = []
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
        momenta += exchanges(video, motion, contacts)
        motions.append(motion)
    shapes = {thing.object_id: thing.shape for thing in target.annotation.object_property}
    pushes = list(pushes_of(motions, shapes))
    forces = [(push, evidence) for push in pushes if (evidence := force_between(push))]
    seen = [*momenta, *(evidence for _, evidence in forces)]
    masses, mass_probability = _masses(sorted(numbers.values()), seen)
    charges, charge_probability = _charges(masses, pushes)
    seen = [*momenta, *(_with_strength(evidence, masses, push) for push, evidence in forces)]
    seen.sort(key=lambda e: (e.video, e.since, e.first, e.second, e.kind))
    return Inferred(masses, charges, tuple(seen), mass_probability, charge_probability)


def _with_strength(evidence: Sighting, masses: Mapping[int, int], push: Push) -> Sighting:
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


def _charges(masses: Mapping[int, int], pushes: Sequence[Push]) -> tuple[dict[int, int], dict[int, float]]:
    """The likeliest charges, given every fitted force, even unclear ones, with their probabilities. The
    charges are known up to a common sign: the first charged object is positive.
    """
    numbers = sorted(masses)
    interacting = {push.pair for push in pushes if force_between(push)}
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


def _fit_of(product_of_charges: int, *sides: tuple[Force | None, int]) -> float:
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
