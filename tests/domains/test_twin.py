"""Twin-EventLog by replay: both counts of the truth agree, and a broken rule is found out."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from hypothesis import assume, given, settings
from twin_specs import small_specs, twin_specs

from substrate.domains.smallville.format import (
    Agent,
    Gold,
    Intervention,
    Named,
    Plan,
    Query,
    Spec,
    Village,
    check,
    read_specs,
)
from substrate.domains.smallville.twin import (
    ARMS,
    answer,
    answer_spec,
    entity,
    parent_log,
    replay_twin,
    term,
    village_tbox,
)
from substrate.domains.smallville.twin_explain import explain
from substrate.errors import FormatError, InterventionError
from substrate.tbox import TBox
from substrate.worlds.smallville import generate, oracle


def replayed(spec: Spec, tbox: TBox | None = None) -> tuple[str, ...] | None:
    """Both answers under some rules; ``None`` where the intervention is refused."""
    try:
        return tuple(answer(spec, arm) for arm in replay_twin(spec, tbox))
    except InterventionError:
        return None


def test_replay_and_oracle_agree_on_generated_specifications() -> None:
    assert [spec.spec for spec in twin_specs() if replayed(spec) != (spec.gold.a, spec.gold.b)] == []


def test_replay_and_oracle_agree_at_harder_levels() -> None:
    specs = [generate(number, 20, "belief") for number in range(12)] + [generate(3, 20, "town")]
    assert [spec for spec in specs if replayed(spec) != (spec.gold.a, spec.gold.b)] == []


@settings(max_examples=150, deadline=None)
@given(small_specs())
def test_replay_and_oracle_agree_on_any_small_village(spec: Spec) -> None:
    check(spec)
    found = replayed(spec)
    assume(found)
    histories = oracle.history(spec.village), oracle.history(spec.village, spec.branch, spec.intervention)
    assert found == tuple(oracle.answer(history, spec.query, spec.branch) for history in histories)


RULES = village_tbox().turtle
BROKEN = {
    "move": RULES.replace('rdfs:label "move"', 'rdfs:label "move" ; sh:deactivated true'),
    "part": RULES.replace('rdfs:label "part"', 'rdfs:label "part" ; sh:deactivated true'),
    "meet": RULES.replace('rdfs:label "meet"', 'rdfs:label "meet" ; sh:deactivated true'),
    "tell": RULES.replace('rdfs:label "tell"', 'rdfs:label "tell" ; sh:deactivated true'),
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
def test_a_broken_rule_makes_the_two_disagree(name: str) -> None:
    assert BROKEN[name] != RULES
    broken = TBox("village", BROKEN[name])
    assert any(
        found not in (None, (spec.gold.a, spec.gold.b))
        for spec in twin_specs()
        for found in [replayed(spec, broken)]
    )


def test_arm_a_is_the_village_and_both_arms_conform_to_the_shapes() -> None:
    for spec in twin_specs()[:9]:
        parent, twin = parent_log(spec), replay_twin(spec)
        assert twin.a.digest == parent.digest == twin.b.parent_digest
        assert twin.a.digest_at(spec.branch - 1) == twin.b.digest_at(spec.branch - 1)
        assert twin.b.digest != twin.a.digest
        assert not any(village_tbox().validate(arm.state(), arm) for arm in twin)
        assert [arm.last_tick for arm in twin] == [spec.village.horizon] * 2


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
    for spec, right, shown in zip(specs, twin_specs(), wrong, strict=False):
        rows = answer_spec(spec, shown.gold)
        assert [row.predicted for row in rows] == [right.gold.a, right.gold.b]
        assert [row.correct for row in rows] == [False, False]


def test_a_row_says_which_arm_and_which_log() -> None:
    spec = twin_specs()[17]
    a, b = answer_spec(spec, spec.gold)
    twin = replay_twin(spec)
    assert (a.benchmark, a.split, a.subset, a.scene, a.question, b.question) == (
        "twin",
        "generated",
        spec.linkage,
        17,
        0,
        1,
    )
    assert (a.log, b.log) == (twin.a.digest, twin.b.digest)
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


def asked(act: Intervention, query: Query | None = None, branch: int = 2) -> Spec:
    return Spec(
        3,
        "direct",
        VILLAGE,
        branch,
        act,
        query or Query("visited_location", "Is Bo at cafe?", "bo", place="cafe"),
    )


@pytest.mark.parametrize(
    ("act", "why"),
    [
        (Intervention("override_location", "ann", place="cafe"), "is at <urn:village:cafe> already"),
        (Intervention("assert_awareness", "ann", fact="news"), "is aware of <urn:village:news> already"),
        (Intervention("retract_awareness", "bo", fact="news"), "is not aware of <urn:village:news>"),
    ],
    ids=lambda value: value.type if isinstance(value, Intervention) else "",
)
def test_an_intervention_that_changes_nothing_is_an_error_that_counts_as_wrong(
    act: Intervention, why: str
) -> None:
    rows = answer_spec(asked(act), Gold("no", "no"))
    assert [(row.predicted, row.correct) for row in rows] == [("error", False)] * 2
    assert all(why in str(row.error) for row in rows)


def test_a_plan_that_has_begun_may_be_added_or_taken_away_to_no_effect() -> None:
    for act in (
        Intervention("retract", "ann", plan=Plan(2, "park")),
        Intervention("assert", "ann", plan=Plan(1, "park")),
    ):
        twin = replay_twin(asked(act, branch=4))
        assert (entity("ann"), term("at"), entity("park")) in twin.b.state()
        assert answer_spec(asked(act, branch=4), Gold("no", "no"))[1].correct


@pytest.mark.parametrize(
    ("spec", "path"),
    [
        (
            asked(Intervention("assert", "ann", plan=Plan(2, "cafe"))),
            "$.intervention.plan: an agent's plans start at ticks of the village, no two at the same",
        ),
        (
            asked(Intervention("retract", "bo", plan=Plan(2, "cafe"))),
            "$.intervention.plan: assert adds a plan the agent does not have",
        ),
        (asked(Intervention("override_location", "ann")), "$.intervention: there is no place None"),
        (
            asked(Intervention("override_location", "cy", place="park")),
            "$.intervention: there is no agent 'cy'",
        ),
        (
            asked(
                Intervention("override_location", "ann", place="park"),
                Query("did_meet", "", "ann", other="ann"),
            ),
            "$.query: nobody meets themselves",
        ),
        (
            asked(
                Intervention("override_location", "ann", place="park"),
                Query("learned_fact", "", "ann", place="park"),
            ),
            "$.query: there is no fact None",
        ),
        (
            asked(Intervention("override_location", "ann", place="park"), branch=7),
            "$.branch: 1 <= branch <= horizon <= 10000 does not hold",
        ),
        (asked(Intervention("override_location", "ann", place="park"), branch=0), "$.branch: 1 <= branch"),
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
    spec = asked(Intervention("assert_awareness", "bo", fact="news"))
    twin = replay_twin(spec)
    a, b = (explain(spec, arm, twin) for arm in ARMS)
    fork, *events, last = b.parts[0].steps
    assert fork.gave == "in arm b Bo knows that there is news"
    assert (b.answer, last.gave) == ("yes", "yes: it holds at 2, 3, 4, 5, 6 of these ticks")
    assert {(step.name, *step.took, step.gave, step.evidence[0].log) for step in events} == {
        ("tick 2", "in arm a only", "Ann and Bo meet at park", "arm a"),
        ("tick 2", "in arm a only", "Ann tells Bo that there is news", "arm a"),
        ("tick 2", "in arm b only", "Bo goes to cafe", ""),
    }
    assert [twin.b[p].triple[1] for p in b.evidence() if twin.b[p].triple[0] == entity("bo")] == [
        term("knows"),
        term("at"),
    ]
    *_, last = a.parts[0].steps
    assert (a.answer, last.missed) == ("no", ("bo :at cafe",))
    assert [twin.a[position].tick for position in a.evidence()] == [2] * len(a.evidence())
    assert a.text().splitlines()[1] == "answer: no"


def test_why_one_knows_what_another_knows_names_both_deltas() -> None:
    query = Query("knows_that", "", "ann", other="bo", fact="news")
    spec = asked(Intervention("assert_awareness", "bo", fact="news"), query)
    twin = replay_twin(spec)
    a, b = (explain(spec, arm, twin) for arm in ARMS)
    assert (a.answer, b.answer) == ("yes", "no")
    last, missed = a.parts[0].steps[-1], b.parts[0].steps[-1]
    assert last.took == ("ticks 0 to 6",)
    said = [twin.a[evidence.position].triple for evidence in last.evidence]
    assert {(s, p) for s, p, _ in said} == {(entity("ann"), term("with")), (entity("bo"), term("knows"))}
    assert missed.missed == ("ann :with bo and bo :knows news",)
