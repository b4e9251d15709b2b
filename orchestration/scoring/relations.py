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
        correct, n = self.correct + other.correct, self.n + other.n
        on = f"{self.n:,} of {self.on}; {other.n:,} of {other.on}"
        outcomes = partial(_both, self.outcomes, other.outcomes)
        answers = partial(_both, self.answers, other.answers)
        return Measured(
            correct, n, on, self.by, outcomes, answers, lambda: self.clusters() + other.clusters()
        )


def _both(*sides: Callable[[], Outcomes]) -> Outcomes:
    """The outcomes of several sets of questions; each key begins with its set, for keys may be alike."""
    return {(str(index), *key): value for index, side in enumerate(sides) for key, value in side().items()}


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
        return Printed("the same bytes", sign=1)
    figures = _figures(claim)
    if claim.relation == "order":
        values = [figure.value for figure in figures]
        fits = values == sorted(values) if len(values) == len(claim.names) else None
        return Printed(" < ".join(figure.printed for figure in figures), sign=1, fits=fits)
    if len(claim.names) == 1:
        return Printed(f"{figures[0].printed} %" if figures else "", sign=0, fits=_is_wilsons(claim.names[0]))
    if (margin := _printed_margin(claim)) is None:
        return Printed("no figure", sign=1)
    size, of_figures = margin
    fits = abs(size - of_figures) < _ROUNDED
    return Printed(f"{size:+.2f} pp", sign=1 if of_figures > 0 else -1, fits=fits)


def _figures(claim: Claim) -> list[Figure]:
    """The accuracies that the paper prints of a relation's numbers and of its rival."""
    sides = [(name, own(name)) for name in claim.numbers]
    if claim.rival:
        sides.append((claim.names[0], claim.rival))
    figures = (published().accuracies(number).get(who) for number, who in sides)
    return [figure for figure in figures if figure]


def _printed_margin(claim: Claim) -> tuple[float, float] | None:
    """A margin in percentage points, first as the paper prints it, then as its two figures give it.

    The first is the second, rounded, if the paper prints no margin; nothing if a figure is lacking.
    """
    first, second = claim.names
    figures, number = _figures(claim), published().number(first)
    if len(figures) < 2 or number is None:
        return None
    of_figures = figures[0].value - figures[1].value
    size = number.figures.get(f"{MINUS}{second}")
    return size.value if size else round(of_figures, 2), of_figures


def _is_wilsons(name: str) -> bool | None:
    """Tell whether a number's printed interval is Wilson's for a count that gives the printed accuracy.

    The paper prints no count. ``None`` if it prints no interval or no total.
    """
    number = published().number(name)
    if number is None or number.n is None or f"{PAPER}/low" not in number.figures:
        return None
    n, accuracy = number.n, number.figures[PAPER]
    interval = tuple(number.figures[f"{PAPER}/{edge}"].value for edge in ("low", "high"))
    # An accuracy of two decimals leaves room for about one count in 10,000.
    middle, reach = round(accuracy.value * n / 100), n // 10_000 + 1
    near = range(max(middle - reach, 0), middle + reach + 1)
    counts = [count for count in near if f"{100 * count / n:.2f}" == accuracy.printed]
    return any(tuple(round(100 * edge, 2) for edge in wilson(count, n)) == interval for count in counts)


def _margin(claim: Claim, sides: list[Measured]) -> Found:
    """Compare two measured numbers, or one with a printed figure: of its rival, or else its own."""
    if len(sides) == 2:
        return _apart(claim, *sides)
    (side,), number, known = sides, claim.numbers[0], published()
    figure = known.accuracies(number)[claim.rival or own(number)].value
    low, high = (100 * edge for edge in clustered(side.clusters()))
    # 1 above the figure, -1 below it, 0 if the interval holds it.
    sign = int(low > figure) - int(high < figure)
    if not claim.rival:
        text = f"{share(side.correct, side.n)} [{low:.2f}, {high:.2f}]"
        place = {1: "below", -1: "above", 0: "in"}[sign]
        return Found(sign, text, side.n, why=f"the printed {figure:.2f} % lies {place} the interval")
    text = f"{100 * side.correct / side.n - figure:+.2f} pp [{low - figure:+.2f}, {high - figure:+.2f}]"
    split = f"{known.systems[claim.rival].title}'s figure is of split {known.split(number, claim.rival)}"
    return Found(sign, text, side.n, why=split)


def _paired(first: Measured, second: Measured) -> tuple[Comparison, int]:
    """Compare two numbers on the questions that both were asked; also return the sign of the difference."""
    pair = compared("", "", first.outcomes(), second.outcomes())
    if pair.mcnemar is None or pair.mcnemar >= _SURE:
        return pair, 0
    return pair, 1 if pair.first_only > pair.second_only else -1


def _apart(claim: Claim, first: Measured, second: Measured) -> Found:
    """Compare two numbers question by question."""
    pair, sign = _paired(first, second)
    if pair.difference is None or pair.newcombe is None or pair.mcnemar is None:
        return Found(0, shares([first, second]), n=0, why="the two were not asked the same questions")
    low, high = pair.newcombe
    why = "paired: Newcombe's interval, McNemar's exact p"
    text = f"{100 * pair.difference:+.2f} pp {bracketed(low, high)}"
    text += f", {pair.first_only} : {pair.second_only}, p {pair.mcnemar:.2g}"
    if margin := _printed_margin(claim):
        place = "in" if low <= margin[0] / 100 <= high else "outside"
        why += f"; the printed size lies {place} the interval"
    return Found(sign, text, pair.n, why)


def _order(claim: Claim, sides: list[Measured]) -> Found:
    """Compare each number with the one before it; the claim has them in rising order."""
    pairs = [_paired(better, worse) for worse, better in pairwise(sides)]
    text = share(sides[0].correct, sides[0].n)
    for (pair, sign), side in zip(pairs, sides[1:], strict=True):
        relation = {1: "<", -1: ">", 0: "≈"}[sign]
        text += f" {relation} {share(side.correct, side.n)}"
        text += f" (p {pair.mcnemar:.2g})" if not sign and pair.mcnemar is not None else ""
    # One step in the opposite direction refutes the order; else one unsure step leaves it unsure.
    sign = min(sign for _, sign in pairs)
    return Found(sign, text, sides[0].n, why="each against the number before it, by McNemar's exact p")


def _same_bytes(claim: Claim, sides: list[Measured]) -> Found:
    """Compare the answers, and the logs behind them, of two stages."""
    first, second = (side.answers() for side in sides)
    same = sum(first[key] == second.get(key) for key in first)
    text = f"{same:,} of {len(first):,} answers, and their logs, are the same in two stages"
    sign = 1 if same == len(first) > 0 else -1
    return Found(sign, text, len(first), why="`substrate verify` computes every result again")


def measure(claim: Claim, sides: list[Measured]) -> Found:
    """Measure a claim's relation of numbers, given each number as measured, in order."""
    return {"margin": _margin, "order": _order, "same_bytes": _same_bytes}[claim.relation](claim, sides)
