"""Evidence for a collision ► its probability: a logistic sum of what a vote and the past show of a pair.

``constants.json`` has the weights; :mod:`.calibrate` writes that file, :mod:`.from_trajectories` fits them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from math import exp, log

import msgspec
from msgspec import Struct
from msgspec.structs import astuple

from research.domains.foretelling.sight import CONSTANTS

Pair = tuple[int, int]
"""The numbers of two bodies, in order."""
Votes = dict[Pair, tuple[float, float]]
"""By pair: the share of draws in which it collides, and the mean time (0 at once, 1 at the end)."""


class Outlook(Struct, frozen=True):
    """The evidence for future collisions: the vote, the moving bodies and the newly visible bodies."""

    votes: Votes
    moving: frozenset[int] = frozenset()
    entering: frozenset[int] = frozenset()


class Terms(Struct, frozen=True):
    """The features of a pair that may collide, or the weight of each feature."""

    constant: float = 0.0
    share: float = 0.0
    """The log-odds of the share."""
    late: float = 0.0
    """The mean moment at which the draws collide: 0 now, 1 at the end."""
    few_met: float = 0.0
    """1 if at most one pair has collided: the generator kept few scenes with fewer than two."""
    three_met: float = 0.0
    """1 if exactly three pairs have collided: the generator kept few scenes with more."""
    more_met: float = 0.0
    """1 if more than three pairs have collided."""
    shared: float = 0.0
    """The number of collisions that the two bodies already had with others."""
    launched: float = 0.0
    """The number of bodies of the pair that move without having been hit: they were aimed."""
    entering: float = 0.0
    """The number of bodies of the pair that have just entered the view."""
    scattered: float = 0.0
    """1 if both bodies move because they were hit, so that neither was aimed at the other."""
    rival: float = 0.0
    """The largest share of another collision of either body."""
    forestalled: float = 0.0
    """The largest share of an earlier collision of either body."""
    late_share: float = 0.0
    """The product of log-odds and lateness: late collisions are less sure."""


class VoteWeights(Terms, frozen=True):
    """The weights of the features, fitted to the even tracked scenes, as the errors of positions are."""

    cut: float = 0.5
    """Probability from which a collision is predicted; it gave the highest F1."""


VOTE_WEIGHTS = msgspec.convert(CONSTANTS["belief"], VoteWeights)


def features(evidence: Outlook, past: Iterable[Pair]) -> dict[Pair, Terms]:
    """The features of each pair that has a vote and has not met; ``past`` are the pairs that have."""
    met = set(past)
    hits = Counter(name for pair in met for name in pair)
    launched = {name for name in evidence.moving if name not in hits}
    scattered = {name for name in evidence.moving if name in hits}
    open_votes = {pair: votes for pair, votes in evidence.votes.items() if pair not in met}
    by_pair: dict[Pair, Terms] = {}
    for pair, (share, late) in open_votes.items():
        odds = log((share + 0.02) / (1.02 - share))
        rivals = [v for other, v in open_votes.items() if other != pair and set(other) & set(pair)]
        by_pair[pair] = Terms(
            constant=1.0,
            share=odds,
            late=late,
            few_met=float(len(met) < 2),
            three_met=float(len(met) == 3),
            more_met=float(len(met) > 3),
            shared=float(hits[pair[0]] + hits[pair[1]]),
            launched=float(len(launched.intersection(pair))),
            entering=float(len(evidence.entering.intersection(pair))),
            scattered=float(scattered.issuperset(pair)),
            rival=max((rival for rival, _ in rivals), default=0.0),
            forestalled=max((rival for rival, when in rivals if when < late), default=0.0),
            late_share=odds * late,
        )
    return by_pair


def believe(
    evidence: Outlook, past: Iterable[Pair], *, weights: VoteWeights = VOTE_WEIGHTS
) -> dict[Pair, float]:
    """The probability of a collision, for each pair with a vote that has not met.

    >>> votes = {(0, 1): (1.0, 0.3), (0, 2): (0.2, 0.9)}
    >>> chances = believe(Outlook(votes, moving=frozenset({0})), past=[(1, 2)])
    >>> chances[0, 1] > 0.9, chances[0, 2] < 0.3
    (True, True)
    """
    *factors, _ = astuple(weights)  # the last field is the cut
    chances: dict[Pair, float] = {}
    for pair, terms in features(evidence, past).items():
        total = sum(factor * term for factor, term in zip(factors, astuple(terms), strict=True))
        chances[pair] = 1 / (1 + exp(-total))
    return chances
