"""Compare both arms' answers to a specification with its gold: per arm, jointly, and in their difference.

The answers may come from the substrate (``twin.py`` decides them), from an agent or from a language model.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal, NamedTuple

ArmAnswer = Literal["yes", "no", "error"]
"""An arm's answer; ``error`` if it has none."""
ANSWERS = ("yes", "no")


class Judgement(NamedTuple):
    """The right answers to a specification: the number of right arms, whether both are right, and whether the
    answers rightly differ or agree.
    """

    per_arm: int
    joint: int
    divergence: int


MOST = Judgement(per_arm=2, joint=1, divergence=1)
"""All answers of a specification right."""


def judge(predicted: Sequence[str], expected: Sequence[str]) -> Judgement:
    """Compare the answers to a specification's arms with its gold, arm A first.

    An answer that is neither yes nor no does not tell whether the arms differ, so divergence is wrong too.

    >>> judge(("no", "no"), ("yes", "yes"))
    Judgement(per_arm=0, joint=0, divergence=1)
    >>> judge(("error", "no"), ("yes", "no"))
    Judgement(per_arm=1, joint=0, divergence=0)

    Raises:
        ValueError: there are not two answers.
    """
    (a, b), (gold_a, gold_b) = predicted, expected
    right = (a == gold_a) + (b == gold_b)
    divergence = a in ANSWERS and b in ANSWERS and (a != b) is (gold_a != gold_b)
    return Judgement(right, int(right == 2), int(divergence))


def read_reply(text: str) -> ArmAnswer | None:
    """Read a reply that is yes, no or error, in any case, with any quotes and full stops.

    >>> read_reply(" No."), read_reply('"YES!"'), read_reply("error"), read_reply("yes and no")
    ('no', 'yes', 'error', None)
    """
    word = re.sub(r"^\W+|\W+$", "", text).lower()
    return word if word in ("yes", "no", "error") else None
