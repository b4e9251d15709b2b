"""The verdicts on the paper's claims: computed by rules, and decided by official data alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from orchestration.scoring.claims import claims
from orchestration.scoring.names import name_of
from orchestration.scoring.published import published
from orchestration.scoring.relations import Measured
from orchestration.scoring.verdict import ClaimVerdict, Find, verdict

TEX = Path(__file__).parents[4] / "shared" / "paper" / "event_graph_substrates.tex"
PARTNER, DUALITY = (f"ablations/counterfactual.{how}/per_question" for how in ("partner", "duality"))
GLOBAL, A, B, C = (
    "ablations/explanatory.global/per_question",
    *(f"ablations/predictive.{x}/per_question" for x in "ABC"),
)


def measured(right: Sequence[bool], by: str = "") -> Measured:
    """A number with a question for each entry, answered right where the entry is true."""
    rows = {("0", str(question)): bool(correct) for question, correct in enumerate(right)}
    each = [(int(correct), 1) for correct in rows.values()]
    return Measured(sum(rows.values()), len(rows), "training", by, lambda: rows, lambda: rows, lambda: each)


def find(numbers: Mapping[str, Sequence[bool]], by: str = "") -> Find:
    """Find these numbers and no other."""
    return lambda number: measured(numbers[number], by) if number in numbers else None


def decided(
    name: str,
    official: Mapping[str, Sequence[bool]] | None = None,
    generated: Mapping[str, Sequence[bool]] | None = None,
    by: str = "",
) -> ClaimVerdict:
    """The verdict on a claim from answers on official and on generated data."""
    return verdict(name, find(official or {}, by), find(generated or {}, by), lambda _: "other")


def share(right: int, of: int) -> list[bool]:
    """So many right answers, then wrong ones."""
    return [at < right for at in range(of)]


@pytest.mark.parametrize(
    ("name", "official", "expected", "says"),
    [
        ("partner_over_duality", {PARTNER: share(111, 183), DUALITY: share(100, 183)}, "agrees", "11 : 0"),
        ("partner_over_duality", {PARTNER: share(100, 183), DUALITY: share(111, 183)}, "differs", "0 : 11"),
        ("partner_over_duality", {PARTNER: share(102, 183), DUALITY: share(100, 183)}, "undecided", "2 : 0"),
        ("partner_over_duality", {PARTNER: share(111, 183)}, "not measured", ""),
        ("global_frame_level", {GLOBAL: share(490, 564)}, "differs", "86.88 %"),
        ("global_frame_level", {GLOBAL: share(520, 564)}, "agrees", "92.20 %"),
        ("kinematics_order", {A: share(20, 71), B: share(40, 71), C: share(60, 71)}, "agrees", " < "),
        ("kinematics_order", {A: share(40, 71), B: share(41, 71), C: share(60, 71)}, "undecided", " ≈ "),
        ("kinematics_order", {A: share(60, 71), B: share(61, 71), C: share(20, 71)}, "differs", " > "),
        ("explanatory_over_ns_dr", {"clevrer/explanatory/per_question": share(9, 9)}, "not compared", ""),
        ("babi_under_memn2n", {"babi/mean/accuracy": share(900, 1000)}, "agrees", "-5.80 pp"),
    ],
)
def test_official_data_decide(
    name: str, official: dict[str, Sequence[bool]], expected: str, says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in (A, B, C):  # as if an official file had motion
        monkeypatch.setitem(claims().official, number, number)
    decision = decided(name, official)
    assert (decision.verdict, says in decision.measured) == (expected, True), decision
    assert decision.direction is None
    if name == "partner_over_duality" and expected == "undecided":
        other = {number.replace("ablations", "clevrer_validation"): share(4, 9) for number in official}
        assert decided(name, official | other).n == len(official[PARTNER]) + 9
    assert decision.data == ("none" if expected == "not measured" else "official")


def test_generated_data_give_a_direction_and_never_a_verdict() -> None:
    worlds = {number: share(50, 100) for claim in claims().claims.values() for number in claim.numbers}
    worlds |= {PARTNER: share(60, 100), C: share(20, 100)}
    decisions = [decided(name, generated=worlds, by="Llama-3.1-8B") for name in claims().claims]
    verdicts = {each.verdict for each in decisions if each.relation in ("margin", "order")}
    assert verdicts == {"undecided", "not compared"}
    directions = {each.name: each.direction for each in decisions}
    assert directions["partner_over_duality"] == "as printed"
    assert directions["kinematics_order"] == "opposite"
    assert directions["duality_level"] == "as printed"
    assert directions["babi_level"] == "below the printed figure"


def test_another_model_measures_nothing_and_another_input_is_not_compared() -> None:
    both = {"twin/joint": share(9, 9), "twin_direct/joint": share(3, 9)}
    assert decided("twin_over_llama", generated=both, by="llama-3.1-8b.Q4").verdict == "undecided"
    other = decided("twin_over_llama", generated=both, by="SmolLM2")
    assert other.verdict == "not measured"
    assert "twin_direct/joint: SmolLM2 answered" in other.why
    rival = decided("comphy_over_pcr", generated={"comphy/factual/per_question": share(3, 9)})
    assert "comphy/factual/per_question: reads annotations, generated data" in rival.why
    assert "PCR: reads pixels; split test" in rival.why
    alike = decided("babi_under_memn2n")
    assert (alike.verdict, alike.on) == ("not measured", "no data for a number"), "both read text"


def test_the_papers_own_figures_have_a_verdict_of_their_own() -> None:
    printed = {name: decided(name).printed for name in claims().claims}
    # Wilson's interval of 73.10 % of 5,882 is [71.96, 74.22].
    assert [name for name, word in printed.items() if word == "inconsistent"] == ["comphy_level"]
    assert printed["gqa_level"] == printed["kinematics_order"] == printed["twin_over_llama"] == "consistent"
    assert printed["duality_over_filmed"] is None, "the paper prints no figure of it"


def test_a_judgement_ends_with_its_evidence_and_the_claim_of_same_bytes_with_one_byte() -> None:
    judged = claims().claims["duality_theorem"].statement
    assert judged
    same = verdict("duality_theorem", find({}), find({}), lambda _: judged.digest)
    assert (same.verdict, same.why) == ("repaired", judged.reason)
    assert decided("duality_theorem").verdict == "read again"
    first, other = claims().claims["same_bytes"].numbers
    assert decided("same_bytes", generated={first: share(3, 9), other: share(3, 9)}).verdict == "agrees"
    assert decided("same_bytes", generated={first: share(3, 9), other: share(4, 9)}).verdict == "differs"


@pytest.mark.parametrize("name", claims().claims)
def test_each_claim_has_the_papers_words_and_numbers_that_exist(name: str) -> None:
    claim = claims().claims[name]
    assert bool(claim.names) != bool(claim.statement)
    assert all(name_of(number).metric in ("per_question", "accuracy", "joint") for number in claim.numbers)
    assert claim.statement or {*claim.numbers} & {*published().numbers, *published().beside}
    if not TEX.is_file():
        pytest.skip("the paper is not there")
    lines = TEX.read_text("utf-8").splitlines()
    quoted = " ".join(" ".join(lines[claim.line - 1 : claim.line + 5]).split())
    assert claim.words in quoted
    assert claim.words.split()[0] in lines[claim.line - 1]
