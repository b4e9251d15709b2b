"""Anyone's answers to Twin-EventLog, read and graded: `substrate score twin`.

A line is a row as :mod:`substrate.rows` writes it (question 0 is arm A, question 1 arm B), or no more than
``{"spec": 17, "arm": "a", "answer": "yes"}``. The gold is taken from the specifications in either case. An
answer is "yes" or "no", or "error" where none was given: that counts as wrong.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Literal

import msgspec
from tabulate import tabulate

from orchestration.scoring.pairs import WEIGHTS, Judgement, judge
from orchestration.scoring.scores import Score, score
from substrate.domains.smallville.format import LINKAGES, QUERIES, Gold, Spec, read_gold, read_specs
from substrate.domains.smallville.twin import ARMS
from substrate.errors import FormatError
from substrate.reading import decode, lines

Said = Literal["yes", "no", "error"]


class Minimal(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The least that an answer needs to say."""

    spec: int
    arm: Literal["a", "b"]
    answer: Said


class _Row(msgspec.Struct, frozen=True):
    """What of a row is looked at."""

    benchmark: str
    scene: int
    question: Literal[0, 1]
    predicted: Said


class _Kind(msgspec.Struct, frozen=True):
    benchmark: str | None = None


def read_answers(
    path: Path, numbers: Iterable[int], benchmarks: Collection[str]
) -> dict[int, tuple[Said, Said]]:
    """The answers of a file by specification: arm A's, then arm B's.

    Args:
        path: JSON lines, in any order; gzipped or plain.
        numbers: the specifications that were to be answered.
        benchmarks: whose rows these may be.

    Raises:
        FormatError: a line is no answer, is of another benchmark or of a specification that is not there,
            or answers an arm again (each names the line); or an arm has no answer.
    """
    wanted, said, places = set(numbers), {}, {}
    for where, line in lines(path):
        found = _read(line, where, benchmarks)
        if found.spec not in wanted:
            raise FormatError(
                f"there is no specification {found.spec}",
                where=(where,),
                hint="Give the specifications that were asked with --specs",
            )
        arm = found.spec, found.arm
        if arm in said:
            raise FormatError(
                f"twin/{found.spec}/{found.arm} is answered again",
                where=(where,),
                hint=f"Keep this answer or that of {places[arm]}",
            )
        said[arm], places[arm] = found.answer, where
    if missing := [
        f"twin/{number}/{arm}" for number in sorted(wanted) for arm in ARMS if (number, arm) not in said
    ]:
        hint = (
            'Answer every arm, with "error" where there is no answer; or name a file of only those '
            "specifications that were asked with --specs"
        )
        raise FormatError(
            f"{len(missing)} of {2 * len(wanted)} answers are missing, the first of them {missing[0]}",
            where=(path,),
            hint=hint,
        )
    return {number: (said[number, "a"], said[number, "b"]) for number in sorted(wanted)}


def _read(line: bytes, where: str, benchmarks: Collection[str]) -> Minimal:
    kind = decode(msgspec.json.Decoder(_Kind), line, where)
    if kind.benchmark is None:
        return decode(msgspec.json.Decoder(Minimal), line, where)
    row = decode(msgspec.json.Decoder(_Row), line, where)
    if row.benchmark not in benchmarks:
        raise FormatError(
            f"a row of {row.benchmark}",
            where=(where, "$.benchmark"),
            hint=f"Give rows of {', '.join(benchmarks)}",
        )
    return Minimal(row.scene, ARMS[row.question], row.predicted)


def grade(
    specs: Iterable[Spec], gold: Mapping[int, Gold], answers: Mapping[int, tuple[Said, Said]]
) -> list[Score]:
    """Every number of some answers: of all specifications, of each linkage, of each query type.

    Their names are those of the pipeline: ``twin/joint``, ``twin/control/joint``, ``twin/did_meet/joint``.
    """
    groups: dict[str, list[Judgement]] = {name: [] for name in ("", *LINKAGES, *QUERIES)}
    for spec in specs:
        expected = gold[spec.spec]
        judged = judge(answers[spec.spec], (expected.a, expected.b))
        for group in ("", spec.linkage, spec.query.type):
            groups[group].append(judged)
    return [
        score(
            "/".join(filter(None, ("twin", group, metric))),
            sum(getattr(j, metric) for j in judged),
            len(judged) * getattr(WEIGHTS, metric),
        )
        for group, judged in groups.items()
        for metric in Judgement._fields
    ]


def score_twin(answers: Path, specs: Path, benchmarks: Collection[str]) -> list[Score]:
    """Grade a file of answers; errors as :func:`read_answers`, and where a specification has no gold."""
    asked, graded = read_specs(specs), read_gold(specs)
    gold = {number: found for number, found in graded.items() if found}
    if without := [number for number in graded if number not in gold]:
        raise FormatError(
            f"specification {without[0]} has no gold",
            where=(specs,),
            hint="Give the specifications with their gold to grade against",
        )
    return grade(asked, gold, read_answers(answers, gold, benchmarks))


def scoreboard(scores: Iterable[Score]) -> str:
    """Scores as a table for a terminal."""
    rows = [(s.name, s.n, s.correct, *_measured(s)) for s in scores]
    return tabulate(
        rows,
        ("number", "n", "correct", "accuracy", "95 % interval"),
        tablefmt="simple",
        colalign=("left", "right", "right", "right", "right"),
        disable_numparse=True,
    )


def _measured(found: Score) -> tuple[str, str]:
    if found.accuracy is None or found.wilson is None:
        return "", ""
    return f"{found.accuracy:.2%}", f"[{100 * found.wilson[0]:.2f}, {100 * found.wilson[1]:.2f}]"
