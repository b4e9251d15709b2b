"""The paper's claims: relations over numbers, and the verdicts that follow from measurements.

The verdict on a number is computed, never typed. Like is compared with like: a paired test on the same
questions, or an interval and a figure of a system that reads the same input. Official data decide, of
whichever split; generated data give a direction. Only for a statement, such as a theorem, does
``claims.yaml`` hold a judge's word, bound to the digest of its evidence.
``orchestration/ledger/verdicts.py`` finds the measurements, and pins the verdicts.
"""

from __future__ import annotations

import importlib.resources
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from itertools import pairwise
from typing import Any, Literal, NamedTuple, get_args

import msgspec

from orchestration.scoring.comparability import own, reads
from orchestration.scoring.counting import Comparison, compared
from orchestration.scoring.formatting import bracketed, share
from orchestration.scoring.names import MINUS, name_of
from orchestration.scoring.published import PAPER, Figure, Kind, published
from orchestration.scoring.statistics import clustered, wilson

FILE = "orchestration/scoring/claims.yaml"
Relation = Literal["margin", "order", "same_bytes", "statement"]
# The verdicts that decide nothing.
OPEN = ("undecided", "not compared", "not measured", "read again")
# Every verdict, in the order of lists, with the words for one claim and for several.
VERDICTS = {
    "agrees": ("agrees", "agree"),
    "differs": ("differs", "differ"),
    "proven": ("is proven", "are proven"),
    "repaired": ("needed a repair", "needed a repair"),
    "refuted": ("is refuted", "are refuted"),
    **{word: (word, word) for word in OPEN},
}
# The p below which a paired difference has a sign.
_SURE = 0.05
# The most by which a printed difference may miss that of its rounded sides.
_ROUNDED = 0.006
Outcomes = Mapping[tuple[str, ...], Any]


class Judged(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A judge's word on a statement, in short and with its reason; the evidence read, and its digest."""

    verdict: Literal["proven", "refuted", "repaired"]
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
        return next(relation for relation in get_args(Relation) if getattr(self, relation))

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
    file = importlib.resources.files("orchestration.scoring") / "claims.yaml"
    return msgspec.yaml.decode(file.read_bytes(), type=Claims)


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

    def plus(self, other: Measured) -> Measured:
        """Add the answers to other questions."""

        def both(part: str) -> Outcomes:
            sides = enumerate(getattr(side, part)() for side in (self, other))
            return {(str(at), *key): value for at, of in sides for key, value in of.items()}

        n, on = self.n + other.n, f"{self.n:,} of {self.on}; {other.n:,} of {other.on}"
        of_each = partial(both, "outcomes"), partial(both, "answers")
        correct = self.correct + other.correct
        return Measured(correct, n, on, self.by, *of_each, lambda: self.clusters() + other.clusters())


# Computes the digest of a statement's evidence, given its files.
Digest = Callable[[tuple[str, ...]], str]
# Finds a number's measurement; ``None`` if there is none.
Find = Callable[[str], Measured | None]
# The measurements of a claim's numbers in their order.
Sides = Sequence[Measured | None]
# A relation as measured on one kind of data: its sign (-1, 0 or 1), its text, n, and a remark.
Here = tuple[int, str, int, str]


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
    printed: Literal["consistent", "inconsistent"] | None = None
    verdict: str
    direction: str | None = None
    paper: str = ""
    measured: str = ""
    n: int | None = None
    data: Kind = "none"
    on: str = ""
    why: str = ""
    numbers: list[str] = []


def verdict(name: str, official: Find, generated: Find, digest: Digest) -> ClaimVerdict:
    """Compute the verdict on a claim.

    Args:
        official: finds numbers on official data, by the names that they have there.
        generated: finds numbers on generated data.
        digest: computes the digest of a statement's evidence.
    """
    claim = claims().claims[name]
    about = {part: getattr(claim, part) for part in ("claim", "words", "line", "where", "relation")}
    if judged := claim.statement:
        decided = _of_statement(judged, digest(judged.evidence))
    else:
        decided = _of_numbers(claim, *_measurements(claim, official, generated))
    return ClaimVerdict(name=name, **about, **decided)


def _of_statement(judged: Judged, digest: str) -> dict[str, Any]:
    """The verdict on a statement: the judge's word, if its evidence has the digest that was read."""
    about = {"paper": "statement", "on": "its proof and tests"}
    if digest == judged.digest:
        return about | {"verdict": judged.verdict, "measured": judged.here, "why": judged.reason}
    why = f"its evidence changed; read it, then write digest {digest} in {FILE}"
    return about | {"verdict": "read again", "why": why}


def _measurements(claim: Claim, official: Find, generated: Find) -> tuple[Kind, list[str], Sides]:
    """The data that have all numbers of a claim, official before generated; their names; the measurements."""
    names = [claims().on_official(number) for number in claim.numbers]
    sides = [official(name) if name else None for name in names]
    if claim.also:
        others = [official(f"{claim.also}/{name_of(number).inside}") for number in claim.numbers]
        sides = [of.plus(more) if of and more else of for of, more in zip(sides, others, strict=True)]
    if all(sides):
        return "official", [*filter(None, names)], sides
    sides = [generated(number) for number in claim.numbers]
    return ("generated", claim.numbers, sides) if all(sides) else ("none", [], sides)


def _of_numbers(claim: Claim, data: Kind, names: list[str], sides: Sides) -> dict[str, Any]:
    """The verdict on a relation of numbers: official data decide, generated data give a direction."""
    measured = [side for side in sides if side]
    fits, paper, claimed = _printed(claim)
    printed = None if fits is None else "consistent" if fits else "inconsistent"
    about: dict[str, Any] = {"printed": printed, "paper": paper, "data": data, "measured": _shares(measured)}
    if names:
        about |= {"on": measured[0].on, "n": measured[0].n, "numbers": names}
    if unlike := _unlike(claim, data, sides):
        return about | unlike
    sign, text, n, why = _RELATIONS[claim.relation](claim, measured)
    direction = _direction(sign, claimed)
    about |= {"measured": text, "n": n, "why": why}
    if claim.relation == "same_bytes":
        about |= {"data": "none", "on": "this code, whatever the data"}
    elif data == "generated":
        why = "measured on generated data alone, which give a direction and decide nothing"
        return about | {"verdict": "undecided", "direction": direction, "why": why}
    word = {"as printed": "agrees", "no difference": "undecided"}.get(direction, "differs")
    if word == "differs" and not claimed:
        about["measured"] = f"{text}, {direction}"
    return about | {"verdict": word}


def _direction(sign: int, claimed: int) -> str:
    """Compare a measured sign with the one that a relation claims, which is 0 for the level of a number."""
    if sign == claimed:
        return "as printed"
    if claimed:
        return "opposite" if sign else "no difference"
    return f"{'above' if sign > 0 else 'below'} the printed figure"


def _unlike(claim: Claim, data: Kind, sides: Sides) -> dict[str, str]:
    """The verdict on a relation that does not compare like with like, with the reason; else nothing."""
    known, number = published(), claim.numbers[0]
    if claim.rival and (rival := known.systems[claim.rival]).sees != (input_ := reads(PAPER, number)):
        there = f"{data} data" if sides[0] else "not measured"
        split = f"{rival.title}: reads {rival.sees}; split {known.split(number, claim.rival)}"
        on, why = f"different inputs: {rival.title} reads {rival.sees}", f"{number}: reads {input_}, {there}"
        return {"verdict": "not compared", "on": on, "why": f"{why}; {split}"}
    reasons, others = list[str](), list[str]()
    for number, side in zip(claim.numbers, sides, strict=True):
        model = known.systems[own(number)].model
        if side and model.lower() not in side.by.lower():
            others.append(side.by)
            reasons.append(f"{number}: {side.by or 'no model'} answered, not {model} as in the paper")
    on = f"another model: {', '.join(filter(None, dict.fromkeys(others)))}"
    if missing := [number for number, side in zip(claim.numbers, sides, strict=True) if not side]:
        on, reasons = "no data for a number", reasons or [f"no data for {', '.join(missing)}"]
    return {"verdict": "not measured", "on": on, "why": "; ".join(reasons)} if reasons else {}


def _shares(sides: list[Measured]) -> str:
    return "; ".join(f"{share(side.correct, side.n)} of {side.n:,}" for side in sides)


def _printed(claim: Claim) -> tuple[bool | None, str, int]:
    """Tell whether the paper's figures obey a relation; its printed form; and the sign that it claims."""
    if claim.relation == "same_bytes":
        return None, "the same bytes", 1
    figures = _figures(claim)
    if claim.relation == "order":
        values = [figure.value for figure in figures]
        fits = values == sorted(values) if len(values) == len(claim.names) else None
        return fits, " < ".join(figure.printed for figure in figures), 1
    if len(claim.names) == 1:
        return _interval(claim.names[0]), f"{figures[0].printed} %" if figures else "", 0
    if (margin := _printed_margin(claim)) is None:
        return None, "no figure", 1
    size, apart = margin
    return abs(size - apart) < _ROUNDED, f"{size:+.2f} pp", 1 if apart > 0 else -1


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


def _margin(claim: Claim, sides: list[Measured]) -> Here:
    if len(sides) == 2:
        return _apart(claim, *sides)
    (side,), number, known = sides, claim.numbers[0], published()
    low, high = (100 * edge for edge in clustered(side.clusters()))
    figure = known.accuracies(number)[claim.rival or own(number)].value
    sign = 1 if low > figure else -1 if high < figure else 0
    if not claim.rival:
        text = f"{share(side.correct, side.n)} [{low:.2f}, {high:.2f}]"
        place = {1: "below", -1: "above"}.get(sign, "in")
        return sign, text, side.n, f"the printed {figure:.2f} % lies {place} the interval"
    text = f"{100 * side.correct / side.n - figure:+.2f} pp [{low - figure:+.2f}, {high - figure:+.2f}]"
    split = f"{known.systems[claim.rival].title}'s figure is of split {known.split(number, claim.rival)}"
    return sign, text, side.n, split


def _paired(first: Measured, second: Measured) -> tuple[Comparison, int]:
    """Compare two numbers on the questions that both were asked; the sign is 0 if none is sure."""
    pair = compared("", "", first.outcomes(), second.outcomes())
    sure = pair.mcnemar is not None and pair.mcnemar < _SURE
    return pair, (1 if pair.first_only > pair.second_only else -1) if sure else 0


def _apart(claim: Claim, first: Measured, second: Measured) -> Here:
    pair, sign = _paired(first, second)
    if pair.difference is None or pair.newcombe is None or pair.mcnemar is None:
        return 0, _shares([first, second]), 0, "the two were not asked the same questions"
    (low, high), why = pair.newcombe, "paired: Newcombe's interval, McNemar's exact p"
    text = f"{100 * pair.difference:+.2f} pp {bracketed(low, high)}"
    text += f", {pair.first_only} : {pair.second_only}, p {pair.mcnemar:.2g}"
    if margin := _printed_margin(claim):
        place = "in" if low <= margin[0] / 100 <= high else "outside"
        why += f"; the printed size lies {place} the interval"
    return sign, text, pair.n, why


def _order(claim: Claim, sides: list[Measured]) -> Here:
    pairs = [_paired(better, worse) for worse, better in pairwise(sides)]
    signs, text = {sign for _, sign in pairs}, share(sides[0].correct, sides[0].n)
    for (pair, sign), side in zip(pairs, sides[1:], strict=True):
        text += f" {'≈<>'[sign]} {share(side.correct, side.n)}"
        text += f" (p {pair.mcnemar:.2g})" if not sign and pair.mcnemar is not None else ""
    sign = -1 if -1 in signs else int(signs == {1})
    return sign, text, sides[0].n, "each against the number before it, by McNemar's exact p"


def _same_bytes(claim: Claim, sides: list[Measured]) -> Here:
    first, second = (side.answers() for side in sides)
    same = sum(first[key] == second.get(key) for key in first)
    text = f"{same:,} of {len(first):,} answers, and their logs, are the same in two stages"
    sign = 1 if same == len(first) > 0 else -1
    return sign, text, len(first), "`substrate verify` computes every result again"


_RELATIONS = {"margin": _margin, "order": _order, "same_bytes": _same_bytes}
