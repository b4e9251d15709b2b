"""The verdict on a claim of the paper, which follows from measurements.

The verdict on a number is computed, never typed. Like is compared with like: a paired test on the same
questions, or an interval and a figure of a system that reads the same input. Official data decide, of
whichever split; generated data give a direction. Only for a statement, such as a theorem, does
``claims.yaml`` hold a judge's word, bound to the digest of its evidence.
``orchestration/drift/claim_verdicts.py`` finds the measurements, and pins the verdicts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

import msgspec

from orchestration.scoring.claims import FILE, Claim, Judged, Relation, claims
from orchestration.scoring.comparability import own, reads
from orchestration.scoring.names import name_of
from orchestration.scoring.published import PAPER, Kind, published
from orchestration.scoring.relations import Measured, Printed, measure, printed, shares

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
# Finds a number's measurement; ``None`` if there is none.
Find = Callable[[str], Measured | None]


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


class Decision(NamedTuple):
    """The part of a verdict that the measurements decide, or a judge; the fields are those of the verdict."""

    verdict: str
    on: str
    why: str
    measured: str = ""
    n: int | None = None
    data: Kind = "none"
    direction: str | None = None
    numbers: Sequence[str] = ()


class Sides(NamedTuple):
    """The measurements of a claim's numbers on one kind of data.

    Attributes:
        data: the data that have all numbers; ``none`` if no data have.
        numbers: the names of the numbers there; empty if no data have all.
        each: the measurements in the order of the claim; ``None`` for a number without.
    """

    data: Kind
    numbers: list[str]
    each: list[Measured | None]


def verdict(name: str, official: Find, generated: Find, digest: Callable[..., str]) -> ClaimVerdict:
    """Compute the verdict on a claim.

    Args:
        official: finds numbers on official data, by the names that they have there.
        generated: finds numbers on generated data.
        digest: computes the digest of a statement's evidence, given its files.
    """
    claim = claims().claims[name]
    if judged := claim.statement:
        paper = Printed("statement", sign=1)
        decision = _of_statement(judged, digest(judged.evidence))
    else:
        paper = printed(claim)
        decision = _of_numbers(claim, paper.sign, _measurements(claim, official, generated))
    about = {part: getattr(claim, part) for part in ("claim", "words", "line", "where", "relation")}
    return ClaimVerdict(name=name, **about, printed=paper.word, paper=paper.text, **decision._asdict())


def _of_statement(judged: Judged, digest: str) -> Decision:
    """The verdict on a statement: the judge's word, if its evidence has the digest that was read."""
    on = "its proof and tests"
    if digest == judged.digest:
        return Decision(judged.verdict, on, judged.reason, measured=judged.here)
    return Decision("read again", on, f"its evidence changed; read it, then write digest {digest} in {FILE}")


def _measurements(claim: Claim, official: Find, generated: Find) -> Sides:
    """The measurements of a claim's numbers on official data, or if one is lacking, on generated data."""
    names = [claims().on_official(number) for number in claim.numbers]
    sides = [official(name) if name else None for name in names]
    if claim.also:
        others = [official(f"{claim.also}/{name_of(number).inside}") for number in claim.numbers]
        sides = [of.plus(more) if of and more else of for of, more in zip(sides, others, strict=True)]
    if all(sides):
        return Sides("official", [*filter(None, names)], sides)
    sides = [generated(number) for number in claim.numbers]
    return Sides("generated", claim.numbers, sides) if all(sides) else Sides("none", [], sides)


def _of_numbers(claim: Claim, claimed: int, sides: Sides) -> Decision:
    """The verdict on a relation of numbers that claims a sign: official data decide, generated data give a
    direction.
    """
    there = [side for side in sides.each if side]
    if unlike := _unlike(claim, sides):
        n = there[0].n if sides.numbers else None
        return unlike._replace(measured=shares(there), n=n, data=sides.data, numbers=sides.numbers)
    found = measure(claim, there)
    direction = _direction(found.sign, claimed)
    word = {"as printed": "agrees", "no difference": "undecided"}.get(direction, "differs")
    measured = f"{found.text}, {direction}" if word == "differs" and not claimed else found.text
    decision = Decision(word, there[0].on, found.why, measured, found.n, sides.data, numbers=sides.numbers)
    if claim.relation == "same_bytes":
        return decision._replace(on="this code, whatever the data", data="none")
    if sides.data == "generated":
        why = "measured on generated data alone, which give a direction and decide nothing"
        return decision._replace(verdict="undecided", measured=found.text, why=why, direction=direction)
    return decision


def _direction(sign: int, claimed: int) -> str:
    """Compare a measured sign with the one that a relation claims, which is 0 for the level of a number."""
    if sign == claimed:
        return "as printed"
    if claimed:
        return "opposite" if sign else "no difference"
    return f"{'above' if sign > 0 else 'below'} the printed figure"


def _unlike(claim: Claim, sides: Sides) -> Decision | None:
    """The verdict on a relation that does not compare like with like, with the reason; else nothing."""
    return _other_input(claim, sides) or _not_measured(claim, sides)


def _other_input(claim: Claim, sides: Sides) -> Decision | None:
    """The verdict if a claim's rival reads another input than the measured system."""
    known, number = published(), claim.numbers[0]
    ours = reads(PAPER, number)
    if not claim.rival or known.systems[claim.rival].sees == ours:
        return None
    rival = known.systems[claim.rival]
    here = f"{number}: reads {ours}, {f'{sides.data} data' if sides.each[0] else 'not measured'}"
    there = f"{rival.title}: reads {rival.sees}; split {known.split(number, claim.rival)}"
    return Decision("not compared", f"different inputs: {rival.title} reads {rival.sees}", f"{here}; {there}")


def _not_measured(claim: Claim, sides: Sides) -> Decision | None:
    """The verdict if a number has no data, or if another model answered than the paper's."""
    each = [*zip(claim.numbers, sides.each, strict=True)]
    reasons, others = list[str](), dict[str, None]()
    for number, side in each:
        model = published().systems[own(number)].model
        if side and model.lower() not in side.by.lower():
            others[side.by] = None
            reasons.append(f"{number}: {side.by or 'no model'} answered, not {model} as in the paper")
    if missing := [number for number, side in each if not side]:
        why = "; ".join(reasons) or f"no data for {', '.join(missing)}"
        return Decision("not measured", "no data for a number", why)
    on = f"another model: {', '.join(filter(None, others))}"
    return Decision("not measured", on, "; ".join(reasons)) if reasons else None
