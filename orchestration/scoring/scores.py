"""The score of a number: its counts and interval, and the data that it may be compared on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from orchestration.scoring.names import name_of
from orchestration.scoring.published import Kind, published
from orchestration.scoring.statistics import wilson
from substrate.base.files import write_json

# The digits of a stored proportion.
DIGITS = 6


class Count(msgspec.Struct, frozen=True):
    """The number of right answers; accuracy and its 95 % interval (Wilson) are proportions."""

    correct: int
    n: int
    accuracy: float | None
    wilson: tuple[float, float] | None


def count_of(correct: int, n: int) -> Count:
    """The proportion of some counts with its interval; no value if the counts are empty or impossible."""
    if not n or not 0 <= correct <= n:
        return Count(correct, n, None, None)
    low, high = wilson(correct, n)
    return Count(correct, n, round(correct / n, DIGITS), (round(low, DIGITS), round(high, DIGITS)))


class Score(msgspec.Struct, frozen=True):
    """A number: ``correct`` of ``n``, as a proportion with its 95 % interval.

    ``subset`` is empty for a whole benchmark; ``data`` and ``split`` decide which figures are comparable.
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
    # The number of questions: `n`, or the number of questions that have the `n` options.
    questions: int = 0


def score(
    name: str, correct: int, n: int, data: Kind = "none", split: str = "", questions: int | None = None
) -> Score:
    """Make the score of a number's counts; without questions there is no accuracy.

    >>> score("meadow/spring/per_question", 153, 300).wilson
    (0.453664, 0.566083)
    """
    count, of, questions = count_of(correct, n), name_of(name), n if questions is None else questions
    counts = n, correct, count.accuracy, count.wilson
    return Score(name, of.subset, of.metric, *counts, printed_shares(name), data, split, questions)


def printed_shares(name: str) -> dict[str, float]:
    """The published accuracies of a number as proportions, by system."""
    return {who: round(figure.value / 100, DIGITS) for who, figure in published().accuracies(name).items()}


def score_file(number: str) -> str:
    """The name of the file of a number's score.

    >>> score_file("meadow/joint")
    'meadow.joint.json'
    """
    return f"{number.replace('/', '.')}.json"


class _Scored(msgspec.Struct):
    scores: list[Score]


def metrics_file(benchmark: str) -> str:
    """The path of the scores of a benchmark's numbers, relative to the artifacts of a profile."""
    return f"metrics/{benchmark}.json"


def write_metrics(path: Path, scores: Sequence[Score]) -> None:
    """Write a benchmark's scores: the accuracies, which DVC shows, and the records."""
    accuracies = {score.name: score.accuracy for score in scores if score.accuracy is not None}
    write_json(path, accuracies | {"scores": scores}, indent=1)


def read_metrics(path: Path) -> list[Score]:
    """Read the scores from a benchmark's file."""
    return msgspec.json.decode(path.read_bytes(), type=_Scored).scores


def read_scores(artifacts: Path, numbers: Iterable[str]) -> dict[str, Score]:
    """Read the scores of some numbers, by name, from their benchmarks' files."""
    numbers = list(numbers)
    files = dict.fromkeys(metrics_file(name_of(number).benchmark) for number in numbers)
    scores = {score.name: score for file in files for score in read_metrics(artifacts / file)}
    return {name: scores[name] for name in numbers}
