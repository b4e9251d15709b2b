"""The score of a number: its counts with their interval, and the published ones beside it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from orchestration.scoring.counting import split_name
from orchestration.scoring.published import Kind, published
from orchestration.scoring.statistics import wilson
from substrate.base.files import write_json

DIGITS = 6
"""The digits of a proportion that is kept."""


class Count(msgspec.Struct, frozen=True):
    """The number of right answers; accuracy and its 95 % interval (Wilson) are proportions."""

    correct: int
    n: int
    accuracy: float | None
    wilson: tuple[float, float] | None


def count_of(correct: int, n: int) -> Count:
    """The proportion of some counts with its interval; of none or of edited counts neither."""
    if not n or not 0 <= correct <= n:
        return Count(correct, n, None, None)
    low, high = wilson(correct, n)
    return Count(correct, n, round(correct / n, DIGITS), (round(low, DIGITS), round(high, DIGITS)))


class Score(msgspec.Struct, frozen=True):
    """A number: ``correct`` of ``n``, as a proportion with its 95 % interval, as published ones are.

    ``subset`` is empty for a whole benchmark; ``data`` and ``split`` say what it may be compared with.
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

    >>> score("meadow/spring/per_question", 153, 300).wilson
    (0.453664, 0.566083)
    """
    count, known = count_of(correct, n), published().accuracies(name)
    printed = {who: round(figure.value / 100, DIGITS) for who, figure in known.items()}
    counts, questions = (n, correct, count.accuracy, count.wilson), n if questions is None else questions
    return Score(name, *split_name(name), *counts, printed, data, split, questions)


def score_file(number: str) -> str:
    """The name of the file that holds a number's score.

    >>> score_file("meadow/joint")
    'meadow.joint.json'
    """
    return f"{number.replace('/', '.')}.json"


class _Scored(msgspec.Struct):
    scores: list[Score]


def metrics_file(benchmark: str) -> str:
    """The path of the scores of all of a benchmark's numbers, under the artifacts of a profile."""
    return f"metrics/{benchmark}.json"


def write_metrics(path: Path, scores: Sequence[Score]) -> None:
    """Write a benchmark's scores: each number's accuracy, which DVC shows, and the records."""
    accuracies = {score.name: score.accuracy for score in scores if score.accuracy is not None}
    write_json(path, accuracies | {"scores": scores}, indent=1)


def read_metrics(path: Path) -> list[Score]:
    """The scores in a benchmark's file of them."""
    return msgspec.json.decode(path.read_bytes(), type=_Scored).scores


def read_scores(artifacts: Path, numbers: Iterable[str]) -> dict[str, Score]:
    """The scores of some numbers, by name, from the files of their benchmarks."""
    numbers = list(numbers)
    files = dict.fromkeys(metrics_file(number.partition("/")[0]) for number in numbers)
    scores = {score.name: score for file in files for score in read_metrics(artifacts / file)}
    return {name: scores[name] for name in numbers}
