"""A pair of answers to Twin-EventLog held against its gold, by whatever asks: one code for all."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal, NamedTuple

Said = Literal["yes", "no", "error"]
"""What an arm was answered; ``error`` where there is no answer."""
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


def normal(text: str) -> Said | None:
    """What a reply says, where it is yes, no or error in any case of letters, with any quotes and full stops.

    >>> normal(" No."), normal('"YES!"'), normal("error"), normal("yes and no")
    ('no', 'yes', 'error', None)
    """
    word = re.sub(r"^\W+|\W+$", "", text).lower()
    return word if word in ("yes", "no", "error") else None
