"""The functions that `twin_eventlog.yaml` calls: lm-evaluation-harness loads this file by its path."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from research.exporters.twin_sample import sampled
from substrate.baselines.twin import request, said_in
from substrate.domains.smallville.format import ARMS
from substrate.domains.smallville.judging import judge, weights
from substrate.generators.smallville import CANARY


class Said(NamedTuple):
    """An arm's answer beside its gold, and how many arms its specification has."""

    spec: int
    arm: str
    said: str
    gold: str
    arms: int


def dataset(count: int = 500, seed: int = 20, level: str = "village", **_: Any) -> dict[str, Any]:
    """The test split: a document an arm, arm A's first.

    Args:
        count: how many specifications, a fair sample.
        seed: what they are generated from; `--metadata '{"count": 10, "seed": 7}'` sets both.
        level: how hard they are, one of :data:`substrate.generators.smallville.LEVELS`.
    """
    import datasets  # pyright: ignore[reportMissingImports]  # the harness brings it

    rows: list[dict[str, Any]] = []
    for graded in sampled(count, seed, level):
        for arm in graded.arms:
            prompt = "\n\n".join(message.text for message in request(graded, arm).messages)
            document = {"spec": graded.spec, "arm": arm, "linkage": graded.linkage, "prompt": prompt}
            document["arms"] = len(graded.arms)
            rows.append({**document, "gold": getattr(graded.gold, arm), "canary": CANARY})
    return {"test": datasets.Dataset.from_list(rows)}


def process_results(doc: dict[str, Any], results: Sequence[str]) -> dict[str, Any]:
    """An arm's own metric, and what the metrics of all arms together need of it."""
    answer = said_in(results[0])
    graded = Said(doc["spec"], doc["arm"], answer, doc["gold"], doc["arms"])
    unreadable = float(answer == "error")
    right = float(answer == doc["gold"])
    return {"per_arm": right, "joint": graded, "divergence": graded, "unreadable": unreadable}


def joint(answers: Iterable[Said]) -> float:
    """The share of specifications all of whose arms are right; those cut off by a limit are passed over."""
    return _share("joint", answers)


def divergence(answers: Iterable[Said]) -> float:
    """The share of pairs of a specification's arms that are rightly said to differ, or to agree."""
    return _share("divergence", answers)


def _share(metric: str, answers: Iterable[Said]) -> float:
    arms: dict[int, dict[str, Said]] = {}
    for answer in map(Said._make, answers):
        arms.setdefault(answer.spec, {})[answer.arm] = answer
    right = most = 0
    for by_arm in arms.values():
        answered = [by_arm[arm] for arm in ARMS if arm in by_arm]
        if len(answered) == answered[0].arms:
            right += getattr(judge([arm.said for arm in answered], [arm.gold for arm in answered]), metric)
            most += getattr(weights(len(answered)), metric)
    return right / max(most, 1)
