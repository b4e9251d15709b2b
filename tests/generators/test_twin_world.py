"""Twin-EventLog's world: balanced, reproducible, and a gold that comes from the raw schedule alone."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections import Counter
from itertools import product
from pathlib import Path

import msgspec
import pytest
from twin_specs import twin_specs

import substrate.generators.smallville as world
from substrate.base.errors import ParameterError
from substrate.domains.smallville.format import (
    INTERVENTIONS,
    Agent,
    ArmIntervention,
    Gold,
    Named,
    Plan,
    Query,
    Village,
    check,
    read_gold,
    read_specs,
)
from substrate.generators.smallville import LEVELS, datasheet, generate, spec_line, write_specs
from substrate.generators.smallville.oracle import answer, history
from substrate.generators.smallville.sampling import OUTCOMES

N = 72
CELLS = LEVELS["village"].cells
FOLDER = Path(world.__file__).parent


def imported(file: Path) -> set[str]:
    return {
        str(node.module)
        for node in ast.walk(ast.parse(file.read_text("utf-8")))
        if isinstance(node, ast.ImportFrom)
    }


def test_the_oracle_knows_the_format_and_the_standard_library_alone() -> None:
    ours = {module for module in imported(FOLDER / "oracle.py") if module.startswith("substrate")}
    assert ours == {"substrate.domains.smallville.format"}
    for file in FOLDER.glob("*.py"):
        allowed = (
            "substrate.generators.smallville",
            "substrate.domains.smallville.format",
            "substrate.base.errors",
            "substrate.log.journal",
            "substrate.generators.world",
            "substrate.generators.layout",
            "substrate.base.files",
        )
        assert all(
            module.startswith(allowed) for module in imported(file) if module.startswith("substrate")
        ), file


def test_cells_and_answers_come_in_turn() -> None:
    specs = twin_specs(N)
    assert Counter((s.linkage, s.query.type) for s in specs) == dict.fromkeys(CELLS, N // len(CELLS))
    for linkage, query in CELLS:
        golds = [s.gold for s in specs if (s.linkage, s.query.type) == (linkage, query)]
        assert Counter(golds) == Counter(
            OUTCOMES[2][linkage][turn % len(OUTCOMES[2][linkage])] for turn in range(N // len(CELLS))
        )
    assert {s.intervention.type for s in specs} == set(INTERVENTIONS)
    assert sum((s.gold.a == "yes") + (s.gold.b == "yes") for s in specs) == N
    bare = [(s.village, s.branch, s.intervention, s.query) for s in specs]
    assert all(bare.count(case) == 1 for case in bare)


def test_a_linkage_says_who_is_touched_and_whom_it_reaches() -> None:
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


def test_same_seed_same_bytes_in_another_process_and_another_seed_others() -> None:
    code = "from substrate.generators.smallville import spec_line\nfor n in range(9): print(spec_line(n, 4))"
    runs = [
        subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            check=True,
            env={"PYTHONHASHSEED": s, "PYTHONPATH": ":".join(sys.path)},
        )
        for s in "12"
    ]
    here = "".join(f"{spec_line(number, 4)}\n" for number in range(9))
    assert [run.stdout.decode() for run in runs] == [here, here]
    assert here != "".join(f"{spec_line(number, 5)}\n" for number in range(9))


def test_the_file_reads_back_and_its_datasheet_counts_it(tmp_path: Path) -> None:
    write_specs(tmp_path, [spec_line(number, 20) for number in range(18)], 20)
    assert [spec.spec for spec in read_specs(tmp_path / "specs.jsonl")] == list(range(18))
    assert read_gold(tmp_path / "specs.jsonl") == {spec.spec: spec.gold for spec in twin_specs(N)[:18]}
    told = (tmp_path / "DATASHEET.md").read_text("utf-8")
    assert told == datasheet(twin_specs(N)[:18], 20)
    assert "`specs.jsonl`, 18 specifications, seed 20" in told
    assert "| propagation | 2 | 2 | 2 |" in told
    differing = sum(s.gold.a != s.gold.b for s in twin_specs(N)[:18])
    assert f"the two arms differ in {differing} of 18" in told


def day(*agents: Agent, horizon: int = 4) -> Village:
    return Village(
        horizon,
        [Named(p, p) for p in ("cafe", "park", "pub")],
        [Named("news", "there is news")],
        list(agents),
    )


ANN = Agent("ann", "Ann", "cafe", ["news"], [Plan(2, "park")])
BO = Agent("bo", "Bo", "park", [], [Plan(2, "pub", "news"), Plan(3, "pub", "news")])


def test_what_happens_within_a_tick() -> None:
    """Read off by hand: Ann reaches Bo at tick 2, too late for his plan then, in time for the next."""
    told = history(day(ANN, BO))
    assert told.places == {
        "ann": ["cafe", "cafe", "park", "park", "park"],
        "bo": ["park", "park", "park", "pub", "pub"],
    }
    assert [bool(facts) for facts in told.knowledge["bo"]] == [False, False, True, True, True]


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
    """At tick 2: a plan of that tick moves whoever was put elsewhere; who is told then goes by it."""
    assert history(day(ANN, BO), 2, act).places["bo"] == places


def test_questions_look_from_the_branch_on() -> None:
    course = history(day(ANN, BO))
    assert answer(course, Query("visited_location", "", "ann", place="cafe"), 2) == "no"
    assert answer(course, Query("did_meet", "", "ann", other="bo"), 2) == "yes"
    assert answer(course, Query("did_meet", "", "ann", other="bo"), 3) == "no"
    assert answer(course, Query("learned_fact", "", "bo", fact="news"), 4) == "yes"


def test_what_is_known_of_others_goes_from_place_to_place() -> None:
    """Read off by hand: Bo sees Ann know at tick 0 and tells Cy at tick 2, with whom he then is."""
    bo = Agent("bo", "Bo", "cafe", [], [Plan(2, "park")])
    course = history(
        day(Agent("ann", "Ann", "cafe", ["news"], []), bo, Agent("cy", "Cy", "park", [], [])), noted=True
    )
    assert course.noted == {
        "ann": {("bo", "news"): 0},
        "bo": {("ann", "news"): 0, ("cy", "news"): 2},
        "cy": {("ann", "news"): 2, ("bo", "news"): 2},
    }


def test_what_one_knows_of_another_is_seen_and_not_forgotten() -> None:
    """Ann is with Bo from tick 2 on: he knows by then, whoever told whom; what was seen at tick 2 stays."""
    bo, ann = (
        Query("knows_that", "", knower, other=other, fact="news")
        for knower, other in (("bo", "ann"), ("ann", "bo"))
    )
    forgets = ArmIntervention("retract_awareness", "bo", fact="news")
    stays = ArmIntervention("retract", "ann", plan=Plan(2, "park"))
    for query in (bo, ann):
        assert answer(history(day(ANN, BO), noted=True), query, 4) == "yes"
        assert answer(history(day(ANN, BO), 4, forgets, noted=True), query, 4) == "yes"
        assert answer(history(day(ANN, BO), 2, stays, noted=True), query, 2) == "no"
    knows = ArmIntervention("assert_awareness", "bo", fact="news")
    apart = history(day(ANN, BO), 2, knows, noted=True)
    assert answer(apart, ann, 2) == "no", "who is told elsewhere is not seen to know"


def test_a_town_has_everybody_and_a_longer_day_and_asks_what_one_knows_of_another() -> None:
    assert [len(LEVELS[name].cells) for name in ("village", "belief", "town")] == [9, 3, 12]
    for number in (3, 7):
        spec = generate(number, 20, "town")
        check(spec)
        assert len(spec.village.agents) == 25
        assert 40 <= spec.village.horizon <= 60
        assert (spec.linkage, spec.query.type) == LEVELS["town"].cells[number]
        arms = [history(spec.village, spec.branch, act, noted=True) for act in spec.acts.values()]
        assert spec.gold.answers == tuple(answer(arm, spec.query, spec.branch) for arm in arms)


def test_every_level_is_drawn_by_itself_and_its_datasheet_says_so(tmp_path: Path) -> None:
    belief = [generate(number, 20, "belief") for number in range(12)]
    assert [spec_line(number, 20, "village") for number in range(3)] == [spec_line(n, 20) for n in range(3)]
    assert {spec.query.type for spec in belief} == {"knows_that"}
    assert len({(spec.gold.a, spec.gold.b) for spec in belief}) == 4
    write_specs(tmp_path, [spec_line(number, 20, "belief") for number in range(12)], 20, "belief")
    assert [spec.spec for spec in read_specs(tmp_path / "specs.jsonl")] == list(range(12))
    told = (tmp_path / "DATASHEET.md").read_text("utf-8")
    assert told.startswith("# Datasheet: Twin-EventLog, level belief\n")
    assert "| linkage | did_meet | learned_fact | visited_location | knows_that |" in told
    assert "`substrate generate twin --level belief --specs 12 --seed 20 --out DIR`" in told
    with pytest.raises(ParameterError, match="no level 'city'"):
        generate(0, 20, "city")


def test_of_three_arms_each_intervention_has_the_linkage_and_makes_another_day(tmp_path: Path) -> None:
    specs = [generate(number, 20, "three_arms") for number in (0, 3, 5, 7, 12, 15, 16)]
    for spec in specs:
        check(spec)
        assert spec.second
        a, *others = [history(spec.village, spec.branch, act) for act in spec.acts.values()]
        assert spec.gold.answers == tuple(answer(arm, spec.query, spec.branch) for arm in (a, *others))
        assert others[0] != others[1]
        villagers = {spec.query.agent, spec.query.other or spec.query.agent}
        for act, b in zip((spec.intervention, spec.second), others, strict=True):
            reached = {who for who in villagers if a.of(who, spec.branch) != b.of(who, spec.branch)}
            assert (act.agent in villagers) is (spec.linkage == "direct")
            assert bool(reached) is (spec.linkage != "control")
    write_specs(tmp_path, map(msgspec.json.encode, specs), 20, "three_arms")
    assert list(read_gold(tmp_path / "specs.jsonl").values()) == [spec.gold for spec in specs]
    told = (tmp_path / "DATASHEET.md").read_text("utf-8")
    assert "Answers are written A, B, C:" in told
    assert f"Who always says no gets {sum(spec.gold.answers.count('no') for spec in specs)} of 21" in told


def test_the_answers_of_three_arms_give_no_arm_and_no_pair_away() -> None:
    for linkage in ("direct", "propagation"):
        golds = [gold.answers for gold in OUTCOMES[3][linkage]]
        assert sorted(golds) == sorted(product(("yes", "no"), repeat=3))
