"""Twin-EventLog by replay: replay and the generator's oracle agree, and a broken rule makes them differ."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from hypothesis import assume, given, settings
from msgspec.structs import replace
from twin_specs import day, small_specs, twin_specs

from substrate.base.errors import FormatError, InterventionError
from substrate.branch.fork import fork
from substrate.domains.smallville.format import (
    Agent,
    ArmIntervention,
    Gold,
    Plan,
    Query,
    Spec,
    check,
    read_specs,
)
from substrate.domains.smallville.twin import (
    answer,
    answer_spec,
    entity,
    parent_log,
    replay_twin,
    term,
    village_tbox,
)
from substrate.domains.smallville.twin_explain import explain
from substrate.generators.smallville import oracle
from substrate.rules.fixpoint import RuleEmitter
from substrate.rules.tbox import TBox


def replayed(spec: Spec, tbox: TBox | None = None) -> tuple[str, ...] | None:
    """Both answers under some rules; ``None`` where the intervention is refused."""
    try:
        return tuple(answer(spec, arm) for arm in replay_twin(spec, tbox))
    except InterventionError:
        return None


def oracle_says(spec: Spec) -> tuple[str, ...]:
    histories = (oracle.history(spec.village, spec.branch, act) for act in spec.acts.values())
    return tuple(oracle.answer(day, spec.query, spec.branch) for day in histories)


def test_replay_and_oracle_agree_on_generated_specifications() -> None:
    assert [spec.spec for spec in twin_specs() if replayed(spec) != spec.gold.answers] == []


@settings(max_examples=150)
@given(small_specs())
def test_replay_and_oracle_agree_on_any_small_village(spec: Spec) -> None:
    check(spec)
    answers = replayed(spec)
    assume(answers)
    assert answers == oracle_says(spec)


RULES = village_tbox().turtle


def without(rule: str) -> str:
    """The rules of the village with one of them switched off."""
    return RULES.replace(f'rdfs:label "{rule}"', f'rdfs:label "{rule}" ; sh:deactivated true')


BROKEN = {
    **{rule: without(rule) for rule in ("move", "part", "meet", "tell")},
    "move, whatever is known": RULES.replace("FILTER NOT EXISTS { ?this :knows ?fact }", ""),
    "move, however late it is heard": RULES.replace(
        "?telling :hearer ?this", "?telling :hearer ?nobody, ?this ; :hearer :nobody"
    ),
    "meet, one way": RULES.replace("?this :with ?other . ?other :with ?this .", "?this :with ?other ."),
    "tell, one way": RULES.replace(
        "?this a :Agent ; :knows ?fact ; :with ?other .",
        "?this a :Agent ; :knows ?fact ; :with ?other . FILTER(STR(?this) < STR(?other))",
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_rule_makes_replay_and_oracle_disagree(name: str) -> None:
    assert BROKEN[name] != RULES
    broken = TBox("village", BROKEN[name])
    assert any(replayed(spec, broken) not in (None, spec.gold.answers) for spec in twin_specs())


def test_arm_a_is_the_village_and_every_arm_conforms_to_the_shapes() -> None:
    for spec in twin_specs()[:9]:
        parent, (a, *others) = parent_log(spec), replay_twin(spec)
        again = fork(parent, spec.branch, None, RuleEmitter(village_tbox()))
        assert a.digest == parent.digest == again.digest
        assert (a.parent_digest, a.branch_tick) == (again.parent_digest, again.branch_tick)
        assert len({arm.digest for arm in (a, *others)}) == len(spec.arms)
        for arm in others:
            assert arm.parent_digest == a.digest
            assert arm.digest_at(spec.branch - 1) == a.digest_at(spec.branch - 1)
        assert not any(village_tbox().validate(arm.state(), arm) for arm in (a, *others))
        assert {arm.last_tick for arm in (a, *others)} == {spec.village.horizon}


def test_the_gold_changes_no_answer(tmp_path: Path) -> None:
    """A gold that is inverted in the file inverts the grades and nothing else."""
    turned = {"yes": "no", "no": "yes"}
    wrong = [
        replace(spec, gold=Gold(turned[spec.gold.a], turned[spec.gold.b]))  # pyright: ignore
        for spec in twin_specs()[:9]
    ]
    (tmp_path / "specs.jsonl").write_bytes(b"\n".join(map(msgspec.json.encode, wrong)))
    specs = read_specs(tmp_path / "specs.jsonl")
    assert all(type(spec) is Spec and not hasattr(spec, "gold") for spec in specs)
    for spec, right, forged in zip(specs, twin_specs(), wrong, strict=False):
        rows = answer_spec(spec, forged.gold)
        assert [row.predicted for row in rows] == [right.gold.a, right.gold.b]
        assert [row.correct for row in rows] == [False, False]


ANN = Agent("ann", "Ann", "cafe", ["news"], [Plan(2, "park")])
VILLAGE = day(ANN, Agent("bo", "Bo", "park", [], [Plan(2, "cafe", "news")]), horizon=6)


def spec_of(act: ArmIntervention, query: Query | None = None, branch: int = 2) -> Spec:
    query = query or Query("visited_location", "Is Bo at cafe?", "bo", place="cafe")
    return Spec(3, "direct", VILLAGE, branch, act, query)


TO_THE_PARK = ArmIntervention("override_location", "ann", place="park")


@pytest.mark.parametrize(
    ("act", "why"),
    [
        (ArmIntervention("override_location", "ann", place="cafe"), "is at <urn:village:cafe> already"),
        (ArmIntervention("assert_awareness", "ann", fact="news"), "is aware of <urn:village:news> already"),
        (ArmIntervention("retract_awareness", "bo", fact="news"), "is not aware of <urn:village:news>"),
    ],
    ids=lambda value: value.type if isinstance(value, ArmIntervention) else "",
)
def test_an_intervention_that_changes_nothing_is_an_error_that_counts_as_wrong(
    act: ArmIntervention, why: str
) -> None:
    rows = answer_spec(spec_of(act), Gold("no", "no"))
    assert [(row.predicted, row.correct) for row in rows] == [("error", False)] * 2
    assert all(why in str(row.error) for row in rows)


def test_a_plan_that_has_begun_may_be_added_or_taken_away_to_no_effect() -> None:
    for act in (
        ArmIntervention("retract", "ann", plan=Plan(2, "park")),
        ArmIntervention("assert", "ann", plan=Plan(1, "park")),
    ):
        twin = replay_twin(spec_of(act, branch=4))
        assert (entity("ann"), term("at"), entity("park")) in twin[1].state()
        assert answer_spec(spec_of(act, branch=4), Gold("no", "no"))[1].correct


@pytest.mark.parametrize(
    ("spec", "path"),
    [
        (
            spec_of(ArmIntervention("assert", "ann", plan=Plan(2, "cafe"))),
            "$.intervention.plan: an agent's plans start at ticks of the village, no two at the same",
        ),
        (spec_of(ArmIntervention("override_location", "ann")), "$.intervention: there is no place None"),
        (spec_of(replace(TO_THE_PARK, agent="cy")), "$.intervention: there is no agent 'cy'"),
        (spec_of(TO_THE_PARK, Query("did_meet", "", "ann", other="ann")), "$.query: nobody meets themselves"),
        (spec_of(TO_THE_PARK, Query("learned_fact", "", "bo", "ann", "news")), "$.query: learned_fact takes"),
        (spec_of(replace(TO_THE_PARK, fact="news")), "$.intervention: override_location takes no fact"),
        (spec_of(TO_THE_PARK, branch=7), "$.branch: 1 <= branch <= horizon <= 10000 does not hold"),
    ],
    ids=lambda value: value.partition(":")[0] if isinstance(value, str) else "",
)
def test_a_specification_that_contradicts_itself_is_refused(spec: Spec, path: str, tmp_path: Path) -> None:
    file = tmp_path / "specs.jsonl"
    file.write_bytes(b"\n" + msgspec.json.encode(spec) + b"\n")
    with pytest.raises(FormatError) as caught:
        read_specs(file)
    assert f"{file}:2: {path}" in str(caught.value)


def test_why_shows_the_intervention_the_events_and_the_deltas() -> None:
    spec = spec_of(ArmIntervention("assert_awareness", "bo", fact="news"))
    twin = replay_twin(spec)
    a, b = (explain(spec, arm, twin) for arm in spec.arms)
    fork, *events, last = b.parts[0].steps
    assert fork.gave == "in arm b Bo knows that there is news"
    assert (b.answer, last.gave) == ("yes", "yes: it holds at 2, 3, 4, 5, 6 of these ticks")
    assert {(step.name, *step.took, step.gave, step.evidence[0].log) for step in events} == {
        ("tick 2", "in arm a only", "Ann and Bo meet at park", "arm a"),
        ("tick 2", "in arm a only", "Ann tells Bo that there is news", "arm a"),
        ("tick 2", "in arm b only", "Bo goes to cafe", ""),
    }
    triples = [twin[1][position].triple for position in b.evidence()]
    assert [what for who, what, _ in triples if who == entity("bo")] == [term("knows"), term("at")]
    *_, last = a.parts[0].steps
    assert (a.answer, last.missed) == ("no", ("bo :at cafe",))
    assert [twin[0][position].tick for position in a.evidence()] == [2] * len(a.evidence())
    assert a.text().splitlines()[1] == "answer: no"
