"""Counting correct rows, and what a number is named."""

from __future__ import annotations

import importlib.resources
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import yaml
from pyspark.sql import SparkSession
from pyspark.sql import functions as sql

from orchestration.ablations import VARIANTS
from orchestration.statistics import wilson


def _multiple_choice(benchmark: str, *subsets: str) -> tuple[str, ...]:
    return tuple(f"{benchmark}/{subset}/{metric}" for subset in subsets for metric in ("per_question", "per_option"))


METRICS: Mapping[str, tuple[str, ...]] = {
    "clevrer": (
        "clevrer/descriptive/per_question",
        *_multiple_choice("clevrer", "explanatory", "counterfactual", "predictive"),
    ),
    **{
        benchmark: tuple(
            f"{benchmark}/{subset}"
            for subset in ("factual/per_question", "predictive/per_question", "predictive/per_option", "counterfactual/per_question", "counterfactual/per_option")
        )
        for benchmark in ("comphy", "comphy_inferred")
    },
    "babi": (*(f"babi/qa{task}/accuracy" for task in range(1, 21)), "babi/mean/accuracy", "babi/mean/supporting"),
    "clevrer_humans": _multiple_choice("clevrer_humans", "explanatory"),
    "gqa": ("gqa/by_name/accuracy", "gqa/by_id/accuracy"),
    "ablations": _multiple_choice("ablations", *(variant.name for variant in VARIANTS)),
}
"""The numbers of each benchmark, by the name that stands in scores, tables, traces and the UI.

The rows of a table are in this order. ``mean`` pools the tasks of bAbI, which have equally many questions.
"""

_DIGITS = 6


class Score(msgspec.Struct, frozen=True):
    """One number: ``correct`` of ``n``, as a proportion with its 95 % interval; published ones are proportions too."""

    name: str
    subset: str
    metric: str
    n: int
    correct: int
    accuracy: float | None
    wilson: tuple[float, float] | None
    published: dict[str, float]


def score(name: str, correct: int, n: int) -> Score:
    """The score of a number's counts; without a question there is no accuracy.

    >>> score("clevrer/descriptive/per_question", 153, 300).wilson
    (0.453664, 0.566083)
    """
    _, subset, metric = name.split("/")
    accuracy = round(correct / n, _DIGITS) if n else None
    interval = tuple(round(bound, _DIGITS) for bound in wilson(correct, n)) if n else None
    numbers = published()["numbers"].get(name, {})
    return Score(name, subset, metric, n, correct, accuracy, interval, {who: round(value / 100, _DIGITS) for who, value in numbers.items() if who != "n"})  # pyright: ignore[reportArgumentType]


@cache
def published() -> dict[str, Any]:
    """Published numbers, in percent, and their citations."""
    return yaml.safe_load((importlib.resources.files("orchestration") / "published.yaml").read_text("utf-8"))


_SCHEMA = "subset string, correct boolean, choices array<struct<predicted:string,expected:string>>, supporting array<int>, expected_supporting array<int>"
_TOTALS = {"accuracy": "questions", "per_question": "questions", "per_option": "options", "supporting": "with_facts"}


def count(session: SparkSession, answers: Path, names: Iterable[str]) -> dict[str, tuple[int, int]]:
    """Correct and total by number's name, counted by Spark over the rows of an answers file; rows without gold are left out."""
    rows = session.read.json(answers.as_uri(), schema=_SCHEMA)
    right = sql.filter("choices", lambda choice: choice["predicted"] == choice["expected"])
    same_facts = sql.sort_array("supporting") == sql.sort_array("expected_supporting")
    counted = (
        rows.where("correct is not null")
        .groupBy("subset")
        .agg(
            sql.count("*").alias("questions"),
            sql.sum(sql.col("correct").cast("long")).alias("right_questions"),
            sql.sum(sql.coalesce(sql.size("choices"), sql.lit(0)).cast("long")).alias("options"),
            sql.sum(sql.coalesce(sql.size(right), sql.lit(0)).cast("long")).alias("right_options"),
            sql.sum((sql.coalesce(sql.size("expected_supporting"), sql.lit(0)) > 0).cast("long")).alias("with_facts"),
            sql.sum(sql.coalesce(same_facts, sql.lit(False)).cast("long")).alias("right_with_facts"),
        )
    )
    found = {row["subset"]: row.asDict() for row in counted.collect()}
    counts: dict[str, tuple[int, int]] = {}
    for name in names:
        _, subset, metric = name.split("/")
        total = _TOTALS[metric]
        of_name = list(found.values()) if subset == "mean" else [found[subset]] if subset in found else []
        counts[name] = sum(row[f"right_{total}"] for row in of_name), sum(row[total] for row in of_name)
    return counts


def read_scores(folder: Path, benchmark: str) -> dict[str, Score]:
    """A benchmark's scores by name."""
    decoder = msgspec.json.Decoder(Score)
    return {name: decoder.decode((folder / f"{name.replace('/', '.')}.json").read_bytes()) for name in METRICS[benchmark]}
