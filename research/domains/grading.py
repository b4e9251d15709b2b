"""Anyone's answers to Twin-EventLog, read and graded: `substrate score twin`.

A line is a row as :mod:`substrate.domains.rows` writes it (question 0 is arm A, 1 arm B), or the minimal
``{"spec": 17, "arm": "a", "answer": "yes"}``. In both cases the gold comes from the specifications. An answer
is yes or no, however it is written ("No."). If none was given, it is "error", which counts as wrong. Other
keys of a line are ignored.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Literal

import msgspec

from substrate.base.errors import FormatError
from substrate.base.inputs import decode, lines
from substrate.base.intervals import wilson
from substrate.domains.smallville import format
from substrate.domains.smallville.joint import MOST, ArmAnswer, Judgement, judge, read_reply

_DIGITS = 6


class TwinScore(msgspec.Struct, frozen=True):
    """A measured number: ``correct`` of ``n`` answers, as a proportion with its 95 % interval.

    ``subset`` is empty for a number over all specifications.
    """

    name: str
    subset: str
    metric: str
    n: int
    correct: int
    accuracy: float | None
    wilson: tuple[float, float] | None


class _Minimal(msgspec.Struct, frozen=True):
    """The minimal form of an answer."""

    spec: int
    arm: format.Arm
    answer: str


class _Row(msgspec.Struct, frozen=True):
    """The part of a row that grading reads."""

    benchmark: str
    scene: int
    question: Literal[0, 1]
    predicted: str


class _Kind(msgspec.Struct, frozen=True):
    benchmark: str | None = None


def read_answers(path: Path, specs: Collection[int]) -> dict[int, tuple[ArmAnswer, ...]]:
    """The answers of a file by specification, in the order of its arms.

    Args:
        path: JSON lines, in any order; gzipped or plain.
        specs: the numbers of the specifications to answer.

    Raises:
        FormatError: a line is no answer, belongs to another benchmark, an unknown specification or an unknown
            arm, or answers an arm again (each names the line); or an arm has no answer.
    """
    answers: dict[tuple[int, format.Arm], ArmAnswer] = {}
    places: dict[tuple[int, format.Arm], str] = {}
    for where, line in lines(path):
        spec, arm, answer = _read(line, where)
        if spec not in specs:
            hint = "Give the specifications that were asked with --specs"
            raise FormatError(f"there is no specification {spec}", where=(where,), hint=hint)
        if (spec, arm) in answers:
            hint = f"Keep this answer or that of {places[spec, arm]}"
            raise FormatError(f"twin/{spec}/{arm} is answered again", where=(where,), hint=hint)
        word = read_reply(answer)
        if word is None:
            hint = 'Write "yes" or "no", or "error" where none was given'
            raise FormatError(f"{answer[:80]!r} is no answer", where=(where,), hint=hint)
        answers[spec, arm], places[spec, arm] = word, where
    wanted = [(number, arm) for number in sorted(specs) for arm in format.ARMS]
    if missing := [f"twin/{number}/{arm}" for number, arm in wanted if (number, arm) not in answers]:
        what = f"{len(missing)} of {len(wanted)} answers are missing, the first of them {missing[0]}"
        hint = (
            'Answer every arm, with "error" where there is no answer; or name a file of only those '
            "specifications that were asked with --specs"
        )
        raise FormatError(what, where=(path,), hint=hint)
    return {number: tuple(answers[number, arm] for arm in format.ARMS) for number in sorted(specs)}


def _read(line: bytes, where: str) -> tuple[int, format.Arm, str]:
    kind = decode(msgspec.json.Decoder(_Kind), line, where)
    if kind.benchmark is None:
        least = decode(msgspec.json.Decoder(_Minimal), line, where)
        return least.spec, least.arm, least.answer
    row = decode(msgspec.json.Decoder(_Row), line, where)
    if row.benchmark.partition("_")[0] != "twin":
        hint = "Give rows of twin, or of a model's answers to it, such as twin_direct"
        raise FormatError(f"a row of {row.benchmark}", where=(where, "$.benchmark"), hint=hint)
    return row.scene, format.ARMS[row.question], row.predicted


def grade(
    specs: Iterable[format.Spec], gold: Mapping[int, format.Gold], answers: Mapping[int, Sequence[ArmAnswer]]
) -> list[TwinScore]:
    """The numbers of some answers, over all specifications, over each linkage and over each query type.

    Names are the pipeline's: ``twin/joint``, ``twin/control/joint``, ``twin/did_meet/joint``.
    """
    groups: dict[str, list[Judgement]] = {name: [] for name in ("", *format.LINKAGES, *format.QUERIES)}
    for spec in specs:
        judgement = judge(answers[spec.spec], gold[spec.spec].answers)
        for group in ("", spec.linkage, spec.query.type):
            groups.setdefault(group, []).append(judgement)
    scores: list[TwinScore] = []
    for group, judgements in groups.items():
        for metric in Judgement._fields:
            correct = sum(getattr(judgement, metric) for judgement in judgements)
            scores.append(_score(group, metric, correct, len(judgements) * getattr(MOST, metric)))
    return scores


def _score(group: str, metric: str, correct: int, n: int) -> TwinScore:
    name = "/".join(filter(None, ("twin", group, metric)))
    if not n:
        return TwinScore(name, group, metric, n, correct, None, None)
    low, high = (round(bound, _DIGITS) for bound in wilson(correct, n))
    return TwinScore(name, group, metric, n, correct, round(correct / n, _DIGITS), (low, high))


def score_twin(answers: Path, specs: Path) -> list[TwinScore]:
    """Grade a file of answers.

    Raises:
        FormatError: as :func:`read_answers`, or a specification has no gold.
    """
    to_answer, graded = format.read_specs(specs), format.read_gold(specs)
    gold = {number: gold_of_spec for number, gold_of_spec in graded.items() if gold_of_spec}
    if without := [number for number in graded if number not in gold]:
        hint = "Give the specifications with their gold to grade against"
        raise FormatError(f"specification {without[0]} has no gold", where=(specs,), hint=hint)
    return grade(to_answer, gold, read_answers(answers, {spec.spec for spec in to_answer}))


def scoreboard(scores: Iterable[TwinScore]) -> str:
    """Scores as a table for a terminal.

    >>> print(scoreboard([TwinScore("twin/joint", "", "joint", 9, 8, 0.888889, (0.565, 0.98))]))
    number        n    correct    accuracy    95 % interval
    ----------  ---  ---------  ----------  ---------------
    twin/joint    9          8      88.89%   [56.50, 98.00]
    """
    head = ("number", "n", "correct", "accuracy", "95 % interval")
    rows = [(s.name, str(s.n), str(s.correct), *_measured(s)) for s in scores]
    widths = [max(len(title) + 2, *(len(row[place]) for row in rows)) for place, title in enumerate(head)]
    table = (head, tuple("-" * width for width in widths), *rows)
    aligned = [(cells[0].ljust(widths[0]), *map(str.rjust, cells[1:], widths[1:])) for cells in table]
    return "\n".join("  ".join(cells).rstrip() for cells in aligned)


def _measured(score: TwinScore) -> tuple[str, str]:
    if score.accuracy is None or score.wilson is None:
        return "", ""
    low, high = score.wilson
    return f"{score.correct / score.n:.2%}", f"[{100 * low:.2f}, {100 * high:.2f}]"
