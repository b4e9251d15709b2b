"""Twin-EventLog's world: balanced, reproducible, and a gold that comes from the raw schedule alone."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from twin_specs import day, twin_specs

from substrate.domains.smallville.format import (
    INTERVENTIONS,
    Agent,
    ArmIntervention,
    Gold,
    Plan,
    Query,
    check,
    read_gold,
    read_specs,
)
from substrate.generators.smallville import datasheet, spec_line, write_specs
from substrate.generators.smallville.oracle import answer, history
from substrate.generators.smallville.sampling import CELLS, OUTCOMES

N = 72


def test_cells_and_answers_come_in_turn() -> None:
    specs = twin_specs(N)
    assert Counter((s.linkage, s.query.type) for s in specs) == dict.fromkeys(CELLS, N // len(CELLS))
    for linkage, query in CELLS:
        golds = [s.gold for s in specs if (s.linkage, s.query.type) == (linkage, query)]
        assert Counter(golds) == Counter(
            OUTCOMES[linkage][turn % len(OUTCOMES[linkage])] for turn in range(N // len(CELLS))
        )
    assert {s.intervention.type for s in specs} == set(INTERVENTIONS)
    assert sum((s.gold.a == "yes") + (s.gold.b == "yes") for s in specs) == N
    bare = [(s.village, s.branch, s.intervention, s.query) for s in specs]
    assert all(bare.count(case) == 1 for case in bare)


def test_a_linkage_says_which_agents_are_touched_and_reached() -> None:
    for spec in twin_specs(N):
        check(spec)
        a, b = history(spec.village), history(spec.village, spec.branch, spec.intervention)
        assert spec.gold == Gold(answer(a, spec.query, spec.branch), answer(b, spec.query, spec.branch))
        villagers = {spec.query.agent, spec.query.other} - {None}
        reached = {
            agent.id
            for agent in spec.village.agents
            if a.of(agent.id, spec.branch) != b.of(agent.id, spec.branch)
        }
        assert reached, "an intervention that changes nothing is no intervention"
        assert (spec.intervention.agent in villagers) is (spec.linkage == "direct")
        assert bool(reached & villagers) is (spec.linkage != "control")
        assert all(
            places[: spec.branch] == b.places[agent][: spec.branch] for agent, places in a.places.items()
        )


def test_the_file_reads_back_and_its_datasheet_counts_it(tmp_path: Path) -> None:
    write_specs(tmp_path, [spec_line(number, 20) for number in range(18)], 20)
    assert [spec.spec for spec in read_specs(tmp_path / "specs.jsonl")] == list(range(18))
    assert read_gold(tmp_path / "specs.jsonl") == {spec.spec: spec.gold for spec in twin_specs(N)[:18]}
    sheet = (tmp_path / "DATASHEET.md").read_text("utf-8")
    assert sheet == datasheet(twin_specs(N)[:18], 20)
    assert "`specs.jsonl`, 18 specifications, seed 20" in sheet
    assert "| propagation | 2 | 2 | 2 |" in sheet
    differing = sum(s.gold.a != s.gold.b for s in twin_specs(N)[:18])
    assert f"the two arms differ in {differing} of 18" in sheet


ANN = Agent("ann", "Ann", "cafe", ["news"], [Plan(2, "park")])
BO = Agent("bo", "Bo", "park", [], [Plan(2, "pub", "news"), Plan(3, "pub", "news")])


def test_the_order_of_events_within_a_tick() -> None:
    """Read off by hand: Ann reaches Bo at tick 2, too late for his plan then, in time for the next."""
    course = history(day(ANN, BO))
    walks = (["cafe", "cafe", "park", "park", "park"], ["park", "park", "park", "pub", "pub"])
    assert course.places == dict(zip(("ann", "bo"), walks, strict=True))
    assert [bool(facts) for facts in course.knowledge["bo"]] == [False, False, True, True, True]


@pytest.mark.parametrize(
    ("act", "places"),
    [
        (ArmIntervention("assert_awareness", "bo", fact="news"), ["park", "park", "pub", "pub", "pub"]),
        (ArmIntervention("retract_awareness", "ann", fact="news"), ["park"] * 5),
        (ArmIntervention("override_location", "ann", place="pub"), ["park", "park", "park", "pub", "pub"]),
        (ArmIntervention("retract", "ann", plan=Plan(2, "park")), ["park"] * 5),
        (ArmIntervention("assert", "ann", plan=Plan(3, "cafe")), ["park", "park", "park", "pub", "pub"]),
    ],
    ids=lambda value: value.type if isinstance(value, ArmIntervention) else "",
)
def test_interventions_come_before_anything_else_of_their_tick(
    act: ArmIntervention, places: list[str]
) -> None:
    """At tick 2: a plan of that tick moves even an agent that was put elsewhere, and may use the new fact."""
    assert history(day(ANN, BO), 2, act).places["bo"] == places


def test_questions_look_from_the_branch_on() -> None:
    course = history(day(ANN, BO))
    assert answer(course, Query("visited_location", "", "ann", place="cafe"), 2) == "no"
    assert answer(course, Query("did_meet", "", "ann", other="bo"), 2) == "yes"
    assert answer(course, Query("did_meet", "", "ann", other="bo"), 3) == "no"
    assert answer(course, Query("learned_fact", "", "bo", fact="news"), 4) == "yes"
