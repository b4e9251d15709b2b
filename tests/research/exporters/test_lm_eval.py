"""Twin-EventLog as a task of lm-evaluation-harness, run by the harness itself."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

import substrate.adapters
from research.exporters.twin_sample import sampled

lm_eval = pytest.importorskip("lm_eval")

from lm_eval.api.model import LM  # noqa: E402  # pyright: ignore[reportMissingImports]
from lm_eval.tasks import TaskManager  # noqa: E402  # pyright: ignore[reportMissingImports]

pytestmark = pytest.mark.filterwarnings("ignore")
TASKS = Path(substrate.adapters.__path__[0]) / "lm_eval"
COUNT = 9


class Saying(LM):
    """A model with one reply."""

    def __init__(self, reply: str) -> None:
        super().__init__()
        self.reply = reply

    def generate_until(self, requests: Any, disable_tqdm: bool = False) -> list[str]:
        return [self.reply for _ in requests]

    def loglikelihood(self, requests: Any) -> Any:
        raise NotImplementedError

    def loglikelihood_rolling(self, requests: Any) -> Any:
        raise NotImplementedError


def scored(reply: str, given: Any = (), **limits: Any) -> dict[str, float]:
    metadata = {"count": COUNT, "seed": 7} | dict(given)
    manager = TaskManager(include_path=str(TASKS), metadata=metadata)
    done = lm_eval.simple_evaluate(Saying(reply), tasks=["twin_eventlog"], task_manager=manager, **limits)
    scores = done["results"]["twin_eventlog"]
    return {name.partition(",")[0]: value for name, value in scores.items()}


@pytest.mark.parametrize("reply", ["No.", '{"answer": "no"}'])
def test_who_always_says_no_gets_what_the_gold_gives_them(reply: str) -> None:
    golds = [spec.gold for spec in sampled(COUNT, 7)]
    scores = scored(reply)
    assert scores["per_arm"] == sum((g.a == "no") + (g.b == "no") for g in golds) / (2 * COUNT)
    assert scores["joint"] == sum(g.a == g.b == "no" for g in golds) / COUNT
    assert scores["divergence"] == sum(g.a == g.b for g in golds) / COUNT


def test_who_says_neither_is_wrong_and_half_a_pair_is_none() -> None:
    scores = scored("who knows", limit=5)
    assert (scores["per_arm"], scores["joint"], scores["divergence"], scores["unreadable"]) == (0, 0, 0, 1)


def test_three_arms_are_judged_together_and_one_that_is_cut_off_is_none() -> None:
    golds = [spec.gold.answers for spec in sampled(4, 7, "three_arms")]
    options = {"count": 4, "level": "three_arms"}
    scores = scored("no", options)
    alike = [sum(answer == other for answer, other in combinations(gold, 2)) for gold in golds]
    assert scores["per_arm"] == pytest.approx(sum(gold.count("no") for gold in golds) / 12)
    assert scores["joint"] == sum(set(gold) == {"no"} for gold in golds) / 4
    assert scores["divergence"] == pytest.approx(sum(alike) / 12)
    assert scored("no", options, limit=11)["divergence"] == pytest.approx(sum(alike[:3]) / 9)
