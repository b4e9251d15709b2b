"""The relations of the paper's claims: each as the paper prints it, and as it is measured.

A relation has a sign. The sign of an order or a margin is 1 if the relation holds, -1 if its opposite does,
and 0 if neither is sure. The sign of a number's level is 1 above the printed figure, -1 below it, and 0 if
the number is as printed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import pairwise
from typing import Any, Literal, NamedTuple

from orchestration.scoring.claims import Claim
from orchestration.scoring.comparability import own
from orchestration.scoring.counting import Comparison, compared
from orchestration.scoring.formatting import bracketed, share
from orchestration.scoring.names import MINUS
from orchestration.scoring.published import PAPER, Figure, published
from orchestration.scoring.statistics import clustered, wilson

# The p below which a paired difference has a sign.
_SURE = 0.05
# The most by which a printed difference may miss that of its rounded sides.
_ROUNDED = 0.006
Outcomes = Mapping[tuple[str, ...], Any]


class Measured(NamedTuple):
    """A number as measured.

    Attributes:
        correct: its right answers.
        n: all its answers.
        on: its data in words.
        by: the language model that answered; empty if none did.
        outcomes: gives by scene and question whether the answer is right.
        answers: gives by scene and question the answer and its log.
        clusters: gives right answers and total of each set of questions that its interval takes for one draw.
    """

    correct: int
    n: int
    on: str
    by: str
    outcomes: Callable[[], Outcomes]
    answers: Callable[[], Outcomes]
    clusters: Callable[[], list[tuple[int, int]]]

    def plus(self, other: Measured) -> Measured:
        """Add the answers to other questions."""
        on, correct = f"{self.n:,} of {self.on}; {other.n:,} of {other.on}", self.correct + other.correct
        each = partial(_both, self.outcomes, other.outcomes), partial(_both, self.answers, other.answers)
        n, clusters = self.n + other.n, (self.clusters, other.clusters)
        return Measured(correct, n, on, self.by, *each, lambda: [cell for of in clusters for cell in of()])


def _both(*sides: Callable[[], Outcomes]) -> Outcomes:
    """The outcomes of several sets of questions, which may be named alike."""
    return {(str(at), *key): value for at, side in enumerate(sides) for key, value in side().items()}


class Printed(NamedTuple):
    """A relation as the paper prints it.

    Attributes:
        text: its figures in words.
        sign: the sign that it claims.
        fits: whether the paper's own figures obey it; ``None`` if the paper prints none to judge.
    """

    text: str
    sign: int
    fits: bool | None = None

    @property
    def word(self) -> Literal["consistent", "inconsistent"] | None:
        """The verdict on the figures; ``None`` without a figure."""
        return None if self.fits is None else "consistent" if self.fits else "inconsistent"


class Found(NamedTuple):
    """A relation as measured on one kind of data.

    Attributes:
        sign: the measured sign.
        text: the measurement in words.
        n: the number of questions.
        why: a remark on the test.
    """

    sign: int
    text: str
    n: int
    why: str


def shares(sides: Sequence[Measured]) -> str:
    """The measured accuracies in words."""
    return "; ".join(f"{share(side.correct, side.n)} of {side.n:,}" for side in sides)


def printed(claim: Claim) -> Printed:
    """A claim's relation of numbers as the paper prints it."""
    if claim.relation == "same_bytes":
        return Printed("the same bytes", 1)
    figures = _figures(claim)
    if claim.relation == "order":
        values = [figure.value for figure in figures]
        fits = values == sorted(values) if len(values) == len(claim.names) else None
        return Printed(" < ".join(figure.printed for figure in figures), 1, fits)
    if len(claim.names) == 1:
        return Printed(f"{figures[0].printed} %" if figures else "", 0, _interval(claim.names[0]))
    if (margin := _printed_margin(claim)) is None:
        return Printed("no figure", 1)
    size, apart = margin
    return Printed(f"{size:+.2f} pp", 1 if apart > 0 else -1, abs(size - apart) < _ROUNDED)


def _figures(claim: Claim) -> list[Figure]:
    """The accuracies that the paper prints of a relation's numbers and of its rival."""
    first, *_ = claim.names
    sides = [(name, own(name)) for name in claim.numbers] + [(first, claim.rival)] * bool(claim.rival)
    figures = (published().accuracies(number).get(who) for number, who in sides)
    return [figure for figure in figures if figure]


def _printed_margin(claim: Claim) -> tuple[float, float] | None:
    """A margin in percentage points, as printed or else that of its figures; and that of its figures."""
    first, second = claim.names
    figures, number = _figures(claim), published().number(first)
    if len(figures) < 2 or number is None:
        return None
    apart, size = figures[0].value - figures[1].value, number.figures.get(f"{MINUS}{second}")
    return size.value if size else round(apart, 2), apart


def _interval(number: str) -> bool | None:
    """Tell whether a printed interval is Wilson's for a count that gives the printed accuracy."""
    of = published().number(number)
    if of is None or of.n is None or f"{PAPER}/low" not in of.figures:
        return None
    wanted = tuple(of.figures[f"{PAPER}/{edge}"].value for edge in ("low", "high"))
    middle, reach = round(of.figures[PAPER].value * of.n / 100), of.n // 10_000 + 1
    near = range(max(middle - reach, 0), middle + reach + 1)
    counts = [count for count in near if f"{100 * count / of.n:.2f}" == of.figures[PAPER].printed]
    return any(tuple(round(100 * edge, 2) for edge in wilson(c, of.n)) == wanted for c in counts)


def _margin(claim: Claim, sides: list[Measured]) -> Found:
    if len(sides) == 2:
        return _apart(claim, *sides)
    (side,), number, known = sides, claim.numbers[0], published()
    low, high = (100 * edge for edge in clustered(side.clusters()))
    figure = known.accuracies(number)[claim.rival or own(number)].value
    sign = 1 if low > figure else -1 if high < figure else 0
    if not claim.rival:
        text = f"{share(side.correct, side.n)} [{low:.2f}, {high:.2f}]"
        place = {1: "below", -1: "above"}.get(sign, "in")
        return Found(sign, text, side.n, f"the printed {figure:.2f} % lies {place} the interval")
    text = f"{100 * side.correct / side.n - figure:+.2f} pp [{low - figure:+.2f}, {high - figure:+.2f}]"
    split = f"{known.systems[claim.rival].title}'s figure is of split {known.split(number, claim.rival)}"
    return Found(sign, text, side.n, split)


def _paired(first: Measured, second: Measured) -> tuple[Comparison, int]:
    """Compare two numbers on the questions that both were asked; the sign is 0 if none is sure."""
    pair = compared("", "", first.outcomes(), second.outcomes())
    sure = pair.mcnemar is not None and pair.mcnemar < _SURE
    return pair, (1 if pair.first_only > pair.second_only else -1) if sure else 0


def _apart(claim: Claim, first: Measured, second: Measured) -> Found:
    pair, sign = _paired(first, second)
    if pair.difference is None or pair.newcombe is None or pair.mcnemar is None:
        return Found(0, shares([first, second]), 0, "the two were not asked the same questions")
    (low, high), why = pair.newcombe, "paired: Newcombe's interval, McNemar's exact p"
    text = f"{100 * pair.difference:+.2f} pp {bracketed(low, high)}"
    text += f", {pair.first_only} : {pair.second_only}, p {pair.mcnemar:.2g}"
    if margin := _printed_margin(claim):
        place = "in" if low <= margin[0] / 100 <= high else "outside"
        why += f"; the printed size lies {place} the interval"
    return Found(sign, text, pair.n, why)


def _order(claim: Claim, sides: list[Measured]) -> Found:
    pairs = [_paired(better, worse) for worse, better in pairwise(sides)]
    signs, text = {sign for _, sign in pairs}, share(sides[0].correct, sides[0].n)
    for (pair, sign), side in zip(pairs, sides[1:], strict=True):
        text += f" {'≈<>'[sign]} {share(side.correct, side.n)}"
        text += f" (p {pair.mcnemar:.2g})" if not sign and pair.mcnemar is not None else ""
    sign = -1 if -1 in signs else int(signs == {1})
    return Found(sign, text, sides[0].n, "each against the number before it, by McNemar's exact p")


def _same_bytes(claim: Claim, sides: list[Measured]) -> Found:
    first, second = (side.answers() for side in sides)
    same = sum(first[key] == second.get(key) for key in first)
    text = f"{same:,} of {len(first):,} answers, and their logs, are the same in two stages"
    sign = 1 if same == len(first) > 0 else -1
    return Found(sign, text, len(first), "`substrate verify` computes every result again")


def measure(claim: Claim, sides: list[Measured]) -> Found:
    """Measure a claim's relation of numbers, given each number as measured, in order."""
    return {"margin": _margin, "order": _order, "same_bytes": _same_bytes}[claim.relation](claim, sides)
