"""What `twin_eventlog.yaml` calls: lm-evaluation-harness loads this file by its path."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from substrate.baselines.model import ReplyError
from substrate.baselines.twin import ARMS, request
from substrate.domains.smallville.judging import WEIGHTS, judge, normal
from substrate.worlds.smallville import CANARY, generate


class Said(NamedTuple):
    """An arm's answer beside its gold."""

    spec: int
    arm: str
    said: str
    gold: str


def dataset(count: int = 500, seed: int = 20, **_: Any) -> dict[str, Any]:
    """The test split: two documents a specification, arm A's first.

    Args:
        count: how many specifications; `--metadata '{"count": 10, "seed": 7}'` sets both.
        seed: what they are generated from.
    """
    import datasets  # pyright: ignore[reportMissingImports]  # the harness brings it

    rows: list[dict[str, Any]] = []
    for number in range(count):
        graded = generate(number, seed)
        for arm in ARMS:
            prompt = "\n\n".join(message.text for message in request(graded, arm).messages)
            asked = {"spec": number, "arm": arm, "linkage": graded.linkage, "prompt": prompt}
            rows.append({**asked, "gold": getattr(graded.gold, arm), "canary": CANARY})
    return {"test": datasets.Dataset.from_list(rows)}


def process_results(doc: dict[str, Any], results: Sequence[str]) -> dict[str, Any]:
    """An arm's own metric, and what the metrics of pairs need of it."""
    try:
        said = request(generate(0, 0), "a").read(results[0]).answer
    except ReplyError:
        said = normal(results[0]) or "error"
    answer = Said(doc["spec"], doc["arm"], said, doc["gold"])
    return {"per_arm": float(said == doc["gold"]), "joint": answer, "divergence": answer}


def joint(answers: Iterable[Said]) -> float:
    """The share of pairs both of whose arms are right; half a pair, as a limit leaves it, is passed over."""
    return _share("joint", answers)


def divergence(answers: Iterable[Said]) -> float:
    """The share of pairs of which it is rightly said whether the arms differ."""
    return _share("divergence", answers)


def _share(metric: str, answers: Iterable[Said]) -> float:
    arms: dict[int, dict[str, Said]] = {}
    for answer in map(Said._make, answers):
        arms.setdefault(answer.spec, {})[answer.arm] = answer
    pairs = [(pair["a"], pair["b"]) for pair in arms.values() if len(pair) == len(ARMS)]
    right = (getattr(judge((a.said, b.said), (a.gold, b.gold)), metric) for a, b in pairs)
    return sum(right) / (getattr(WEIGHTS, metric) * max(len(pairs), 1))
