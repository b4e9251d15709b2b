"""Judge the answers to a specification of Twin-EventLog by its gold, with the same code for every source."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import combinations
from typing import Literal, NamedTuple

Said = Literal["yes", "no", "error"]
"""An arm's answer; ``error`` if it has none."""
ANSWERS = ("yes", "no")


class Judgement(NamedTuple):
    """The right part of a specification's answers: so many of its arms, all of them at once, and of so many
    pairs of arms whether the two differ.
    """

    per_arm: int
    joint: int
    divergence: int


def weights(arms: int) -> Judgement:
    """The counts of a specification of so many arms in each metric.

    >>> weights(3)
    Judgement(per_arm=3, joint=1, divergence=3)
    """
    return Judgement(per_arm=arms, joint=1, divergence=arms * (arms - 1) // 2)


def judge(predicted: Sequence[str], expected: Sequence[str]) -> Judgement:
    """Compare the answers to a specification's arms with its gold, arm A first.

    An answer that is neither yes nor no says nothing of whether two arms differ: it is wrong there too.

    >>> judge(("no", "no"), ("yes", "yes"))
    Judgement(per_arm=0, joint=0, divergence=1)
    >>> judge(("error", "no"), ("yes", "no"))
    Judgement(per_arm=1, joint=0, divergence=0)
    >>> judge(("no", "no", "yes"), ("yes", "no", "yes"))
    Judgement(per_arm=2, joint=0, divergence=1)

    Raises:
        ValueError: there are fewer than two arms, or not as many answers as arms.
    """
    if len(expected) < 2:
        raise ValueError("there are fewer than two arms")
    arms = list(zip(predicted, expected, strict=True))
    per_arm = sum(answer == gold for answer, gold in arms)
    divergence = 0
    for (first, gold_first), (second, gold_second) in combinations(arms, 2):
        told = first in ANSWERS and second in ANSWERS
        divergence += told and (first != second) is (gold_first != gold_second)
    return Judgement(per_arm, int(per_arm == len(arms)), divergence)


def normal(text: str) -> Said | None:
    """Read a reply that is yes, no or error, in any case, with any quotes and full stops.

    >>> normal(" No."), normal('"YES!"'), normal("error"), normal("yes and no")
    ('no', 'yes', 'error', None)
    """
    word = re.sub(r"^\W+|\W+$", "", text).lower()
    return word if word in ("yes", "no", "error") else None
