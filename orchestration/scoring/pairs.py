"""Questions asked twice, of two arms: what of a pair of answers is right."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

ANSWERS = ("yes", "no")


class Judgement(NamedTuple):
    """What of a pair is right: so many of its two arms, both at once, and whether the arms differ."""

    per_arm: int
    joint: int
    divergence: int


WEIGHTS = Judgement(per_arm=2, joint=1, divergence=1)
"""What a pair counts in each metric."""


def judge(predicted: Sequence[str], expected: Sequence[str]) -> Judgement:
    """Hold a pair of answers against its gold, arm A first.

    An answer that is neither yes nor no says nothing of whether the arms differ: it is wrong there too.

    >>> judge(("no", "no"), ("yes", "yes"))
    Judgement(per_arm=0, joint=0, divergence=1)
    >>> judge(("error", "no"), ("yes", "no"))
    Judgement(per_arm=1, joint=0, divergence=0)

    Raises:
        ValueError: there are not two arms.
    """
    (a, b), (gold_a, gold_b) = predicted, expected
    told = a in ANSWERS and b in ANSWERS
    return Judgement(
        (a == gold_a) + (b == gold_b),
        int((a, b) == (gold_a, gold_b)),
        int(told and (a != b) is (gold_a != gold_b)),
    )
