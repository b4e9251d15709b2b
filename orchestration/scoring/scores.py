"""Counting correct rows, and what a number is named."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sql

from orchestration.scoring.published import Kind, published
from orchestration.scoring.statistics import mcnemar_exact, newcombe_paired, wilson
from substrate.domains.smallville.judging import WEIGHTS, Judgement, judge

_DIGITS = 6


class Score(msgspec.Struct, frozen=True):
    """A number: ``correct`` of ``n``, as a proportion with its 95 % interval; published ones are
    proportions too.

    ``subset`` is empty for a number that takes in the whole benchmark. ``data`` and ``split`` say what it was
    measured on, and so what it may be compared with.
    """

    name: str
    subset: str
    metric: str
    n: int
    correct: int
    accuracy: float | None
    wilson: tuple[float, float] | None
    published: dict[str, float]
    data: Kind = "none"
    split: str = ""
    questions: int = 0
    """The number of questions asked: ``n`` of them, or as many as have the ``n`` options."""


def score(
    name: str, correct: int, n: int, data: Kind = "none", split: str = "", questions: int | None = None
) -> Score:
    """The score of a number's counts; without a question there is no accuracy.

    >>> score("clevrer/descriptive/per_question", 153, 300).wilson
    (0.453664, 0.566083)
    """
    subset, metric = split_name(name)
    accuracy = round(correct / n, _DIGITS) if n else None
    interval = tuple(round(bound, _DIGITS) for bound in wilson(correct, n)) if n else None
    known = published().accuracies(name)
    return Score(
        name,
        subset,
        metric,
        n,
        correct,
        accuracy,
        interval,  # pyright: ignore[reportArgumentType]
        {who: round(figure.value / 100, _DIGITS) for who, figure in known.items()},
        data,
        split,
        n if questions is None else questions,
    )


def split_name(name: str) -> tuple[str, str]:
    """Subset and metric of a number's name.

    >>> split_name("babi/qa7/accuracy"), split_name("twin/joint")
    (('qa7', 'accuracy'), ('', 'joint'))
    """
    _, *subset, metric = name.split("/")
    return "/".join(subset), metric


_PAIR = "scene string, question string, predicted string, expected string, correct boolean"
_SCHEMA = (
    "subset string, correct boolean, choices array<struct<predicted:string,expected:string>>, supporting "
    "array<int>, expected_supporting array<int>"
)
_TOTALS = {
    "accuracy": "questions",
    "per_question": "questions",
    "per_option": "options",
    "supporting": "with_facts",
}


def count(
    session: SparkSession, answers: Path | str, names: Iterable[str], *, paired: bool = False
) -> dict[str, tuple[int, int]]:
    """Correct and total by number's name, counted by Spark over the rows of an answers file.

    Args:
        answers: the file, or a URI of it that Spark's workers reach.
        names: the numbers; ``mean`` pools the subsets, which have equally many questions.
        paired: whether rows come in pairs of one scene, which are judged together.

    Rows without gold are left out.
    """
    names = list(names)
    if paired:
        return _count_pairs(session.read.json(_uri(answers), schema=_PAIR), names)
    rows = session.read.json(_uri(answers), schema=_SCHEMA)
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
            sql.sum((sql.coalesce(sql.size("expected_supporting"), sql.lit(0)) > 0).cast("long")).alias(
                "with_facts"
            ),
            sql.sum(sql.coalesce(same_facts, sql.lit(False)).cast("long")).alias("right_with_facts"),
        )
    )
    found = {row["subset"]: row.asDict() for row in counted.collect()}
    counts: dict[str, tuple[int, int]] = {}
    for name in names:
        subset, metric = split_name(name)
        total = _TOTALS[metric]
        of_name = list(found.values()) if subset == "mean" else [found[subset]] if subset in found else []
        counts[name] = sum(row[f"right_{total}"] for row in of_name), sum(row[total] for row in of_name)
    return counts


def _uri(file: Path | str) -> str:
    return file if isinstance(file, str) else file.as_uri()


def _count_pairs(rows: DataFrame, names: Iterable[str]) -> dict[str, tuple[int, int]]:
    """The same over rows that come in pairs of one scene: every pair is judged by itself, and the judgements
    are added.
    """
    totals = (sql.sum(sql.col(f"right.{metric}").cast("long")).alias(metric) for metric in Judgement._fields)
    found = _judged_pairs(rows).agg(sql.count("*").alias("pairs"), *totals).collect()[0].asDict()
    metrics = {name: split_name(name)[1] for name in names}
    return {
        name: (found[metric] or 0, found["pairs"] * getattr(WEIGHTS, metric))
        for name, metric in metrics.items()
    }


def _judged_pairs(rows: DataFrame) -> DataFrame:
    """A row a pair: its scene, and what of it is right."""
    in_order = sql.sort_array(sql.collect_list(sql.struct("question", "predicted", "expected")))
    pairs = rows.where("correct is not null").groupBy("scene").agg(in_order.alias("arms"))
    # Through Python, so that a pair is judged by the same code here and in `substrate score`.
    judged = sql.udf(
        lambda *pair: tuple(judge(*pair)), ", ".join(f"{metric} int" for metric in Judgement._fields)
    )
    return pairs.select("scene", judged(sql.col("arms.predicted"), sql.col("arms.expected")).alias("right"))


class Comparison(msgspec.Struct, frozen=True):
    """Two ways of answering on what both were asked: how many both, one or none got right, and whether that
    is chance.

    ``difference`` is the first's accuracy minus the second's with Newcombe's interval, ``mcnemar`` the exact
    p; ``None`` where nothing was measured.
    """

    first: str
    second: str
    both: int
    first_only: int
    second_only: int
    neither: int
    difference: float | None
    newcombe: tuple[float, float] | None
    mcnemar: float | None

    @property
    def n(self) -> int:
        """The number of questions asked of both."""
        return self.both + self.first_only + self.second_only + self.neither


def compare(
    session: SparkSession, first: Path, second: Path, *, paired: bool, read_from: Sequence[str] = ()
) -> Comparison:
    """Compare two answers files, question by question; pair by pair, where the second's rows come in pairs:
    there both arms must be right.

    Args:
        read_from: URIs of both that Spark's workers reach; the files' own unless given.
    """
    names = first.parent.name, second.parent.name
    uris = read_from or (_uri(first), _uri(second))

    def right(answers: str, column: str) -> DataFrame:
        rows = session.read.json(answers, schema=_PAIR)
        if paired:
            return _judged_pairs(rows).select(
                "scene", sql.lit("").alias("question"), (sql.col("right.joint") == 1).alias(column)
            )
        return rows.where("correct is not null").select("scene", "question", sql.col("correct").alias(column))

    cells = (
        right(uris[0], "one")
        .join(right(uris[1], "other"), ["scene", "question"])
        .groupBy("one", "other")
        .count()
        .collect()
    )
    counts = {(row["one"], row["other"]): row["count"] for row in cells}
    table = (
        counts.get((True, True), 0),
        counts.get((True, False), 0),
        counts.get((False, True), 0),
        counts.get((False, False), 0),
    )
    if not any(table):
        return Comparison(*names, *table, None, None, None)
    low, high = newcombe_paired(*table)
    difference = (table[1] - table[2]) / sum(table)
    return Comparison(
        *names,
        *table,
        round(difference, _DIGITS),
        (round(low, _DIGITS), round(high, _DIGITS)),
        float(f"{mcnemar_exact(table[1], table[2]):.6g}"),
    )


def score_file(number: str) -> str:
    """The name of the file that holds a number's score.

    >>> score_file("twin/joint")
    'twin.joint.json'
    """
    return f"{number.replace('/', '.')}.json"


def read_scores(folder: Path, numbers: Iterable[str]) -> dict[str, Score]:
    """The scores of some numbers, by name."""
    decoder = msgspec.json.Decoder(Score)
    return {name: decoder.decode((folder / score_file(name)).read_bytes()) for name in numbers}
