"""Counting correct rows, and what a number is named."""

from __future__ import annotations

import importlib.resources
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import yaml
from pyspark.sql import SparkSession
from pyspark.sql import functions as sql

from orchestration.statistics import wilson

CLEVRER_METRICS = (
    "clevrer/descriptive/per_question",
    "clevrer/explanatory/per_question",
    "clevrer/explanatory/per_option",
    "clevrer/counterfactual/per_question",
    "clevrer/counterfactual/per_option",
    "clevrer/predictive/per_question",
    "clevrer/predictive/per_option",
)
"""The rows of the paper's Table 1, by the name that stands in scores, tables, traces and the UI."""

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


def clevrer_counts(session: SparkSession, answers: Path) -> Mapping[str, tuple[int, int]]:
    """Correct and total by number's name, counted by Spark over the rows of an answers file; rows without gold are left out."""
    rows = session.read.json(answers.as_uri(), schema="subset string, correct boolean, choices array<struct<predicted:string,expected:string>>")
    right = sql.filter("choices", lambda c: c["predicted"] == c["expected"])
    counted = (
        rows.where("correct is not null")
        .groupBy("subset")
        .agg(
            sql.count("*").alias("questions"),
            sql.sum(sql.col("correct").cast("long")).alias("right_questions"),
            sql.sum(sql.coalesce(sql.size("choices"), sql.lit(0)).cast("long")).alias("options"),
            sql.sum(sql.coalesce(sql.size(right), sql.lit(0)).cast("long")).alias("right_options"),
        )
    )
    found = {row.subset: row for row in counted.collect()}
    counts: dict[str, tuple[int, int]] = {}
    for name in CLEVRER_METRICS:
        _, subset, metric = name.split("/")
        row = found.get(subset)
        per_option = metric == "per_option"
        counts[name] = (0, 0) if row is None else (row.right_options, row.options) if per_option else (row.right_questions, row.questions)
    return counts


def read_scores(folder: Path, benchmark: str) -> dict[str, Score]:
    """A benchmark's scores by name."""
    decoder = msgspec.json.Decoder(Score)
    scores = [decoder.decode(path.read_bytes()) for path in sorted(folder.glob(f"{benchmark}.*.json"))]
    return {score.name: score for score in scores}
