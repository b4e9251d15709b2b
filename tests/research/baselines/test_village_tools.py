"""The tools of an agent with the substrate: who uses them as the question says gets the gold."""

from __future__ import annotations

import re

import pytest

from research.baselines.village_tools import PLANNED, SentenceMemory, VillageMemory
from substrate.base.errors import ParameterError
from substrate.baselines.twin import names_of, plan_text
from substrate.domains.smallville.format import INTERVENTIONS, ArmIntervention, Spec
from substrate.generators.smallville import generate

LINE = re.compile(r"(.+) is at (.+)\. Knows: (.+)\.")


def what_of(act: ArmIntervention, spec: Spec) -> str:
    names = names_of(spec)
    return plan_text(act.plan, names) if act.plan else names[act.place or act.fact]


def holds(spec: Spec, state: str) -> bool:
    names, query = names_of(spec), spec.query
    told = {
        parts[1]: (parts[2], parts[3].split("; "))
        for parts in map(LINE.fullmatch, state.splitlines())
        if parts
    }
    at, knows = told[names[query.agent]]
    if query.other:
        return at == told[names[query.other]][0]
    return names[query.fact] in knows if query.fact else at == names[query.place]


def test_an_agent_that_forks_and_looks_gets_the_gold_under_each_intervention() -> None:
    used = set[str]()
    for number in range(45):
        spec = generate(number, 20)
        memory, act = VillageMemory(spec), spec.intervention
        used.add(act.type)
        villager = names_of(spec)[act.agent]
        world = memory.imagine(spec.branch, act.type, villager, what_of(act, spec))
        ticks = range(spec.branch, spec.village.horizon + 1)
        answers = [
            "yes" if any(holds(spec, memory.state(t, w)) for t in ticks) else "no" for w in (PLANNED, world)
        ]
        assert answers == list(spec.gold.answers), number
    assert used == set(INTERVENTIONS)


def test_what_the_village_lacks_is_said_with_what_to_do() -> None:
    memory = VillageMemory(generate(0, 20))
    for call in (
        lambda: memory.state(99),
        lambda: memory.state(0, "imagined 7"),
        lambda: memory.imagine(3, "teleport", "Klaus Mueller", "Hobbs Cafe"),  # pyright: ignore[reportArgumentType]
        lambda: memory.imagine(3, "override_location", "Nobody", "Hobbs Cafe"),
        lambda: memory.imagine(3, "assert", memory.state(0).partition(" is at ")[0], "go home"),
    ):
        with pytest.raises(ParameterError, match=r"\. [A-Z]"):
            call()


def test_a_search_finds_the_sentence_about_a_villager() -> None:
    spec = generate(0, 20)
    name = spec.village.agents[2].name
    assert SentenceMemory.of(spec).search(f"Where does {name} go?").startswith(f"{name} is at")
