"""The Concordia-style simulation, with personas whose choices are known."""

from __future__ import annotations

import re

from villages import QUERIES, VILLAGE, spec

from substrate.baselines.concordia import Sampler, concordia, simulate
from substrate.baselines.model import ReplyError, Request


class Obedient:
    """Plays each persona as its prompt says: follows the schedule, and talks or keeps silent."""

    def __init__(self, talk: str = "yes") -> None:
        self.talk = talk
        self.prompts: list[str] = []

    def ask(self, request: Request) -> str:
        prompt = request.messages[1].text
        self.prompts.append(prompt)
        if "talk with" in prompt:
            return f'{{"answer": "{self.talk}"}}'
        tick = int(re.search(r"It is tick (\d+)", prompt)[1])  # pyright: ignore[reportOptionalSubscript]
        knows = "You know: there is a party" in prompt
        place = re.search(r"You were last at (.+)\.", prompt)[1]  # pyright: ignore[reportOptionalSubscript]
        for start, goal, condition in re.findall(
            r"from tick (\d+) on at ([\w ]+)(, if they know then)?", prompt
        ):
            if int(start) == tick and (knows or not condition):
                place = goal
        return f'{{"answer": "{place}"}}'


def test_only_the_place_at_the_end_counts_as_in_the_paper() -> None:
    # The question is "Is Klaus Mueller at Hobbs Cafe?". In arm b Isabella also plans to be in the park at
    # tick 1.
    given = spec(query="visited_location", intervention="assert")
    simulation = simulate(Sampler(Obedient()), given, "b")
    assert [tick["isabella"].place for tick in simulation] == ["cafe", "park", "park", "park"]

    class Restless(Obedient):
        def ask(self, request: Request) -> str:
            prompt = request.messages[1].text
            if "talk with" in prompt:
                return super().ask(request)
            place = "Hobbs Cafe" if "It is tick 2 " in prompt else "Johnson Park"
            return f'{{"answer": "{place}"}}'

    assert [tick["klaus"].place for tick in simulate(Sampler(Restless()), given, "a")] == [
        "park",
        "park",
        "cafe",
        "park",
    ]
    assert concordia(Restless(), given, "a") == "no", "Klaus was at the cafe, but is not there at the end"


def test_each_tick_asks_each_persona_for_a_place_and_each_pair_whether_to_talk() -> None:
    model = Obedient()
    simulate(Sampler(model), spec(), "a")
    places = [prompt for prompt in model.prompts if "Where is" in prompt]
    assert len(places) == (VILLAGE.horizon + 1) * len(VILLAGE.agents)
    # Klaus and Maria share the park at ticks 0 and 1; Klaus and Isabella the cafe at 2 and 3. Nobody told
    # Maria of the party.
    assert sum("talk with" in prompt for prompt in model.prompts) == 4
    assert all(
        prompt.startswith("You are ") and QUERIES["did_meet"].text not in prompt for prompt in model.prompts
    )
    assert not any("Klaus Mueller" in prompt for prompt in places if prompt.startswith("You are Isabella"))


def test_both_arms_ask_the_same_until_the_branch() -> None:
    models = [Obedient(), Obedient()]
    for model, arm in zip(models, spec().arms, strict=True):
        simulate(Sampler(model), spec(branch=2, intervention="override_location"), arm)
    before = [
        [prompt for prompt in model.prompts if re.search(r"It is tick [01] ", prompt)] for model in models
    ]
    assert before[0] == before[1]
    assert models[0].prompts != models[1].prompts


def test_a_choice_that_cannot_be_read_makes_the_answer_an_error() -> None:
    class Mute:
        def ask(self, request: Request) -> str:
            return "…"

    assert isinstance(concordia(Mute(), spec(), "a"), ReplyError)
