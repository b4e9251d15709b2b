"""Robustness: ask each benchmark again on inexact input.

The first cases of a profile's data are used. A condition (`conditions.py`) changes the observed input, by a
seed; the questions and their gold do not change. Two conditions of ComPhy ask about other worlds instead,
with the gold of their own simulation.

Read :class:`Subject` first: it says what a benchmark must give to be asked again. A row belongs to a cell of
the table: a setting under a condition. A setting is a kind of questions, or a variant of the interpreter.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from random import Random
from typing import Any, NamedTuple

import msgspec
from msgspec.structs import replace

from orchestration.benchmarks import babi, clevrer, gqa
from orchestration.benchmarks.benchmark import Case, Interpreted, Logs
from orchestration.code import Declared
from orchestration.studies.ablations import VARIANTS, expected_rows, variant_rows
from orchestration.studies.study import Part, Study
from research.benchmarks import GENERATED
from research.benchmarks.comphy_inferred import COMPHY_INFERRED
from research.generators import inexact_films, inexact_graphs, retold
from research.studies import conditions
from research.studies.conditions import AS_IT_IS, Change, Condition, Physics
from research.studies.shares import Cell, Shares, tabled
from research.studies.sizes import SIZES
from substrate.domains.clevrer.parameters import Parameters
from substrate.domains.clevrer.scene import Scene
from substrate.domains.comphy.format import TargetQuestions
from substrate.domains.gqa.answers import SUBSETS
from substrate.domains.rows import Row

KEY = "robustness"


class Again(NamedTuple):
    """A case that is asked again: before and after its change, and the settings to ask it in.

    Attributes:
        settings: empty for all settings of the benchmark.
    """

    before: Case
    after: Case
    settings: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Subject(Declared):
    """A benchmark that is asked again.

    Attributes:
        base: the benchmark.
        settings: its settings, in the order of the table.
        conditions: its conditions, in the order of the table; the first changes nothing.
        change_records: applies a change to each observed record of a case.
        answer: from a case asked again, the parameters and the split to rows; a row's subset is its setting.
        questions: from a case to the number of its questions in each setting.
    """

    base: Interpreted
    settings: tuple[str, ...]
    conditions: tuple[Condition, ...]
    change_records: Callable[[Case, Change, Random], Case]
    answer: Callable[[Again, Any, str], Iterable[Row]]
    questions: Callable[[Case], Mapping[str, int]]

    def subsets(self, conditions: Iterable[Condition]) -> tuple[str, ...]:
        """The subsets of its rows under some of its conditions, by setting, then condition."""
        cells = [(setting, condition) for setting in self.settings for condition in conditions]
        return tuple(
            Cell(setting, condition.label).subset
            for setting, condition in cells
            if setting in (condition.settings or self.settings)
        )


def rows(subject: Subject, seed: int, case: Case, logs: Logs, parameters: Any, split: str) -> Iterator[Row]:
    """The rows of a case under every condition, in the order of its questions.

    The case's exact logs are not read: each condition has logs of its own.
    """
    all_rows: list[Row] = []
    for condition in subject.conditions:
        if condition.physics and split != "generated":
            continue
        again = Again(case, _changed(subject, condition, seed, case), condition.settings)
        all_rows += (
            replace(row, benchmark=KEY, subset=Cell(row.subset, condition.label).subset)
            for row in subject.answer(again, parameters, split)
        )
    # A stable sort: the rows of one question keep the order of the conditions.
    yield from sorted(all_rows, key=lambda row: str(row.question).zfill(12))


def _changed(subject: Subject, condition: Condition, seed: int, case: Case) -> Case:
    if condition.physics:
        return conditions.other_world(case, seed + 1, condition.physics)
    if condition.change is None:
        return case
    # The condition's own random numbers for this case: other conditions do not affect them.
    rng = Random(f"{KEY}/{seed}/{condition.label}/{case.scene}")
    return subject.change_records(case, condition.change, rng)


def _expected(subject: Subject, case: Case) -> dict[str, int]:
    """The number of rows that a case has in each setting under each condition."""
    counts = subject.questions(case) if case.questions else {}
    return {subset: counts.get(Cell.of(subset).setting, 0) for subset in subject.subsets(subject.conditions)}


_SETTINGS = (
    "explanatory.event",
    "predictive.C",
    "predictive.S",
    "counterfactual.partner",
    "counterfactual.simulated",
)
_CAUSAL = ("explanatory.event", "counterfactual.partner", "counterfactual.simulated")
"""CLEVRER's settings that read collisions."""
_MOVED = ("predictive.C", "predictive.S", "counterfactual.simulated")
"""CLEVRER's settings that read places."""
_VARIANTS = tuple(variant for name in _SETTINGS for variant in VARIANTS if variant.name == name)
EVERYTHING = "all tasks"
"""The setting of bAbI's questions, whatever their task."""


def _answered(base: Interpreted, again: Again, parameters: Any, split: str) -> Iterable[Row]:
    """A case's rows as the benchmark gives them, in all settings."""
    return base.rows(again.after, base.logs(again.after, parameters), parameters, split)


def _varied(again: Again, parameters: Parameters, split: str) -> Iterator[Row]:
    """CLEVRER's rows under some variants; event lists have no motion, and so no rows."""
    case = again.after
    if not case.kind:
        log = clevrer.scene_logs(None, case)[0].log
        common = {"benchmark": KEY, "split": split, "scene": case.scene, "log": log.digest}
        asked = again.settings or _SETTINGS
        variants = {variant.name: variant for variant in _VARIANTS if variant.name in asked}
        yield from variant_rows(variants, case, Scene(log), parameters, common)


def _of_stories(again: Again, parameters: None, split: str) -> Iterator[Row]:
    """bAbI's rows, all tasks together; a question keeps its number in the original story."""
    numbers: dict[str, list[str]] = {}
    for wording in babi.wordings(again.before):
        numbers.setdefault(wording.subset, []).append(wording.question)
    for row in _answered(babi.BABI, again, parameters, split):
        yield replace(
            row,
            split=split,
            subset=EVERYTHING,
            question=f"{row.subset}/{numbers[row.subset].pop(0)}",
            supporting=msgspec.UNSET,
            expected_supporting=msgspec.UNSET,
        )


def _asked_of_target(case: Case) -> Mapping[str, int]:
    questions = msgspec.json.decode(case.questions, type=TargetQuestions).questions
    return Counter(question.subset for question in questions)


def _part(subject: Subject) -> Part:
    base = subject.base
    changes = (condition.change for condition in subject.conditions if condition.change)
    return Part(
        name=base.name,
        base=base,
        about=f"{base.title}: a row for each question of the first cases, under each condition in which the "
        "input is not exact.",
        rows=partial(rows, subject),
        expected=partial(_expected, subject),
        uncounted=subject.subsets(condition for condition in subject.conditions if condition.physics),
        calls=(base.logger.logs, base.rows, subject.change_records, subject.answer, *changes),
        seeded=True,
        size_key=base.name,
        subsets=subject.subsets(subject.conditions),
    )


TABLE = Shares(
    "How fast results fall",
    "Robustness: the first cases of each benchmark asked again on input that is made inexact, by seed "
    "{seed} (profile {profile}); accuracy per question, intervals Wilson, 95 %. The gold is that of the "
    "input as it is; that of another world is its own simulation's.",
    ("benchmark", "asked", "input", "right", "n", "accuracy", "95 % interval"),
    drawn=True,
    about="What a user perceives will not be exact. Here the first questions of each benchmark are asked "
    "again with a part of what is observed missed, moved or told otherwise.",
)
_SUBJECTS = (
    Subject(
        base=clevrer.CLEVRER,
        settings=_SETTINGS,
        conditions=(
            AS_IT_IS,
            *conditions.missed(
                "collisions", inexact_films.without_collisions, _CAUSAL, shares=(0.02, *conditions.SHARES)
            ),
            *conditions.mistimed((1, 3, 5), _CAUSAL),
            *conditions.misplaced((0.001, 0.01, 0.03), _MOVED),
        ),
        change_records=conditions.film,
        answer=_varied,
        questions=lambda case: {} if case.kind else expected_rows(_VARIANTS, case),
    ),
    Subject(
        base=COMPHY_INFERRED,
        settings=("factual", "predictive", "counterfactual"),
        conditions=(
            AS_IT_IS,
            *conditions.misplaced((0.001, 0.01)),
            Condition("a new seed", physics=Physics()),
            Condition("a new seed, friction × 1.25, restitution × 1.2", physics=Physics(1.25, 1.2)),
        ),
        change_records=conditions.videos,
        answer=partial(_answered, COMPHY_INFERRED),
        questions=_asked_of_target,
    ),
    Subject(
        base=gqa.GQA,
        settings=tuple(SUBSETS.values()),
        conditions=(
            AS_IT_IS,
            *conditions.missed("relations", inexact_graphs.without_relations),
            *conditions.missed("attributes", inexact_graphs.without_attributes),
        ),
        change_records=conditions.image,
        answer=partial(_answered, gqa.GQA),
        questions=lambda case: dict.fromkeys(SUBSETS.values(), len(list(gqa.wordings(case)))),
    ),
    Subject(
        base=babi.BABI,
        settings=(EVERYTHING,),
        conditions=(
            AS_IT_IS,
            Condition("in other words", retold.paraphrased),
            Condition("with asides", retold.distracted),
            *conditions.missed("sentences", retold.shortened),
        ),
        change_records=conditions.stories,
        answer=_of_stories,
        questions=lambda case: {EVERYTHING: len(list(babi.wordings(case)))},
    ),
)
"""The benchmarks, in the order of the report."""
ROBUSTNESS = Study(
    name=KEY,
    profiles=GENERATED,
    parts=tuple(map(_part, _SUBJECTS)),
    parameters=SIZES,
    **tabled(KEY, TABLE),
)
