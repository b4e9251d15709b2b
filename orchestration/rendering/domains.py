"""A figure that the paper leaves blank, as data: one set of questions, asked in two domains."""

import hashlib
from collections.abc import Iterable
from typing import NamedTuple

from substrate import TBox, unfold
from substrate.ask import Answer, survey
from substrate.ask.questions import TEMPLATES
from substrate.domains.smallville.experiment import HORIZON


class Domain(NamedTuple):
    """A domain: its TBox, how long the log that its rules unfold is, and its answers by template."""

    name: str
    turtle: str
    deltas: int
    digest: str
    answers: dict[str, list[Answer]]


def cross_domain(names: Iterable[str] = ("village", "clinical")) -> list[Domain]:
    """Every question template asked of each domain; the answers that rest on something come first.

    >>> [sorted(domain.answers) == sorted(TEMPLATES) for domain in cross_domain()]
    [True, True]
    """
    found: list[Domain] = []
    for name in names:
        tbox = TBox.load(name)
        log = unfold(tbox, tbox.opening(), until=HORIZON)
        answers = sorted(survey(tbox, log), key=lambda answer: not answer.evidence)
        by_template = {template: [a for a in answers if a.template == template] for template in TEMPLATES}
        turtle = f"sha256:{hashlib.sha256(tbox.turtle.encode()).hexdigest()}"
        found.append(Domain(name, turtle, len(log), log.digest, by_template))
    return found
