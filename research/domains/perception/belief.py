"""Hypotheses ► probabilities: logistic sums of the evidence for an event, calibrated on training videos.

The features come from :class:`~research.domains.perception.collisions.Contact` and
:class:`~research.domains.perception.borders.Crossing`, which say what each measures. Caps and scales are set
by hand, so that no single feature decides alone; only the weights are fitted. So a changed feature needs a
new fit by :mod:`.calibrate`.
"""

from __future__ import annotations

from math import copysign, exp, log1p

import msgspec
import numpy as np

from research.domains.perception.borders import Crossing
from research.domains.perception.collisions import Contact
from research.domains.perception.constants import fitted

_STEEPEST = 30.0  # the largest log-odds: further ones change no probability that is written


def _bent(gain: float) -> float:
    """A gain on a logarithmic scale, with its sign: large gains add little more certainty."""
    return copysign(log1p(abs(gain) / 5), gain)


def _within(value: float, least: float, most: float) -> float:
    return max(least, min(most, value))


def contact_terms(contact: Contact) -> list[float]:
    """The weighed features of a contact, the constant first, in the order of the fitted weights.

    Most distances count from the reach of these two shapes on; two count from a fixed distance, whatever the
    shapes. All are capped, and scaled to be about as large as the other features.
    """
    low, high = contact.touching
    weaker, stronger = sorted(contact.gains)
    beyond = _within(contact.nearest - high, 0, 0.4) * 10
    return [
        1.0,
        # How much better a blow explains both paths, the path it helps less, and the path it helps more.
        _bent(contact.gain),
        _bent(weaker),
        _bent(stronger),
        # How far the two stay out of reach: ever, and at the contact.
        beyond,
        _within(contact.distance - high, 0, 0.4) * 10,
        # The same from 0.42 units on, just beyond the 0.4 at which two round bodies touch. For a cube this is
        # within reach, but only if the cube is turned by chance with a corner to the other body.
        _within(contact.distance - 0.42, 0, 0.15) * 10,
        # The ghost is the least distance if no blow had happened. Beyond the reach, the two would have passed
        # each other; below 0.4, twice a body's radius, they would have overlapped, which no bodies do.
        _within(contact.ghost - low, 0, 0.4) * 10,
        _within(0.4 - contact.ghost, 0, 0.4) * 5,
        # A blow pushes the two apart, with opposite changes of momentum, and it changes both motions.
        contact.unbalanced,
        _within(min(contact.pushes), -1, 1),
        log1p(min(contact.changes) * 5),
        # Whether the search kept it. A near contact of one of the two, or few sightings after this contact,
        # may explain the paths as well.
        float(contact.chosen),
        exp(-contact.other / 3),
        exp(-contact.seen[1] / 3),
        # The two come together before a contact, and part after it.
        _within(contact.approach, -1.5, 1.5),
        _within(contact.parting, -1.5, 1.5),
        # A gain counts otherwise where the two never come within reach.
        _within(_bent(weaker), -1, 1) * beyond,
        float(contact.approach <= 0 and contact.parting <= 0),
    ]


def crossing_terms(crossing: Crossing) -> list[float]:
    """The weighed features of an entry or exit, the constant first."""
    return [
        1.0,
        # Long out of view by its motion, and long unseen: then it was hardly hidden all the time.
        log1p(max(0, crossing.ahead)),
        log1p(max(0, crossing.unseen)),
        # Few places, or none that move: then nobody knows where it came from or went.
        exp(-crossing.count / 3),
        float(crossing.rests),
        # By its motion it was in view to the video's end, or from its beginning.
        float(crossing.ahead <= 0),
    ]


class Belief(msgspec.Struct, frozen=True):
    """The weights of the features of a contact, of an entry and of an exit."""

    collision: tuple[float, ...]
    entry: tuple[float, ...]
    exit: tuple[float, ...]

    def of_contact(self, contact: Contact) -> float:
        """The probability that a contact happened."""
        return logistic(self.collision, contact_terms(contact))

    def of_crossing(self, crossing: Crossing) -> float:
        """The probability that a body entered or left."""
        return logistic(self.entry if crossing.type == "in" else self.exit, crossing_terms(crossing))


def logistic(weights: tuple[float, ...], terms: list[float]) -> float:
    """The logistic function of a weighted sum.

    >>> logistic((0.0, 1.0), [1.0, 2.0])
    0.8807970779778823
    """
    total = sum(weight * term for weight, term in zip(weights, terms, strict=True))
    return 1 / (1 + exp(-_within(total, -_STEEPEST, _STEEPEST)))


def fit(terms: list[list[float]], true: list[bool], *, pull: float = 1.0) -> tuple[float, ...]:
    """Fit the weights of a logistic regression by Newton's method, with a ridge penalty.

    Args:
        terms: the features of each hypothesis, the constant first.
        true: whether each hypothesis is true.
        pull: the strength of the penalty; it acts on features of equal scale, and not on the constant.

    >>> weights = fit([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0], [1.0, 3.0]], [False, False, True, True])
    >>> logistic(weights, [1.0, 3.0]) > 0.7
    True
    """
    table, outcomes = np.array(terms), np.array(true, dtype=float)
    mean, spread = table.mean(0), table.std(0)
    mean[0], spread[spread == 0] = 0, 1
    spread[0] = 1
    scaled = (table - mean) / spread
    weights = np.zeros(scaled.shape[1])
    penalty = pull * np.eye(len(weights))
    penalty[0, 0] = 1e-9
    for _ in range(60):
        chance = 1 / (1 + np.exp(-np.clip(scaled @ weights, -_STEEPEST, _STEEPEST)))
        gradient = scaled.T @ (chance - outcomes) + penalty @ weights
        hessian = (
            (scaled * (chance * (1 - chance))[:, None]).T @ scaled + penalty + 1e-9 * np.eye(len(weights))
        )
        move = np.linalg.solve(hessian, gradient)
        weights -= move
        if np.abs(move).max() < 1e-9:
            break
    raw = weights / spread
    raw[0] -= float((weights * mean / spread)[1:].sum())
    return tuple(round(float(value), 5) for value in raw)


BELIEF = fitted("belief", Belief)
"""The weights fitted to the training videos."""
