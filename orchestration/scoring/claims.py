"""The paper's claims: relations over numbers, and the verdicts that follow from measurements.

The verdict on a number is computed, never typed. Like is compared with like: a paired test on the same
questions, or an interval and a figure of a system that reads the same input. Official data decide, of
whichever split; generated data give a direction. Only for a statement, such as a theorem, does
``claims.yaml`` hold a judge's word, bound to the digest of its evidence.
"""

from __future__ import annotations

import importlib.resources
from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from itertools import pairwise
from typing import Any, Literal, NamedTuple

import msgspec
import yaml

from orchestration.scoring.comparability import own, reads
from orchestration.scoring.counting import Comparison, compared
from orchestration.scoring.formatting import bracketed, share
from orchestration.scoring.published import MINUS, PAPER, Kind, published
from orchestration.scoring.statistics import clustered, wilson

FILE = "orchestration/scoring/claims.yaml"
Relation = Literal["margin", "order", "same_bytes", "statement"]
Word = Literal["proven", "refuted", "repaired"]
Fits = Literal["consistent", "inconsistent"]
OPEN = ("undecided", "not compared", "not measured", "read again")
"""The verdicts that decide nothing."""
VERDICTS = {
    "agrees": ("agrees", "agree"),
    "differs": ("differs", "differ"),
    "proven": ("is proven", "are proven"),
    "repaired": ("needed a repair", "needed a repair"),
    "refuted": ("is refuted", "are refuted"),
    **{word: (word, word) for word in OPEN},
}
"""Every verdict, in the order of lists, with the words for one claim and for several."""
_DIRECTIONS = {
    False: {-1: "opposite", 0: "no difference", 1: "opposite"},
    True: {-1: "below the printed figure", 1: "above the printed figure"},
}
"""The direction of generated data by its sign: for a relation of several numbers, and for a single number."""
_SURE = 0.05
"""The p below which a paired difference has a sign."""
_ROUNDED = 0.006
"""The most by which a printed difference may miss that of its rounded sides."""
_INSIDE = {True: "in", False: "outside"}
Outcomes = Mapping[tuple[str, ...], Any]


class Judged(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A judge's word on a statement, in short and with its reason; the evidence read, and its digest."""

    verdict: Word
    here: str
    reason: str
    evidence: tuple[str, ...]
    digest: str


class Claim(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A claim in plain words, the paper's words with the line of its source, and one relation.

    ``also`` is a benchmark of other official questions, whose answers by the same methods are added.
    """

    claim: str
    words: str
    line: int
    where: str
    margin: tuple[str, ...] = ()
    order: tuple[str, ...] = ()
    same_bytes: tuple[str, ...] = ()
    statement: Judged | None = None
    also: str = ""

    @property
    def relation(self) -> Relation:
        """The claim's relation."""
        if self.margin or self.order:
            return "margin" if self.margin else "order"
        return "same_bytes" if self.same_bytes else "statement"

    @property
    def names(self) -> tuple[str, ...]:
        """The numbers, and perhaps a published system, of the relation."""
        return self.margin or self.order or self.same_bytes

    @property
    def rival(self) -> str:
        """The published system of a margin; empty if there is none."""
        return next((name for name in self.names if name in published().systems), "")

    @property
    def numbers(self) -> list[str]:
        """The numbers of the relation."""
        return [name for name in self.names if name != self.rival]


class Claims(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """All claims by name, and the names of numbers on official files.

    ``plot`` has the rows of the report's plot: by number a label, and the number with the figures beside it.
    """

    official: dict[str, str | None]
    claims: dict[str, Claim]
    plot: dict[str, tuple[str, str]]

    def on_official(self, number: str) -> str | None:
        """The number that measures the same on official files."""
        return self.official.get(number, number)


@cache
def claims() -> Claims:
    """Read the claims.

    >>> claims().claims["kinematics_order"].relation
    'order'
    """
    text = (importlib.resources.files("orchestration.scoring") / "claims.yaml").read_text("utf-8")
    return msgspec.convert(yaml.safe_load(text), Claims)


class Measured(NamedTuple):
    """A number as measured: its counts, its data in words, the model that answered, and its answers.

    ``outcomes`` gives by scene and question whether the answer is right, ``answers`` the answer and its log.
    ``clusters`` gives right answers and total of each set of questions that its interval takes for one draw.
    """

    correct: int
    n: int
    on: str
    by: str
    outcomes: Callable[[], Outcomes]
    answers: Callable[[], Outcomes]
    clusters: Callable[[], list[tuple[int, int]]]

    def plus(self, other: Measured | None) -> Measured:
        """Add the answers to other questions."""
        if other is None:
            return self

        def both(part: str) -> Outcomes:
            sides = enumerate(getattr(side, part)() for side in (self, other))
            return {(str(at), *key): value for at, of in sides for key, value in of.items()}

        n, on = self.n + other.n, f"{self.n:,} of {self.on}; {other.n:,} of {other.on}"
        parts = (
            partial(both, "outcomes"),
            partial(both, "answers"),
            lambda: self.clusters() + other.clusters(),
        )
        return Measured(self.correct + other.correct, n, on, self.by, *parts)


Find = Callable[[str], Measured | None]
"""Finds a number's measurement; ``None`` if there is none."""


class ClaimVerdict(msgspec.Struct, frozen=True, kw_only=True):
    """A claim with its verdicts: the paper's own figures obey it or not, and the verdict here.

    ``direction`` is that of generated data; ``numbers`` are the measured ones by the names of their data.
    """

    name: str
    claim: str
    words: str
    line: int
    where: str
    relation: Relation
    printed: Fits | None = None
    verdict: str
    direction: str | None = None
    paper: str = ""
    measured: str = ""
    n: int | None = None
    data: Kind = "none"
    on: str = ""
    why: str = ""
    numbers: list[str] = []


class _Here(NamedTuple):
    """A relation on one kind of data: its sign, as -1, 0 or 1, its text, and a remark."""

    sign: int
    text: str
    n: int
    why: str = ""


def verdict(
    name: str, official: Find, generated: Find, digest: Callable[[tuple[str, ...]], str]
) -> ClaimVerdict:
    """Compute the verdict on a claim.

    Args:
        official: finds numbers on official data, by the names that they have there.
        generated: finds numbers on generated data.
        digest: computes the digest of a statement's evidence.
    """
    claim = claims().claims[name]
    known: dict[str, Any] = {
        key: getattr(claim, key) for key in ("claim", "words", "line", "where", "relation")
    }
    known["name"] = name
    if of := claim.statement:
        now, known = digest(of.evidence), known | {"paper": "statement", "on": "its proof and tests"}
        if now == of.digest:
            return ClaimVerdict(**known, verdict=of.verdict, measured=of.here, why=of.reason)
        why = f"its evidence changed; read it, then write digest {now} in {FILE}"
        return ClaimVerdict(**known, verdict="read again", why=why)
    there = [claims().on_official(number) for number in claim.numbers]
    on_official = [official(number) if number else None for number in there]
    if claim.also:
        others = [official(f"{claim.also}/{number.partition('/')[2]}") for number in claim.numbers]
        on_official = [of and of.plus(more) for of, more in zip(on_official, others, strict=True)]
    on_generated = [generated(number) for number in claim.numbers]
    data: Kind = "official" if all(on_official) else "generated" if all(on_generated) else "none"
    sides = on_official if data == "official" else on_generated
    measured = [side for side in sides if side]
    printed, paper, expected = _printed(claim)
    known |= {"printed": printed, "paper": paper, "data": data, "measured": _shares(measured)}
    if data != "none":
        numbers = [*filter(None, there)] if data == "official" else claim.numbers
        known |= {"on": measured[0].on, "n": measured[0].n, "numbers": numbers}
    missing = [number for number, side in zip(claim.numbers, sides, strict=True) if not side]
    reasons = list(_unlike(claim, sides, data)) or [f"no data for {', '.join(missing)}"] * bool(missing)
    if reasons:
        if claim.rival:
            of = published().systems[claim.rival]
            known |= {"verdict": "not compared", "on": f"different inputs: {of.title} reads {of.sees}"}
        else:
            others = ", ".join(dict.fromkeys(side.by for side in measured if side.by))
            on = "no data for a number" if missing else f"another model: {others}"
            known |= {"verdict": "not measured", "on": on}
        return ClaimVerdict(**known, why="; ".join(reasons))
    here = _RELATIONS[claim.relation](claim, measured)
    known |= {"measured": here.text, "n": here.n, "why": here.why}
    if claim.relation == "same_bytes":
        known |= {"data": "none", "on": "this code, whatever the data"}
    if data == "official" or claim.relation == "same_bytes":
        undecided = here.sign == 0 and claim.relation in ("margin", "order") and expected
        word = "agrees" if here.sign == expected else "undecided" if undecided else "differs"
        if word == "differs" and not expected:
            known["measured"] += f", {_DIRECTIONS[True][here.sign]}"
        return ClaimVerdict(**known, verdict=word)
    direction = "as printed" if here.sign == expected else _DIRECTIONS[expected == 0][here.sign]
    known["why"] = "measured on generated data alone, which give a direction and decide nothing"
    return ClaimVerdict(**known, verdict="undecided", direction=direction)


def _unlike(claim: Claim, sides: list[Measured | None], data: Kind) -> Iterator[str]:
    """Yield, for each number and system of a relation, why it is not compared like with like."""
    known, unlike = published().systems, False
    for number, side in zip(claim.numbers, sides, strict=True):
        model, input_ = known[own(number)].model, reads(PAPER, number)
        if side and model.lower() not in side.by.lower():
            yield f"{number}: {side.by or 'no model'} answered, not {model} as in the paper"
        elif claim.rival and known[claim.rival].sees != input_:
            unlike = True
            yield f"{number}: reads {input_}, {f'{data} data' if side else 'not measured'}"
    if unlike:
        of, split = known[claim.rival], published().split(claim.numbers[0], claim.rival)
        yield f"{of.title}: reads {of.sees}; split {split}"


def _shares(sides: list[Measured]) -> str:
    return "; ".join(f"{share(side.correct, side.n)} of {side.n:,}" for side in sides)


def _printed(claim: Claim) -> tuple[Fits | None, str, int]:
    """Tell whether the paper's figures obey a relation; its printed form; and the sign that it claims."""
    if claim.relation == "same_bytes":
        return None, "the same bytes", 1
    first, *others = claim.names
    figures = [published().accuracies(number).get(own(number)) for number in claim.numbers]
    if claim.rival:
        figures.append(published().accuracies(first).get(claim.rival))
    values = [figure.value for figure in figures if figure]
    if claim.relation == "order":
        text = " < ".join(figure.printed for figure in figures if figure)
        return _word(values == sorted(values)) if all(figures) else None, text, 1
    if not others:
        return _interval(first), f"{figures[0].printed} %" if figures[0] else "", 0
    if not all(figures):
        return None, "no figure", 1
    apart, number = values[0] - values[1], published().number(first)
    size = number and number.figures.get(f"{MINUS}{others[0]}")
    text = f"{size.value if size else apart:+.2f} pp"
    return _word(size is None or abs(size.value - apart) < _ROUNDED), text, 1 if apart > 0 else -1


def _word(fits: bool) -> Fits:
    return "consistent" if fits else "inconsistent"


def _interval(number: str) -> Fits | None:
    """Tell whether a printed interval is Wilson's for a count that gives the printed accuracy."""
    of = published().number(number)
    if of is None or of.n is None or f"{PAPER}/low" not in of.figures:
        return None
    wanted = tuple(of.figures[f"{PAPER}/{edge}"].value for edge in ("low", "high"))
    middle, reach = round(of.figures[PAPER].value * of.n / 100), of.n // 10_000 + 1
    near = range(max(middle - reach, 0), middle + reach + 1)
    counts = [count for count in near if f"{100 * count / of.n:.2f}" == of.figures[PAPER].printed]
    return _word(any(tuple(round(100 * edge, 2) for edge in wilson(c, of.n)) == wanted for c in counts))


def _margin(claim: Claim, sides: list[Measured]) -> _Here:
    if len(sides) == 2:
        return _apart(claim, *sides)
    (side,), number, known = sides, claim.numbers[0], published()
    low, high = (100 * edge for edge in clustered(side.clusters()))
    figure = known.accuracies(number)[claim.rival or own(number)].value
    sign = 1 if low > figure else -1 if high < figure else 0
    if not claim.rival:
        text = f"{share(side.correct, side.n)} [{low:.2f}, {high:.2f}]"
        place = {1: "below", -1: "above"}.get(sign, "in")
        return _Here(sign, text, side.n, f"the printed {figure:.2f} % lies {place} the interval")
    text = f"{100 * side.correct / side.n - figure:+.2f} pp [{low - figure:+.2f}, {high - figure:+.2f}]"
    split = f"{known.systems[claim.rival].title}'s figure is of split {known.split(number, claim.rival)}"
    return _Here(sign, text, side.n, split)


def _paired(first: Measured, second: Measured) -> tuple[Comparison, int]:
    """Compare two numbers on the questions that both were asked; the sign is 0 if none is sure."""
    pair = compared("", "", first.outcomes(), second.outcomes())
    sure = pair.mcnemar is not None and pair.mcnemar < _SURE
    return pair, (1 if pair.first_only > pair.second_only else -1) if sure else 0


def _apart(claim: Claim, first: Measured, second: Measured) -> _Here:
    pair, sign = _paired(first, second)
    if pair.difference is None or pair.newcombe is None or pair.mcnemar is None:
        return _Here(0, _shares([first, second]), 0, "the two were not asked the same questions")
    text = f"{100 * pair.difference:+.2f} pp {bracketed(*pair.newcombe)}"
    text += f", {pair.first_only} : {pair.second_only}, p {pair.mcnemar:.2g}"
    size, why = _printed(claim)[1].removesuffix(" pp"), "paired: Newcombe's interval, McNemar's exact p"
    if size[:1] in "+-":
        low, high = pair.newcombe
        why += f"; the printed size lies {_INSIDE[low <= float(size) / 100 <= high]} the interval"
    return _Here(sign, text, pair.n, why)


def _order(claim: Claim, sides: list[Measured]) -> _Here:
    pairs = [_paired(better, worse) for worse, better in pairwise(sides)]
    signs, text = {sign for _, sign in pairs}, share(sides[0].correct, sides[0].n)
    for (pair, sign), side in zip(pairs, sides[1:], strict=True):
        text += f" {'≈<>'[sign]} {share(side.correct, side.n)}"
        text += f" (p {pair.mcnemar:.2g})" if not sign and pair.mcnemar is not None else ""
    sign = -1 if -1 in signs else int(signs == {1})
    return _Here(sign, text, sides[0].n, "each against the number before it, by McNemar's exact p")


def _same_bytes(claim: Claim, sides: list[Measured]) -> _Here:
    first, second = (side.answers() for side in sides)
    same = sum(first[key] == second.get(key) for key in first)
    text = f"{same:,} of {len(first):,} answers, and their logs, are the same in two stages"
    why = "`substrate verify` computes every result again"
    return _Here(int(same == len(first) > 0), text, len(first), why)


_RELATIONS: Mapping[str, Callable[[Claim, list[Measured]], _Here]] = {
    "margin": _margin,
    "order": _order,
    "same_bytes": _same_bytes,
}
