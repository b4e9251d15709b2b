"""The paper's claims: relations over numbers, and the verdicts that follow from measurements.

A verdict is computed, never typed. Like is compared with like: a paired test on the same questions, or an
interval and a figure of a system that reads the same input. Official data decide, of whichever split; generated
data give a direction. Only a statement has a judge's word, bound to the digest of its evidence.
"""

from __future__ import annotations

import importlib.resources
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from itertools import pairwise
from typing import Any, Literal, NamedTuple

import msgspec
import yaml

from orchestration.scoring.counting import Comparison, compared
from orchestration.scoring.formatting import bracketed, share
from orchestration.scoring.likeness import own, reads
from orchestration.scoring.published import MINUS, PAPER, Kind, published
from orchestration.scoring.statistics import wilson

FILE = "orchestration/scoring/claims.yaml"
Relation = Literal["margin", "order", "same_bytes", "statement"]
Word = Literal["proven", "refuted", "repaired"]
VERDICTS = {
    "agrees": "agree with what is measured here",
    "differs": "differ",
    "proven": "proven",
    "repaired": "needed a repair",
    "refuted": "refuted",
    "undecided": "undecided",
    "not compared": "not compared",
    "not measured": "not measured",
    "read again": "to be read again",
}
"""Every verdict, in the order of lists, with the words that follow its count."""
_DIRECTIONS = {
    False: {-1: "opposite", 0: "no difference", 1: "opposite"},
    True: {-1: "below the printed figure", 1: "above the printed figure"},
}
"""The direction of generated data by its sign: for a relation of several numbers, and for a single number."""
_SURE = 0.05
"""The p below which a paired difference has a sign."""
Outcomes = Mapping[tuple[str, str], Any]


class Judged(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A judge's word on a statement, its reason, and the evidence that was read, with its digest."""

    verdict: Word
    reason: str
    evidence: tuple[str, ...]
    digest: str


class Claim(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A claim in plain words, the paper's words with the line of its source, and one relation."""

    claim: str
    words: str
    line: int
    where: str
    margin: tuple[str, ...] = ()
    order: tuple[str, ...] = ()
    same_bytes: tuple[str, ...] = ()
    statement: Judged | None = None

    @property
    def relation(self) -> Relation:
        """The claim's relation."""
        return next((kind for kind in ("margin", "order", "same_bytes") if getattr(self, kind)), "statement")

    @property
    def names(self) -> tuple[str, ...]:
        """The numbers, and perhaps a published system, of the relation."""
        return self.margin or self.order or self.same_bytes

    @property
    def numbers(self) -> list[str]:
        """The numbers of the relation."""
        return [name for name in self.names if name not in published().systems]


class Claims(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """All claims by name, the names of numbers on official files, and the labels of the plot's rows."""

    official: dict[str, str | None]
    claims: dict[str, Claim]
    plot: dict[str, str]

    def on_official(self, number: str) -> str | None:
        """The number that measures the same on official files."""
        return self.official.get(number, number)

    def printed_as(self, number: str) -> str:
        """The number with the paper's figures of a number on official files."""
        named = {own: paper for paper, own in self.official.items() if paper in published().numbers}
        return number if number in published().numbers else named.get(number, number)


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
    """

    correct: int
    n: int
    on: str
    by: str
    outcomes: Callable[[], Outcomes]
    answers: Callable[[], Outcomes]


Find = Callable[[str], Measured | None]
"""Finds a number's measurement; ``None`` if there is none."""


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """A claim with its verdicts: the paper's own figures obey it or not, and the verdict here.

    ``direction`` is that of generated data; ``numbers`` are the measured ones by the names of their data.
    """

    name: str
    claim: str
    words: str
    line: int
    where: str
    relation: Relation
    printed: Literal["consistent", "inconsistent"] | None
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


def verdict(name: str, official: Find, generated: Find, digest: Callable[[tuple[str, ...]], str]) -> Verdict:
    """Compute the verdict on a claim.

    Args:
        official: finds numbers on official data, by the names that they have there.
        generated: finds numbers on generated data.
        digest: computes the digest of a statement's evidence.
    """
    claim = claims().claims[name]
    about = {key: getattr(claim, key) for key in ("claim", "words", "line", "where", "relation")}
    judged = claim.statement
    if judged:
        now = digest(judged.evidence)
        same = now == judged.digest
        why = judged.reason if same else f"its evidence changed; read it, then write digest {now} in {FILE}"
        on = f"evidence: {', '.join(judged.evidence)}"
        verdict = judged.verdict if same else "read again"
        return Verdict(
            name=name, **about, printed=None, verdict=verdict, paper="statement", on=on, why=why
        )
    there = [claims().on_official(number) for number in claim.numbers]
    on_official = [official(number) if number else None for number in there]
    on_generated = [generated(number) for number in claim.numbers]
    sides = on_official if all(on_official) else on_generated
    data: Kind = "official" if all(on_official) else "generated" if all(on_generated) else "none"
    printed, paper, expected = _printed(claim)
    known: dict[str, Any] = {"name": name, **about, "printed": printed, "paper": paper}
    reasons = list(_unlike(claim, sides, data))
    measured = [side for side in sides if side]
    if not all(sides):
        missing = [number for number, side in zip(claim.numbers, sides, strict=True) if not side]
        reasons = reasons or [f"no data for {', '.join(missing)}"]
        found = _shares(measured)
        verdict = "not compared" if _rival(claim) else "not measured"
        return Verdict(**known, verdict=verdict, measured=found, why="; ".join(reasons))
    numbers = [str(of) for of in there] if data == "official" else claim.numbers
    known |= {"data": data, "on": measured[0].on, "n": measured[0].n, "numbers": numbers}
    if reasons:
        verdict = "not compared" if _rival(claim) else "not measured"
        return Verdict(**known, verdict=verdict, measured=_shares(measured), why="; ".join(reasons))
    here = _RELATIONS[claim.relation](claim, measured)
    known |= {"measured": here.text, "n": here.n}
    if claim.relation == "same_bytes":
        return Verdict(**known, verdict="agrees" if here.sign else "differs", why=here.why)
    agrees = here.sign == expected
    if data == "official":
        undecided = here.sign == 0 and expected != 0
        word = "agrees" if agrees else "undecided" if undecided else "differs"
        return Verdict(**known, verdict=word, why=here.why)
    direction = "as printed" if agrees else _DIRECTIONS[expected == 0][here.sign]
    why = "measured on generated data alone, which give a direction and decide nothing"
    return Verdict(**known, verdict="undecided", direction=direction, why=why)


def _rival(claim: Claim) -> str:
    """The published system of a margin; empty if there is none."""
    return next((name for name in claim.names if name in published().systems), "")


def _unlike(claim: Claim, sides: list[Measured | None], data: Kind) -> Iterator[str]:
    """Yield, for each number and system of a relation, why it is not compared like with like."""
    rival = _rival(claim)
    for number, side in zip(claim.numbers, sides, strict=True):
        model = published().systems[own(number)].model
        if side and model.lower() not in side.by.lower():
            yield f"{number}: {side.by or 'no model'} answered, not {model} as in the paper"
        elif rival and published().systems[rival].sees != reads(PAPER, number):
            state = "not measured" if side is None else f"{data} data"
            yield f"{number}: reads {reads(PAPER, number)}, {state}"
    if rival and published().systems[rival].sees != reads(PAPER, claim.numbers[0]):
        of = published().systems[rival]
        yield f"{of.title}: reads {of.sees}; split {published().split(claim.numbers[0], rival)}"


def _shares(sides: list[Measured]) -> str:
    return "; ".join(f"{share(side.correct, side.n)} of {side.n:,}" for side in sides)


def _printed(claim: Claim) -> tuple[Literal["consistent", "inconsistent"] | None, str, int]:
    """Tell whether the paper's figures obey a relation; its printed form; and the sign that it claims."""
    figures = [published().accuracies(name).get(own(name)) for name in claim.numbers]
    if claim.relation == "same_bytes":
        return None, "the same bytes", 1
    values = [figure.value for figure in figures if figure]
    if claim.relation == "order":
        text = " < ".join(figure.printed for figure in figures if figure)
        return (_word(values == sorted(values)) if all(figures) else None), text, 1
    first, rest = claim.numbers[0], claim.margin[1:]
    figure = published().accuracies(first).get(own(first))
    if not rest:
        return _interval(first), f"{figure.printed} %" if figure else "", 0
    other = rest[0]
    if other in published().systems:
        values += [rival.value] if (rival := published().accuracies(first).get(other)) else []
    number = published().numbers.get(published().beside.get(first, (first,))[0])
    size = number and number.figures.get(f"{MINUS}{other}")
    if len(values) < 2:
        return None, f"{size.value:+.2f} pp" if size else "above", 1
    apart = values[0] - values[1]
    fits = size is None or abs(size.value - apart) < 0.006
    return _word(fits), f"{size.value if size else apart:+.2f} pp", 1 if apart > 0 else -1


def _word(fits: bool) -> Literal["consistent", "inconsistent"]:
    return "consistent" if fits else "inconsistent"


def _interval(number: str) -> Literal["consistent", "inconsistent"] | None:
    """Tell whether a printed interval is Wilson's for a count that gives the printed accuracy."""
    of = published().number(number)
    if of is None or of.n is None or f"{PAPER}/low" not in of.figures:
        return None
    wanted = tuple(of.figures[f"{PAPER}/{edge}"].value for edge in ("low", "high"))
    accuracy, middle = of.figures[PAPER], round(of.figures[PAPER].value * of.n / 100)
    near = range(max(middle - of.n // 10_000 - 1, 0), middle + of.n // 10_000 + 2)
    counts = (count for count in near if f"{100 * count / of.n:.2f}" == accuracy.printed)
    return _word(any(tuple(round(100 * edge, 2) for edge in wilson(c, of.n)) == wanted for c in counts))


def _margin(claim: Claim, sides: list[Measured]) -> _Here:
    first = sides[0]
    low, high = (100 * edge for edge in wilson(first.correct, first.n))
    value, text = 100 * first.correct / first.n, f"{share(first.correct, first.n)} [{low:.2f}, {high:.2f}]"
    if len(sides) == 2:
        return _apart(claim, *sides)
    figure = published().accuracies(claim.numbers[0])[_rival(claim) or own(claim.numbers[0])].value
    sign = 1 if low > figure else -1 if high < figure else 0
    if rival := _rival(claim):
        return _Here(sign, f"{value - figure:+.2f} pp [{low - figure:+.2f}, {high - figure:+.2f}]", first.n,
            f"{published().systems[rival].title}'s figure is of the split {published().split(claim.numbers[0], rival)}")
    where = "lies in" if sign == 0 else "lies outside"
    return _Here(sign, text, first.n, f"the printed {figure:.2f} % {where} the interval")


def _paired(first: Measured, second: Measured) -> Comparison:
    return compared("", "", first.outcomes(), second.outcomes())


def _sign(pair: Comparison) -> int:
    if pair.mcnemar is None or pair.mcnemar >= _SURE:
        return 0
    return 1 if pair.first_only > pair.second_only else -1


def _apart(claim: Claim, first: Measured, second: Measured) -> _Here:
    pair = _paired(first, second)
    if pair.difference is None or pair.newcombe is None or pair.mcnemar is None:
        return _Here(0, _shares([first, second]), 0, "the two were not asked the same questions")
    low, high = (100 * edge for edge in pair.newcombe)
    text = f"{100 * pair.difference:+.2f} pp {bracketed(*pair.newcombe)}"
    text += f", {pair.first_only} : {pair.second_only}, p {pair.mcnemar:.2g}"
    size = _printed(claim)[1].removesuffix(" pp")
    why = "paired: Newcombe's interval, McNemar's exact p"
    if size[:1] in "+-":
        why += f"; the printed size lies {'in' if low <= float(size) <= high else 'outside'} the interval"
    return _Here(_sign(pair), text, pair.n, why)


def _order(claim: Claim, sides: list[Measured]) -> _Here:
    signs = [_sign(_paired(better, worse)) for worse, better in pairwise(sides)]
    marks = [{1: " < ", 0: " ≈ ", -1: " > "}[sign] for sign in signs]
    text = "".join(f"{share(side.correct, side.n)}{mark}" for side, mark in zip(sides, [*marks, ""], strict=True))
    sign = -1 if -1 in signs else 1 if all(signs) else 0
    return _Here(sign, text, sides[0].n, "each against the one before it, by McNemar's exact p")


def _same_bytes(claim: Claim, sides: list[Measured]) -> _Here:
    first, second = (side.answers() for side in sides)
    same = sum(first[key] == second.get(key) for key in first)
    text = f"{same:,} of {len(first):,} answers, and their logs, are the same in two stages"
    return _Here(int(same == len(first) > 0), text, len(first), "`substrate verify` computes every result again")


_RELATIONS: Mapping[str, Callable[[Claim, list[Measured]], _Here]] = {
    "margin": _margin,
    "order": _order,
    "same_bytes": _same_bytes,
}
