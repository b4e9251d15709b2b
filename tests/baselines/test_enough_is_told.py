"""The prompt tells the model enough: a reader that follows its words gives the gold, which the generator's
own oracle computed.
"""

from __future__ import annotations

import json
import re

import msgspec
import pytest
from twin_specs import twin_specs

from substrate.baselines import twin
from substrate.baselines.concordia import concordia
from substrate.baselines.model import Model, Request
from substrate.domains.smallville.format import Gold, Query, Spec
from substrate.generators.smallville.sampling import Graded

PLAN = re.compile(r"from tick (\d+) on at (.+?)(?:, if they know then: (.+))?")
VILLAGER = re.compile(r"(.+) is at (.+) at tick 0\. Knows: (.+)\. Plans: (.+)\.")
NOTHING = {"none of the facts", "nothing in particular"}


def plans_of(text: str) -> list[tuple[int, str, str | None]]:
    return [(int(plan[1]), plan[2], plan[3]) for part in text.split("; ") if (plan := PLAN.fullmatch(part))]


class Reader:
    """Reads the village out of the direct prompt's text and goes through its ticks."""

    def __init__(self, query: Query, names: twin.Names) -> None:
        self.query = query
        self.names = names

    def ask(self, request: Request) -> str:
        text = request.messages[1].text
        place, knows, plans = {}, {}, {}
        for name, at, facts, planned in VILLAGER.findall(text):
            place[name], knows[name], plans[name] = at, set(facts.split("; ")) - NOTHING, plans_of(planned)
        span = re.search(r"ticks from (\d+) to (\d+), both", text)
        assert span
        branch, horizon = map(int, span.groups())
        yes = False
        for tick in range(horizon + 1):
            if tick == branch and (happens := re.search(r"of that tick, (.+)\. Then all goes on", text)):
                intervene(happens[1], place, knows, plans)
            goals = {
                name: goal
                for name in place
                for start, goal, fact in plans[name]
                if start == tick and (fact is None or fact in knows[name])
            }
            place |= goals
            for name in place:
                knows[name] = set().union(*(knows[other] for other in place if place[other] == place[name]))
            yes = yes or (tick >= branch and self.holds(place, knows))
        return json.dumps({"answer": "yes" if yes else "no"})

    def holds(self, place: dict[str, str], knows: dict[str, set[str]]) -> bool:
        who, names = self.names[self.query.agent], self.names
        if self.query.other:
            return place[who] == place[names[self.query.other]]
        return (
            names[self.query.fact] in knows[who] if self.query.fact else place[who] == names[self.query.place]
        )


def intervene(
    happens: str,
    place: dict[str, str],
    knows: dict[str, set[str]],
    plans: dict[str, list[tuple[int, str, str | None]]],
) -> None:
    who = next(name for name in place if happens.startswith(f"{name} "))
    how, _, what = happens.removeprefix(f"{who} ").partition(": ")
    if how == "makes a new plan":
        plans[who] += plans_of(what)
    elif how == "gives a plan up":
        plans[who] = [plan for plan in plans[who] if plan not in plans_of(what)]
    elif how == "comes to know this fact":
        knows[who] |= {what}
    elif how == "forgets this fact":
        knows[who] -= {what}
    else:
        place[who] = how.removeprefix("is moved to ")


class Obedient:
    """Plays each persona as its prompt says, and talks with everyone."""

    def ask(self, request: Request) -> str:
        prompt = request.messages[1].text
        if "talk with" in prompt:
            return '{"answer": "yes"}'
        tick, place, planned, known = (
            re.search(pattern, prompt)[1]  # pyright: ignore[reportOptionalSubscript]
            for pattern in (r"It is tick (\d+)", r"last at (.+)\.", r"schedule: (.+)\.", r"know: (.+)\.")
        )
        for start, goal, fact in plans_of(planned):
            if start == int(tick) and (fact is None or fact in known.split("; ")):
                place = goal
        return json.dumps({"answer": place})


def spec_and_gold(graded: Graded) -> tuple[Spec, Gold]:
    return msgspec.convert(msgspec.to_builtins(graded), Spec), graded.gold


@pytest.fixture(scope="module")
def specs() -> list[tuple[Spec, Gold]]:
    return [spec_and_gold(graded) for graded in twin_specs(36)]


def test_the_village_s_text_holds_the_answer_to_each_arm(specs: list[tuple[Spec, Gold]]) -> None:
    pairs = [
        (twin.direct(Reader(spec.query, twin.names_of(spec)), spec, arm), getattr(gold, arm))
        for spec, gold in specs
        for arm in spec.arms
    ]
    assert [answer for answer, _ in pairs] == [gold for _, gold in pairs]
    assert {gold for _, gold in pairs} == {"yes", "no"}


def test_personas_that_keep_their_schedule_and_talk_give_the_gold_but_for_places_left_again(
    specs: list[tuple[Spec, Gold]],
) -> None:
    model: Model = Obedient()
    answers = [
        (spec.query.type, concordia(model, spec, arm), getattr(gold, arm))
        for spec, gold in specs
        for arm in spec.arms
    ]
    assert all(answer == gold for query, answer, gold in answers if query != "visited_location")
    missed = [
        (answer, gold) for query, answer, gold in answers if query == "visited_location" and answer != gold
    ]
    assert set(missed) == {("no", "yes")}, "graded on where the simulation ends, as in the paper"
