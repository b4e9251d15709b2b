"""The agent of the baselines with each of its memories: a turn at a time, held to a schema."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

import pytest

from research.baselines.agent import USES, acting
from research.baselines.village_tools import PLANNED, SEARCH, SUBSTRATE, Interval
from substrate.baselines.model import ReplyError, Request
from substrate.baselines.twin import names_of, plan_text
from substrate.domains.smallville.format import INTERVENTIONS, Arm, Spec
from substrate.generators.smallville import generate


class Scripted:
    """An agent whose reply to each request is a function's result."""

    def __init__(self, says: Callable[[Request], str]) -> None:
        self._says = says
        self.asked: list[Request] = []

    def ask(self, request: Request) -> str:
        self.asked.append(request)
        return self._says(request)


def turn(use: str, **arguments: object) -> str:
    return json.dumps({"thought": "so", "act": {"use": use, **arguments}})


def ticks(text: str, thing: str) -> list[Interval]:
    line = next((line for line in text.splitlines() if line.startswith(thing)), "")
    bounds = re.findall(r"from tick (\d+) (?:to (\d+)|on)", line)
    return [Interval(int(start), int(end) + 1 if end else None) for start, end in bounds]


def scholar(spec: Spec, arm: Arm) -> Scripted:
    """An agent that forks if the arm has an intervention, and then reads the histories that it needs."""
    names, query, act = names_of(spec), spec.query, spec.acts[arm]
    span = range(spec.branch, spec.village.horizon + 1)

    def says(request: Request) -> str:
        texts = [message.text for message in request.messages[2:] if message.role == "user"]
        if act and not texts:
            what = plan_text(act.plan, names) if act.plan else names[act.place or act.fact]
            about = {"intervention": act.type, "villager": names[act.agent], "what": what}
            return turn("imagine", tick=spec.branch, **about)
        world, read = (texts[0], texts[1:]) if act else (PLANNED, texts)
        whom = [query.agent, *([query.other] if query.other else ())]
        if len(read) < len(whom):
            return turn("history", villager=names[whom[len(read)]], world=world)
        things = [f"At {place.name}:" for place in spec.village.places] if query.other else []
        things = things or [f"Knows: {names[query.fact]}:" if query.fact else f"At {names[query.place]}:"]
        held = any(
            all(any(tick in interval for interval in ticks(text, thing)) for text in read)
            for thing in things
            for tick in span
        )
        return turn("answer", answer="yes" if held else "no")

    return Scripted(says)


@pytest.mark.long
def test_an_agent_that_uses_the_substrate_as_the_question_says_gets_every_gold() -> None:
    used = set[str]()
    for number in range(45):
        spec = generate(number, 20)
        used.add(spec.intervention.type)
        answers = [acting(scholar(spec, arm), spec, arm, memory=SUBSTRATE) for arm in spec.arms]
        assert answers == list(spec.gold.answers), number
    assert used == set(INTERVENTIONS)


def test_a_search_stands_in_for_the_village_and_finds_its_sentences() -> None:
    spec = generate(0, 20)
    name = spec.village.agents[2].name
    texts: list[str] = []

    def says(request: Request) -> str:
        texts.append(request.messages[-1].text)
        return turn("search", query=f"{name} tick 0") if len(texts) == 1 else turn("answer", answer="no")

    assert acting(Scripted(says), spec, "a", memory=SEARCH) == "no"
    assert texts[0].startswith("All goes on as planned.")
    assert texts[1].startswith(f"{name} is at")


def test_an_agent_is_told_its_mistakes_and_must_answer_in_the_end() -> None:
    spec = generate(0, 20)

    def says(request: Request) -> str:
        turns = len(request.messages) // 2 - 1
        later = "Yes." if turns == USES else turn("state", tick=99, world=PLANNED)
        return turn("teleport") if turns == 0 else later

    agent = Scripted(says)
    assert acting(agent, spec, "a", memory=SUBSTRATE) == "yes"
    assert len(agent.asked) == USES + 1
    told = [message.text for message in agent.asked[-1].messages if message.role == "user"]
    assert "not what was asked for" in told[1]
    assert told[2].startswith("there is no tick 99")


def test_an_agent_whose_turns_cannot_be_read_is_asked_for_its_answer() -> None:
    agent = Scripted(lambda request: "no, no, no")
    assert acting(agent, generate(0, 20), "a", memory=SUBSTRATE) == "no"
    # Each turn that cannot be read adds the reply and its refusal; the last request also asks for the answer.
    assert [len(request.messages) for request in agent.asked] == [2, 4, 7]


def test_a_conversation_that_no_longer_fits_is_an_error_with_its_reason() -> None:
    def says(request: Request) -> str:
        if len(request.messages) > 2:
            raise ReplyError("the request does not fit into the context")
        return turn("state", tick=0, world=PLANNED)

    error = acting(Scripted(says), generate(0, 20), "a", memory=SUBSTRATE)
    assert isinstance(error, ReplyError)
    assert "does not fit" in str(error)
