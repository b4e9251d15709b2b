"""Twin-EventLog by replay: both counts of the truth agree, and a broken rule is found out."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import msgspec
import pyoxigraph as ox
import pytest
from hypothesis import assume, given, settings
from msgspec.structs import replace
from twin_specs import small_specs, twin_specs

from substrate.ask.tellings import chains
from substrate.base.errors import FormatError, InterventionError
from substrate.branch.fork import fork
from substrate.domains.smallville.format import (
    Agent,
    ArmIntervention,
    Gold,
    Named,
    Plan,
    Query,
    Spec,
    Village,
    check,
    read_gold,
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
from substrate.generators.smallville import generate, oracle
from substrate.generators.smallville.sampling import Graded
from substrate.log.event_log import EventLog
from substrate.rules.fixpoint import RuleEmitter
from substrate.rules.tbox import TBox


def replayed(spec: Spec, tbox: TBox | None = None) -> tuple[str, ...] | None:
    """Both answers under some rules; ``None`` where the intervention is refused."""
    try:
        return tuple(answer(spec, arm) for arm in replay_twin(spec, tbox))
    except InterventionError:
        return None


def oracle_says(spec: Spec) -> tuple[str, ...]:
    histories = (oracle.history(spec.village, spec.branch, act, noted=True) for act in spec.acts.values())
    return tuple(oracle.answer(day, spec.query, spec.branch) for day in histories)


@cache
def harder(level: str, count: int) -> list[Graded]:
    return [generate(number, 20, level) for number in range(count)]


def test_replay_and_oracle_agree_on_generated_specifications() -> None:
    assert [spec.spec for spec in twin_specs() if replayed(spec) != spec.gold.answers] == []


def test_replay_and_oracle_agree_at_harder_levels() -> None:
    specs = [*harder("belief", 24), *harder("three_arms", 6), generate(3, 20, "town")]
    assert [spec for spec in specs if replayed(spec) != spec.gold.answers] == []


@settings(max_examples=150, deadline=None)
@given(small_specs())
def test_replay_and_oracle_agree_on_any_small_village(spec: Spec) -> None:
    check(spec)
    answers = replayed(spec)
    assume(answers)
    assert answers == oracle_says(spec)


RULES = village_tbox().turtle


def without(rule: str) -> str:
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


GOSSIP = {
    "notice": without("notice"),
    "notice, one way": RULES.replace(
        "?one a :Agent ; :with ?other . ?other :knows ?fact .",
        "?one a :Agent ; :with ?other . ?other :knows ?fact . FILTER(STR(?one) < STR(?other))",
    ),
    "report": without("report"),
    "report, of what is seen alone": RULES.replace(
        "?one a :Agent ; :knowsThat ?what ; :with ?other . BIND(SUBJECT(?what) AS ?whom)",
        "?one a :Agent ; :knowsThat ?what ; :with ?other . BIND(SUBJECT(?what) AS ?whom) "
        "FILTER NOT EXISTS { ?heard :hearer ?one ; :reported ?what }",
    ),
    "report, the fact with it": RULES.replace(
        "{ ?other :knowsThat ?what . ?report a :Report",
        "{ ?other :knowsThat ?what ; :knows ?f . ?report a :Report",
    ).replace("BIND(SUBJECT(?what) AS ?whom)", "BIND(SUBJECT(?what) AS ?whom) BIND(OBJECT(?what) AS ?f)"),
}


@pytest.mark.parametrize("name", GOSSIP)
def test_a_broken_rule_of_what_is_known_of_others_makes_the_two_disagree(name: str) -> None:
    assert GOSSIP[name] != RULES
    broken = TBox("village", GOSSIP[name])
    assert any(replayed(spec, broken) not in (None, spec.gold.answers) for spec in harder("belief", 24))


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_rule_makes_the_two_disagree(name: str) -> None:
    assert BROKEN[name] != RULES
    broken = TBox("village", BROKEN[name])
    assert any(replayed(spec, broken) not in (None, spec.gold.answers) for spec in twin_specs())


def test_arm_a_is_the_village_and_every_arm_conforms_to_the_shapes() -> None:
    for spec in (*twin_specs()[:9], *harder("belief", 2), *harder("three_arms", 2)):
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


def test_the_gold_is_not_there_to_be_seen(tmp_path: Path) -> None:
    """Turned round in the file, it turns what is expected and nothing else."""
    turned = {"yes": "no", "no": "yes"}
    wrong = [
        msgspec.structs.replace(
            spec,
            gold=Gold(turned[spec.gold.a], turned[spec.gold.b]),  # pyright: ignore[reportArgumentType]
        )
        for spec in twin_specs()[:9]
    ]
    (tmp_path / "specs.jsonl").write_bytes(b"\n".join(map(msgspec.json.encode, wrong)))
    specs = read_specs(tmp_path / "specs.jsonl")
    assert all(type(spec) is Spec and not hasattr(spec, "gold") for spec in specs)
    for spec, right, forged in zip(specs, twin_specs(), wrong, strict=False):
        rows = answer_spec(spec, forged.gold)
        assert [row.predicted for row in rows] == [right.gold.a, right.gold.b]
        assert [row.correct for row in rows] == [False, False]


def test_a_row_says_which_arm_and_which_log() -> None:
    spec = twin_specs()[17]
    a, b = answer_spec(spec, spec.gold)
    twin = replay_twin(spec)
    assert (a.benchmark, a.split, a.subset, a.scene) == ("twin", "generated", spec.linkage, 17)
    assert (a.question, b.question) == (0, 1)
    assert (a.log, b.log) == (twin[0].digest, twin[1].digest)
    assert [row.correct for row in answer_spec(spec, None)] == [None, None]


VILLAGE = Village(
    6,
    [Named(p, p) for p in ("cafe", "park")],
    [Named("news", "there is news")],
    [
        Agent("ann", "Ann", "cafe", ["news"], [Plan(2, "park")]),
        Agent("bo", "Bo", "park", [], [Plan(2, "cafe", "news")]),
    ],
)


def asked(act: ArmIntervention, query: Query | None = None, branch: int = 2) -> Spec:
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
    rows = answer_spec(asked(act), Gold("no", "no"))
    assert [(row.predicted, row.correct) for row in rows] == [("error", False)] * 2
    assert all(why in str(row.error) for row in rows)


def test_a_plan_that_has_begun_may_be_added_or_taken_away_to_no_effect() -> None:
    for act in (
        ArmIntervention("retract", "ann", plan=Plan(2, "park")),
        ArmIntervention("assert", "ann", plan=Plan(1, "park")),
    ):
        twin = replay_twin(asked(act, branch=4))
        assert (entity("ann"), term("at"), entity("park")) in twin[1].state()
        assert answer_spec(asked(act, branch=4), Gold("no", "no"))[1].correct


@pytest.mark.parametrize(
    ("spec", "path"),
    [
        (
            asked(ArmIntervention("assert", "ann", plan=Plan(2, "cafe"))),
            "$.intervention.plan: an agent's plans start at ticks of the village, no two at the same",
        ),
        (
            asked(ArmIntervention("retract", "bo", plan=Plan(2, "cafe"))),
            "$.intervention.plan: assert adds a plan the agent does not have",
        ),
        (asked(ArmIntervention("override_location", "ann")), "$.intervention: there is no place None"),
        (asked(replace(TO_THE_PARK, agent="cy")), "$.intervention: there is no agent 'cy'"),
        (asked(TO_THE_PARK, Query("did_meet", "", "ann", other="ann")), "$.query: nobody meets themselves"),
        (
            asked(TO_THE_PARK, Query("learned_fact", "", "ann", place="park")),
            "$.query: there is no fact None",
        ),
        (asked(TO_THE_PARK, branch=7), "$.branch: 1 <= branch <= horizon <= 10000 does not hold"),
        (asked(TO_THE_PARK, branch=0), "$.branch: 1 <= branch"),
    ],
    ids=lambda value: value.partition(":")[0] if isinstance(value, str) else "",
)
def test_a_specification_that_names_what_is_not_there_is_refused(
    spec: Spec, path: str, tmp_path: Path
) -> None:
    file = tmp_path / "specs.jsonl"
    file.write_bytes(b"\n" + msgspec.json.encode(spec) + b"\n")
    with pytest.raises(FormatError) as caught:
        read_specs(file)
    assert f"{file}:2: {path}" in str(caught.value)


def test_why_shows_the_intervention_the_events_and_the_deltas() -> None:
    spec = asked(ArmIntervention("assert_awareness", "bo", fact="news"))
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


def test_why_one_knows_what_another_knows_names_the_tick() -> None:
    query = Query("knows_that", "", "ann", other="bo", fact="news")
    spec = asked(ArmIntervention("assert_awareness", "bo", fact="news"), query)
    twin = replay_twin(spec)
    a, b = (explain(spec, arm, twin) for arm in spec.arms)
    assert (a.answer, b.answer) == ("yes", "no")
    last, missed = a.parts[0].steps[-1], b.parts[0].steps[-1]
    assert last.took == ("ticks 2 to 6",)
    (learnt,) = [twin[0][evidence.position] for evidence in last.evidence]
    assert (learnt.tick, learnt.triple[0], learnt.triple[1]) == (2, entity("ann"), term("knowsThat"))
    assert missed.missed == ("ann :knowsThat <<( bo :knows news )>>",)


HEARSAY = Village(
    6,
    [Named(p, p) for p in ("cafe", "park", "pub")],
    [Named("news", "there is news")],
    [
        Agent("ann", "Ann", "cafe", ["news"], []),
        Agent("bo", "Bo", "cafe", [], [Plan(2, "park"), Plan(5, "pub")]),
        Agent("cy", "Cy", "park", [], [Plan(3, "pub")]),
        Agent("di", "Di", "pub", [], []),
    ],
)
"""Bo sees that Ann knows, and tells Cy so, who tells Di: neither of the two ever meets Ann."""


def of_hearsay(query: Query, act: ArmIntervention, branch: int = 1) -> Spec:
    return Spec(0, "direct", HEARSAY, branch, act, query)


def test_what_another_knows_is_heard_from_a_third() -> None:
    query = Query("knows_that", "", "di", other="ann", fact="news")
    spec = of_hearsay(query, ArmIntervention("retract", "cy", plan=Plan(3, "pub")), branch=3)
    twin = replay_twin(spec)
    a, b = (explain(spec, arm, twin) for arm in spec.arms)
    assert (a.answer, b.answer) == ("yes", "yes"), "Bo comes to the pub himself at tick 5"
    assert oracle_says(spec) == ("yes", "yes")
    assert {step.gave for step in a.parts[0].steps if step.took == ("in arm a only",)} >= {
        "Cy tells Di that Ann knows that there is news"
    }
    since = [twin[0][evidence.position].tick for evidence in a.parts[0].steps[-1].evidence]
    assert since == [3]
    what = ox.Triple(entity("ann"), term("knows"), entity("news"))
    told = {chain[0].knower: chain for chain in chains(village_tbox(), twin[0], what, 4)}
    assert [(link.knower, link.tick) for link in told[entity("di")]] == [
        (entity("di"), 3),
        (entity("cy"), 2),
        (entity("bo"), 0),
    ]
    stays = of_hearsay(query, ArmIntervention("retract", "bo", plan=Plan(2, "park")), branch=2)
    assert replayed(stays) == oracle_says(stays) == ("yes", "yes")
    at_home = of_hearsay(query, ArmIntervention("override_location", "bo", place="pub"))
    assert [tick_of(arm, query) for arm in replay_twin(at_home)] == [3, 1]


def tick_of(arm: EventLog, query: Query) -> int:
    """Since when one knows of another, in an arm."""
    what = ox.Triple(entity(query.other or ""), term("knows"), entity(query.fact or ""))
    return arm.history((entity(query.agent), term("knowsThat"), what)).changes[0].delta.tick


def test_who_hears_that_another_knows_does_not_come_to_know_the_fact() -> None:
    """Bo forgets the fact on the way: Cy hears from him that Ann knows it, and does not hear it."""
    forgets = ArmIntervention("retract_awareness", "bo", fact="news")
    told = of_hearsay(Query("knows_that", "", "cy", other="ann", fact="news"), forgets, branch=2)
    assert replayed(told) == oracle_says(told) == ("yes", "yes")
    fact = of_hearsay(Query("learned_fact", "", "cy", fact="news"), forgets, branch=2)
    assert replayed(fact) == oracle_says(fact) == ("yes", "no")


def test_nobody_is_told_of_themselves_and_so_cannot_pass_it_on() -> None:
    """Bo forgets at the park, where Cy was before him: he has nothing to tell of himself at the pub."""
    village = Village(
        4,
        HEARSAY.places,
        HEARSAY.facts,
        [
            Agent("bo", "Bo", "cafe", ["news"], [Plan(1, "park"), Plan(3, "pub")]),
            Agent("cy", "Cy", "cafe", [], []),
            Agent("di", "Di", "pub", [], []),
        ],
    )
    query = Query("knows_that", "", "di", other="bo", fact="news")
    spec = Spec(0, "direct", village, 2, ArmIntervention("retract_awareness", "bo", fact="news"), query)
    assert replayed(spec) == oracle_says(spec) == ("yes", "no")
    to_all = TBox("village", RULES.replace("FILTER(?whom != ?other)", ""))
    assert replayed(spec, to_all) == ("yes", "yes")


def test_three_arms_have_a_row_each_and_are_explained_side_by_side() -> None:
    spec = next(spec for spec in harder("three_arms", 6) if len(set(spec.gold.answers)) > 1)
    rows = answer_spec(spec, spec.gold)
    assert [(row.question, row.predicted, row.correct) for row in rows] == [
        (number, answer, True) for number, answer in enumerate(spec.gold.answers)
    ]
    twin = replay_twin(spec)
    assert [row.log for row in rows] == [arm.digest for arm in twin]
    why = explain(spec, "c", twin)
    forks = [step for step in why.parts[0].steps if step.name == "fork"]
    assert [step.gave.partition(" arm ")[2][0] for step in forks] == ["b", "c"]
    assert [{evidence.log for evidence in step.evidence} for step in forks] == [{"arm b"}, {""}]
    assert why.logs.keys() == {"", "arm a", "arm b"}


@pytest.mark.parametrize(
    ("second", "path"),
    [
        (ArmIntervention("override_location", "cy", place="park"), "$.second: there is no agent 'cy'"),
        (
            ArmIntervention("override_location", "bo", place="cafe"),
            "$.second: arm C has the intervention of arm B",
        ),
        (ArmIntervention("retract", "bo", plan=Plan(2, "cafe")), "$.second.plan: assert adds a plan"),
    ],
)
def test_a_second_intervention_is_held_to_the_same(second: ArmIntervention, path: str) -> None:
    spec = asked(ArmIntervention("override_location", "bo", place="cafe"))
    with pytest.raises(FormatError) as caught:
        check(msgspec.structs.replace(spec, second=second), "here")
    assert f"here: {path}" in str(caught.value)


def test_gold_of_another_number_of_arms_is_refused(tmp_path: Path) -> None:
    spec = harder("three_arms", 6)[0]
    file = tmp_path / "specs.jsonl"
    file.write_bytes(msgspec.json.encode(msgspec.structs.replace(spec, gold=Gold("yes", "yes"))))
    with pytest.raises(FormatError, match=r"specs.jsonl:1: \$.gold: gold of 2 arms where there are 3"):
        read_gold(file)
