"""Robustness: ask each benchmark again on inexact input; the conditions that make the input inexact.

The first cases of a profile's data are used. A condition changes the observed input, by a seed; the questions
and their gold do not change. Two conditions of ComPhy ask about other worlds instead, with the gold of their
own simulation.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from functools import partial
from random import Random
from typing import Any

import msgspec
from msgspec.structs import replace

from orchestration.benchmarks import babi, clevrer, gqa
from orchestration.benchmarks.benchmark import Case, Interpreted, Logs
from orchestration.code import Declared
from orchestration.studies.ablations import VARIANTS, expected_rows, variant_rows
from orchestration.studies.study import Part, Study
from research.benchmarks import GENERATED
from research.benchmarks.comphy_inferred import COMPHY_INFERRED
from research.generators import inexact_films as clevrer_inexact
from research.generators import inexact_graphs as gqa_inexact
from research.generators import retold
from research.generators.altered import altered
from research.studies.shares import Shares, named, tabled
from research.studies.sizes import SIZES
from substrate.base.words import counted
from substrate.domains.babi.format import Story
from substrate.domains.clevrer.format import Annotation, decode_annotation
from substrate.domains.clevrer.parameters import Parameters
from substrate.domains.clevrer.scene import Scene
from substrate.domains.comphy.format import TargetQuestions
from substrate.domains.gqa.answers import SUBSETS
from substrate.domains.gqa.format import decode_scene_graph
from substrate.domains.rows import Row
from substrate.generators.comphy import generate_target

KEY = "robustness"
AS_IT_IS = "as it is"
"""The condition that changes nothing, for comparison with the others."""
Change = Callable[..., Any]
"""Makes observed input inexact, with random numbers from ``rng``."""
_SHARES = (0.05, 0.1, 0.2)


@dataclass(frozen=True)
class Condition(Declared):
    """A change of a case before it is asked again.

    Attributes:
        label: its name in rows and tables.
        change: from a case to the changed case; takes ``rng``, a separate random generator, and ``seed``.
        settings: the settings that are asked under it; empty for all.
        elsewhere: true if it asks about another world, which needs generated data; that world's number of
            questions may differ.
    """

    label: str
    change: Callable[..., Case]
    settings: tuple[str, ...] = ()
    elsewhere: bool = False


def rows(
    answer: Callable[..., Iterable[Row]],
    conditions: Sequence[Condition],
    seed: int,
    case: Case,
    logs: Logs,
    parameters: Any,
    split: str,
) -> Iterator[Row]:
    """The rows of a case under every condition, in the order of its questions; its exact logs are not read.

    Args:
        answer: gives the rows of a changed case from the case before and after the change, the settings,
            parameters and split; a row's subset is a setting.
        seed: the seed of the changes.
    """
    all_rows: list[Row] = []
    for condition in conditions:
        if condition.elsewhere and split != "generated":
            continue
        # The condition's own random numbers for this case: other conditions do not affect them.
        rng = Random(f"{KEY}/{seed}/{condition.label}/{case.scene}")
        changed = condition.change(case, rng=rng, seed=seed)
        all_rows += (
            replace(row, benchmark=KEY, subset=named(row.subset, condition.label))
            for row in answer(case, changed, condition.settings, parameters, split)
        )
    # A stable sort: the rows of one question keep the order of the conditions.
    yield from sorted(all_rows, key=lambda row: str(row.question).zfill(12))


def _expected(
    questions: Callable[[Case], Mapping[str, int]], pairs: Iterable[tuple[str, str]], case: Case
) -> dict[str, int]:
    """The number of rows that a case has in each setting under each condition."""
    counts = questions(case) if case.questions else {}
    return {named(setting, condition): counts.get(setting, 0) for setting, condition in pairs}


_SETTINGS = (
    "explanatory.event",
    "predictive.C",
    "predictive.S",
    "counterfactual.partner",
    "counterfactual.simulated",
)
_CAUSAL = ("explanatory.event", "counterfactual.partner", "counterfactual.simulated")
_MOVED = ("predictive.C", "predictive.S", "counterfactual.simulated")
_VARIANTS = tuple(variant for name in _SETTINGS for variant in VARIANTS if variant.name == name)
EVERYTHING = "all tasks"
"""The setting of bAbI's questions, whatever their task."""


def _answered(
    base: Interpreted, _: Case, changed: Case, settings: Collection[str], parameters: Any, split: str
) -> Iterable[Row]:
    """A case's rows as the benchmark gives them, in all settings."""
    logs = base.logs(changed, parameters)
    return base.rows(changed, logs, parameters, split)


def _varied(
    _: Case, changed: Case, settings: Collection[str], parameters: Parameters, split: str
) -> Iterator[Row]:
    """CLEVRER's rows under some variants; event lists have no motion, and so no rows."""
    if not changed.kind:
        log = clevrer.scene_logs(None, changed)[0].log
        common = {"benchmark": KEY, "split": split, "scene": changed.scene, "log": log.digest}
        variants = {
            variant.name: variant for variant in _VARIANTS if not settings or variant.name in settings
        }
        yield from variant_rows(variants, changed, Scene(log), parameters, common)


def _of_stories(
    case: Case, changed: Case, settings: Collection[str], parameters: None, split: str
) -> Iterator[Row]:
    """bAbI's rows, all tasks together; a question keeps its number in the original story."""
    numbers: dict[str, list[str]] = {}
    for wording in babi.wordings(case):
        numbers.setdefault(wording.subset, []).append(wording.question)
    for row in _answered(babi.BABI, case, changed, settings, parameters, split):
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


def _as_it_is(case: Case, **_: Any) -> Case:
    return case


def _recorded(case: Case, record: Any) -> Case:
    return case._replace(record=msgspec.json.encode(record))


def _film(change: Change, case: Case, *, rng: Random, **_: Any) -> Case:
    """CLEVRER's case with its annotation changed."""
    if case.kind:
        return case
    return _recorded(case, change(decode_annotation((case.source, case.record)), rng=rng))


def _videos(change: Change, case: Case, *, rng: Random, **_: Any) -> Case:
    """ComPhy's case with each of its videos changed, the target's first."""
    videos = msgspec.json.decode(case.record, type=dict[str, Annotation])
    return _recorded(case, {name: change(film, rng=rng) for name, film in videos.items()})


def _image(change: Change, case: Case, *, rng: Random, **_: Any) -> Case:
    """GQA's case with its scene graph changed."""
    graph = decode_scene_graph(case.source, str(case.scene), case.record)
    return _recorded(case, change(graph, rng=rng))


def _stories(change: Change, case: Case, *, rng: Random, **_: Any) -> Case:
    """bAbI's case with each of its stories changed, by the same random numbers."""
    stories = msgspec.json.decode(case.record, type=list[Story])
    return _recorded(case, [change(story, rng=copy(rng)) for story in stories])


def _other_world(case: Case, *, seed: int, friction: float, restitution: float, **_: Any) -> Case:
    """ComPhy's case of the same number and the next seed, in a world with other physics."""
    with altered(friction, restitution):
        target = generate_target(int(case.scene), seed + 1)
    names = msgspec.json.decode(case.record, type=dict[str, msgspec.Raw])
    record = dict(zip(names, (target.annotation, *target.references), strict=True))
    return _recorded(case, record)._replace(questions=msgspec.json.encode(target.questions))


def _missed(
    apply: Any, what: str, change: Change, *settings: str, shares: Sequence[float] = _SHARES
) -> Iterator[Condition]:
    """Conditions that miss shares of something; ``apply`` turns a change of a record into one of a case."""
    for share in shares:
        changed = partial(apply, partial(change, share=share))
        yield Condition(f"{share:.0%} of {what} missed", changed, settings)


def _noise(sigmas: Iterable[float], apply: Any, *settings: str) -> Iterator[Condition]:
    """Conditions with noise of places, in units; ``apply`` as in :func:`_missed`."""
    for sigma in sigmas:
        change = partial(apply, partial(clevrer_inexact.noisy, sigma=sigma))
        yield Condition(f"places off by {sigma:g} units", change, settings)


def _blurred(frames: int) -> Condition:
    change = partial(_film, partial(clevrer_inexact.blurred, frames=frames))
    return Condition(f"collisions off by up to {counted(frames, 'frame')}", change, _CAUSAL)


def _part(
    base: Interpreted,
    settings: Sequence[str],
    answer: Callable[..., Iterable[Row]],
    questions: Callable[[Case], Mapping[str, int]],
    *changed: Condition,
) -> Part:
    """A benchmark's questions under each condition; the first condition changes nothing."""
    conditions = (Condition(AS_IT_IS, _as_it_is), *changed)
    pairs = tuple((s, c.label) for s in settings for c in conditions if s in (c.settings or settings))
    elsewhere = {condition.label for condition in conditions if condition.elsewhere}
    return Part(
        name=base.name,
        base=base,
        about=f"{base.title}: a row for each question of the first cases, under each condition in which the "
        "input is not exact.",
        rows=partial(rows, answer, conditions),
        expected=partial(_expected, questions, pairs),
        calls=(base.logger.logs, base.rows, *(condition.change for condition in conditions)),
        seeded=True,
        first=base.name,
        free=frozenset(named(setting, label) for setting, label in pairs if label in elsewhere),
        pairs=pairs,
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
ROBUSTNESS = Study(
    name=KEY,
    profiles=GENERATED,
    parts=(
        _part(
            clevrer.CLEVRER,
            _SETTINGS,
            _varied,
            lambda case: {} if case.kind else expected_rows(_VARIANTS, case),
            *_missed(
                _film, "collisions", clevrer_inexact.without_collisions, *_CAUSAL, shares=(0.02, *_SHARES)
            ),
            *map(_blurred, (1, 3, 5)),
            *_noise((0.001, 0.01, 0.03), _film, *_MOVED),
        ),
        _part(
            COMPHY_INFERRED,
            ("factual", "predictive", "counterfactual"),
            partial(_answered, COMPHY_INFERRED),
            _asked_of_target,
            *_noise((0.001, 0.01), _videos),
            Condition("a new seed", partial(_other_world, friction=1.0, restitution=1.0), elsewhere=True),
            Condition(
                "a new seed, friction × 1.25, restitution × 1.2",
                partial(_other_world, friction=1.25, restitution=1.2),
                elsewhere=True,
            ),
        ),
        _part(
            gqa.GQA,
            tuple(SUBSETS.values()),
            partial(_answered, gqa.GQA),
            lambda case: dict.fromkeys(SUBSETS.values(), len(list(gqa.wordings(case)))),
            *_missed(_image, "relations", gqa_inexact.without_relations),
            *_missed(_image, "attributes", gqa_inexact.without_attributes),
        ),
        _part(
            babi.BABI,
            (EVERYTHING,),
            _of_stories,
            lambda case: {EVERYTHING: len(list(babi.wordings(case)))},
            Condition("in other words", partial(_stories, retold.paraphrased)),
            Condition("with asides", partial(_stories, retold.distracted)),
            *_missed(_stories, "sentences", retold.shortened),
        ),
    ),
    parameters=SIZES,
    **tabled(KEY, TABLE),
)
"""The parts by benchmark, in the order of the report."""
