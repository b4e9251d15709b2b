"""Anyone's answers to Twin-EventLog, read and graded: `substrate score twin`.

A line is a row as :mod:`substrate.domains.rows` writes it (question 0 is arm A, 1 arm B, 2 arm C), or no
more than
``{"spec": 17, "arm": "a", "answer": "yes"}``. The gold is taken from the specifications in either case. An
answer is yes or no, however it is written ("No."), or "error" where none was given: that counts as wrong.
Other keys of a line are passed over.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

import msgspec

from substrate import __version__
from substrate.base.counts import wilson
from substrate.base.errors import FormatError
from substrate.base.inputs import decode, lines
from substrate.domains.smallville.format import (
    ARMS,
    LINKAGES,
    QUERIES,
    Arm,
    Gold,
    Spec,
    read_gold,
    read_specs,
)
from substrate.domains.smallville.judging import Judgement, Said, judge, normal, weights

_DIGITS = 6


class Score(msgspec.Struct, frozen=True):
    """A number of some answers: ``correct`` of ``n``, as a proportion with its 95 % interval.

    ``subset`` is empty for a number that takes in all specifications.
    """

    name: str
    subset: str
    metric: str
    n: int
    correct: int
    accuracy: float | None
    wilson: tuple[float, float] | None


class Minimal(msgspec.Struct, frozen=True):
    """The least that an answer needs to say; other keys are passed over."""

    spec: int
    arm: Arm
    answer: str


class _Row(msgspec.Struct, frozen=True):
    """The part of a row that is looked at."""

    benchmark: str
    scene: int
    question: Literal[0, 1, 2]
    predicted: str


class _Kind(msgspec.Struct, frozen=True):
    benchmark: str | None = None


def read_answers(path: Path, asked: Mapping[int, Sequence[Arm]]) -> dict[int, tuple[Said, ...]]:
    """The answers of a file by specification, in the order of its arms.

    Args:
        path: JSON lines, in any order; gzipped or plain.
        asked: the specifications that were to be answered, with their arms.

    Raises:
        FormatError: a line is no answer, is of another benchmark or of a specification or an arm that is not
            there, or answers an arm again (each names the line); or an arm has no answer.
    """
    said: dict[tuple[int, Arm], Said] = {}
    places: dict[tuple[int, Arm], str] = {}
    for where, line in lines(path):
        found = _read(line, where)
        if found.spec not in asked:
            raise FormatError(
                f"there is no specification {found.spec}",
                where=(where,),
                hint="Give the specifications that were asked with --specs",
            )
        if found.arm not in asked[found.spec]:
            raise FormatError(
                f"specification {found.spec} has no arm {found.arm}",
                where=(where,),
                hint=f"Answer its arms {', '.join(asked[found.spec])}",
            )
        arm = found.spec, found.arm
        if arm in said:
            raise FormatError(
                f"twin/{found.spec}/{found.arm} is answered again",
                where=(where,),
                hint=f"Keep this answer or that of {places[arm]}",
            )
        said[arm], places[arm] = _said(found.answer, where), where
    wanted = [(number, arm) for number in sorted(asked) for arm in asked[number]]
    if missing := [f"twin/{number}/{arm}" for number, arm in wanted if (number, arm) not in said]:
        hint = (
            'Answer every arm, with "error" where there is no answer; or name a file of only those '
            "specifications that were asked with --specs"
        )
        raise FormatError(
            f"{len(missing)} of {len(wanted)} answers are missing, the first of them {missing[0]}",
            where=(path,),
            hint=hint,
        )
    return {number: tuple(said[number, arm] for arm in asked[number]) for number in sorted(asked)}


def _said(text: str, where: str) -> Said:
    answer = normal(text)
    if answer is None:
        raise FormatError(
            f"{text[:80]!r} is no answer",
            where=(where,),
            hint='Write "yes" or "no", or "error" where none was given',
        )
    return answer


def _read(line: bytes, where: str) -> Minimal:
    kind = decode(msgspec.json.Decoder(_Kind), line, where)
    if kind.benchmark is None:
        return decode(msgspec.json.Decoder(Minimal), line, where)
    row = decode(msgspec.json.Decoder(_Row), line, where)
    if row.benchmark.partition("_")[0] != "twin":
        raise FormatError(
            f"a row of {row.benchmark}",
            where=(where, "$.benchmark"),
            hint="Give rows of twin, or of a model's answers to it, such as twin_direct",
        )
    return Minimal(row.scene, ARMS[row.question], row.predicted)


def grade(
    specs: Iterable[Spec], gold: Mapping[int, Gold], answers: Mapping[int, Sequence[Said]]
) -> list[Score]:
    """Every number of some answers: of all specifications, of each linkage, of each query type.

    Their names are those of the pipeline: ``twin/joint``, ``twin/control/joint``, ``twin/did_meet/joint``.
    """
    groups: dict[str, list[_Judged]] = {name: [] for name in ("", *LINKAGES, *QUERIES)}
    for spec in specs:
        judged = _Judged(judge(answers[spec.spec], gold[spec.spec].answers), weights(len(spec.arms)))
        for group in ("", spec.linkage, spec.query.type):
            groups.setdefault(group, []).append(judged)
    return [
        _score(
            group,
            metric,
            sum(getattr(one.right, metric) for one in judged),
            sum(getattr(one.most, metric) for one in judged),
        )
        for group, judged in groups.items()
        for metric in Judgement._fields
    ]


def _score(group: str, metric: str, correct: int, n: int) -> Score:
    low, high = wilson(correct, n) if n else (0.0, 0.0)
    return Score(
        "/".join(filter(None, ("twin", group, metric))),
        group,
        metric,
        n,
        correct,
        round(correct / n, _DIGITS) if n else None,
        (round(low, _DIGITS), round(high, _DIGITS)) if n else None,
    )


class _Judged(NamedTuple):
    """The right answers of a specification, and what they count."""

    right: Judgement
    most: Judgement


def score_twin(answers: Path, specs: Path) -> list[Score]:
    """Grade a file of answers; errors as :func:`read_answers`, and where a specification has no gold."""
    asked, graded = read_specs(specs), read_gold(specs)
    gold = {number: found for number, found in graded.items() if found}
    if without := [number for number in graded if number not in gold]:
        raise FormatError(
            f"specification {without[0]} has no gold",
            where=(specs,),
            hint="Give the specifications with their gold to grade against",
        )
    arms = {spec.spec: spec.arms for spec in asked}
    return grade(asked, gold, read_answers(answers, arms))


class LeaderboardRow(msgspec.Struct, frozen=True):
    """A line of a leaderboard: who answered what, and the three numbers with their 95 % intervals.

    ``specs`` is the SHA-256 of the specifications' file, so that only like stands beside like.
    """

    system: str
    benchmark: str
    specs: str
    n: int
    per_arm: float | None
    per_arm_interval: tuple[float, float] | None
    joint: float | None
    joint_interval: tuple[float, float] | None
    divergence: float | None
    divergence_interval: tuple[float, float] | None
    substrate: str = __version__


def leaderboard_row(system: str, specs: Path, scores: Iterable[Score]) -> LeaderboardRow:
    """Scores of :func:`score_twin` as one line of a leaderboard."""
    found = {s.metric: s for s in scores if not s.subset}
    numbers: dict[str, Any] = {}
    for metric in Judgement._fields:
        numbers[metric] = found[metric].accuracy
        numbers[f"{metric}_interval"] = found[metric].wilson
    digest = f"sha256:{hashlib.sha256(specs.read_bytes()).hexdigest()}"
    return LeaderboardRow(system, "twin-eventlog", digest, found["joint"].n, **numbers)


def scoreboard(scores: Iterable[Score]) -> str:
    """Scores as a table for a terminal.

    >>> print(scoreboard([Score("twin/joint", "", "joint", 9, 8, 0.888889, (0.565, 0.98))]))
    number        n    correct    accuracy    95 % interval
    ----------  ---  ---------  ----------  ---------------
    twin/joint    9          8      88.89%   [56.50, 98.00]
    """
    head = ("number", "n", "correct", "accuracy", "95 % interval")
    rows = [(s.name, str(s.n), str(s.correct), *_measured(s)) for s in scores]
    widths = [max(len(head[place]) + 2, *(len(row[place]) for row in rows)) for place in range(len(head))]
    rule = tuple("-" * width for width in widths)
    lines: list[str] = []
    for first, *others in (head, rule, *rows):
        cells = [first.ljust(widths[0])]
        cells += [cell.rjust(width) for cell, width in zip(others, widths[1:], strict=True)]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def _measured(found: Score) -> tuple[str, str]:
    if found.accuracy is None or found.wilson is None:
        return "", ""
    return f"{found.correct / found.n:.2%}", f"[{100 * found.wilson[0]:.2f}, {100 * found.wilson[1]:.2f}]"
