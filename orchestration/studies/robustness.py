"""Robustness: each benchmark asked again on input that is not exact, and the ways to make it so.

Of a profile's data the first cases are taken. A condition changes what is observed, by a seed; the questions
and their gold stay those of the case as it is. Two conditions of ComPhy's ask about other worlds instead,
whose gold is their own simulation's.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from random import Random
from typing import Annotated, Any, NamedTuple

import msgspec
from msgspec.structs import replace

from orchestration.benchmarks import babi, clevrer, comphy, gqa
from orchestration.benchmarks.benchmark import Case, Interpreted, Natural, Section
from orchestration.code import Declared
from orchestration.studies.ablations import VARIANTS, Variant, variant_rows
from orchestration.studies.study import Part, Study
from substrate.domains.babi.deltas import story_log
from substrate.domains.babi.format import Story
from substrate.domains.babi.interpreter import answer_story
from substrate.domains.clevrer.deltas import annotation_log
from substrate.domains.clevrer.format import SceneQuestions, decode_annotation
from substrate.domains.clevrer.scene import Scene as ClevrerScene
from substrate.domains.comphy.deltas import target_log
from substrate.domains.comphy.format import Target, TargetQuestions, decode_target
from substrate.domains.comphy.interpreter import answer_target
from substrate.domains.gqa.deltas import scene_log
from substrate.domains.gqa.format import Question as GqaQuestion
from substrate.domains.gqa.format import SceneGraph, decode_scene_graph
from substrate.domains.gqa.interpreter import SUBSETS, answer_scene
from substrate.domains.gqa.scene import Scene as GqaScene
from substrate.domains.rows import Row
from substrate.generators.babi import retold
from substrate.generators.clevrer import inexact as clevrer_inexact
from substrate.generators.clevrer.altered import altered
from substrate.generators.comphy import generate_target
from substrate.generators.gqa import inexact as gqa_inexact
from substrate.log.event_log import EventLog

KEY = "robustness"
AS_IT_IS = "as it is"
"""The condition that changes nothing, beside which the others stand."""


class Robustness(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The number of a profile's cases of each benchmark that are asked again."""

    clevrer: Annotated[int, Natural] = 0
    comphy_inferred: Annotated[int, Natural] = 0
    gqa: Annotated[int, Natural] = 0
    babi: Annotated[int, Natural] = 0
    reliability: Annotated[int, Natural] = 0
    """Of CLEVRER's scenes, those whose answers about imagined worlds are given probabilities."""
    perceived: Annotated[int, Natural] = 0
    """Of perceived videos, those whose events' probabilities are held beside what happened."""
    evidence: Annotated[int, Natural] = 0
    """Of each benchmark's cases, those whose right answers are asked what they rest on."""
    questions: Annotated[int, Natural] = 0
    """Of CLEVRER's generated scenes, those that are asked about with other wrong choices."""


@dataclass(frozen=True)
class Condition:
    """A way in which input is not exact.

    Attributes:
        label: what the tables call it.
        change: makes what was observed inexact, taking random numbers from a generator.
        of: the settings that are asked under it; all where empty.
    """

    label: str
    change: Callable[[Any, Random], Any]
    of: tuple[str, ...] = ()


@dataclass(frozen=True)
class Perturbed(Declared):
    """A benchmark's questions under each condition.

    Attributes:
        base: the benchmark.
        settings: what of it is asked, each under each condition that is of it; the first part of a row's
            subset.
        conditions: in the order of the table, the one that changes nothing first.
        answer: the rows of a case under a condition, their subset that of :meth:`Asked.subset`.
        questions: how many questions of a case each setting takes, for a check of the rows.
    """

    base: Interpreted
    settings: tuple[str, ...]
    conditions: tuple[Condition, ...]
    answer: Callable[[Asked], Iterable[Row]]
    questions: Callable[[Case], Mapping[str, int]]

    def pairs(self) -> list[tuple[str, Condition]]:
        """Every setting with each of its conditions, in the order of the table."""
        return [(s, c) for s in self.settings for c in self.conditions if s in (c.of or self.settings)]


class Asked(NamedTuple):
    """A case under a condition, with what it is answered with."""

    case: Case
    condition: Condition
    settings: tuple[str, ...]
    parameters: Any
    split: str
    seed: int

    @property
    def rng(self) -> Random:
        """The condition's own random numbers for the case: no other condition moves them."""
        return Random(f"{KEY}/{self.seed}/{self.condition.label}/{self.case.scene}")

    def subset(self, setting: str) -> str:
        """The subset that rows of a setting name."""
        return named(setting, self.condition)


def named(setting: str, condition: Condition) -> str:
    """The subset of the rows of a setting under a condition."""
    return f"{setting}: {condition.label}"


def rows(
    of: str, seed: int, case: Case, logs: Sequence[EventLog], parameters: Any, split: str
) -> Iterator[Row]:
    """The rows of a case under every condition, by question; what is given of its exact logs is not read.

    Args:
        of: the benchmark's name.
        seed: the seed of what is changed.
    """
    perturbed = PERTURBED[of]
    found: list[Row] = []
    for condition in perturbed.conditions:
        settings = condition.of or perturbed.settings
        found += perturbed.answer(Asked(case, condition, settings, parameters, split, seed))
    # A stable sort: the rows of one question stay in the order of the conditions.
    yield from sorted(found, key=lambda row: str(row.question).zfill(_DIGITS))


def _expected(of: str, case: Case) -> dict[str, int]:
    """The number of rows that a case has of each setting under each condition."""
    perturbed = PERTURBED[of]
    questions = perturbed.questions(case) if case.questions else {}
    return {named(setting, condition): questions.get(setting, 0) for setting, condition in perturbed.pairs()}


_DIGITS = 12
_as_it_is = Condition(AS_IT_IS, lambda observed, _: observed)


def _missed(shares: Iterable[float], what: str, change: Any, *of: str) -> Iterator[Condition]:
    for share in shares:
        yield Condition(f"{share:.0%} of {what} missed", partial(_by, change, share), of)


def _by(change: Any, amount: float, observed: Any, rng: Random) -> Any:
    return change(observed, amount, rng)


def _noise(sigmas: Iterable[float], change: Any, *of: str) -> Iterator[Condition]:
    for sigma in sigmas:
        yield Condition(f"places off by {sigma:g} units", partial(_by, change, sigma), of)


def _annotated(asked: Asked) -> Iterator[Row]:
    """CLEVRER's rows; of event lists, which have no motion, there are none."""
    if asked.case.kind:
        return
    film = decode_annotation((asked.case.source, asked.case.record))
    film = asked.condition.change(film, asked.rng)
    log = annotation_log(film)
    common = {"benchmark": KEY, "split": asked.split, "scene": asked.case.scene, "log": log.digest}
    variants = {asked.subset(setting): _VARIANTS[setting] for setting in asked.settings}
    yield from variant_rows(variants, asked.case, ClevrerScene(log), asked.parameters, common)


def _asked_of_film(case: Case) -> dict[str, int]:
    if case.kind:
        return {}
    questions = msgspec.json.decode(case.questions, type=SceneQuestions).questions
    counts = Counter(question.question_type for question in questions)
    return {setting: counts[variant.subset] for setting, variant in _VARIANTS.items()}


def _asked_of_target(case: Case) -> Mapping[str, int]:
    questions = msgspec.json.decode(case.questions, type=TargetQuestions).questions
    return Counter(question.subset for question in questions)


def _asked_of_image(case: Case) -> dict[str, int]:
    questions = msgspec.json.decode(case.questions, type=dict[str, GqaQuestion])
    return dict.fromkeys(SUBSETS.values(), len(questions))


def _asked_of_stories(case: Case) -> dict[str, int]:
    stories = msgspec.json.decode(case.record, type=list[Story])
    return {"all tasks": sum(len(story.questions) for story in stories)}


_CAUSAL = ("explanatory.event", "counterfactual.partner", "counterfactual.simulated")
_MOVED = ("predictive.C", "predictive.S", "counterfactual.simulated")
_SETTINGS = (
    "explanatory.event",
    "predictive.C",
    "predictive.S",
    "counterfactual.partner",
    "counterfactual.simulated",
)
_VARIANTS: Mapping[str, Variant] = {
    name: variant for name in _SETTINGS for variant in VARIANTS if variant.name == name
}


class _OtherWorld:
    """A change of a target that asks about another one instead, in a world of other physics."""

    def __init__(self, friction: float, restitution: float) -> None:
        self.friction = friction
        self.restitution = restitution

    def __call__(self, given: tuple[Target, TargetQuestions, int], _: Random) -> Any:
        """The target of the same number and the next seed."""
        scene, seed = given[0].scene, given[2]
        with altered(self.friction, self.restitution):
            made = generate_target(scene, seed + 1)
        return Target(scene, made.annotation, tuple(made.references)), made.questions, seed


def _noisy_videos(given: tuple[Target, TargetQuestions, int], sigma: float, rng: Random) -> Any:
    target, questions, seed = given
    seen, *references = (
        clevrer_inexact.noisy(film, sigma, rng) for film in (target.annotation, *target.references)
    )
    return Target(target.scene, seen, tuple(references)), questions, seed


def _targets(asked: Asked) -> Iterator[Row]:
    """ComPhy's rows, hidden properties inferred; other worlds stand beside generated ones alone."""
    case, change = asked.case, asked.condition.change
    if isinstance(change, _OtherWorld) and asked.split != "generated":
        return
    videos = msgspec.json.decode(case.record, type=dict[str, msgspec.Raw])
    target = decode_target(int(case.scene), [(name, bytes(data)) for name, data in videos.items()])
    questions = msgspec.json.decode(case.questions, type=TargetQuestions)
    target, questions, _ = change((target, questions, asked.seed), asked.rng)
    log = target_log(target, infer_properties=True)
    for row in answer_target(log, target.scene, questions.questions, asked.parameters, asked.split, KEY):
        yield replace(row, subset=asked.subset(row.subset))


def _images(asked: Asked) -> Iterator[Row]:
    image, file = str(asked.case.scene), asked.case.source.rpartition(":")[0]
    graph: SceneGraph = decode_scene_graph(file, image, asked.case.record)
    log = scene_log(image, asked.condition.change(graph, asked.rng))
    questions = msgspec.json.decode(asked.case.questions, type=dict[str, GqaQuestion])
    for row in answer_scene(GqaScene(image, log), questions, asked.split):
        yield replace(row, benchmark=KEY, subset=asked.subset(row.subset))


def _stories(asked: Asked) -> Iterator[Row]:
    """bAbI's rows, all tasks together."""
    for story in msgspec.json.decode(asked.case.record, type=list[Story]):
        told: Story = asked.condition.change(story, asked.rng)
        answered = answer_story(told, story_log(told), asked.split)
        for question, row in zip(story.questions, answered, strict=True):
            number = f"{story.subset}/{question.id}"
            yield replace(
                row,
                benchmark=KEY,
                split=asked.split,
                subset=asked.subset("all tasks"),
                question=number,
                supporting=msgspec.UNSET,
                expected_supporting=msgspec.UNSET,
            )


_SHARES = (0.05, 0.1, 0.2)
PERTURBED: Mapping[str, Perturbed] = {
    one.base.name: one
    for one in (
        Perturbed(
            clevrer.CLEVRER,
            tuple(_VARIANTS),
            (
                _as_it_is,
                *_missed((0.02, *_SHARES), "collisions", clevrer_inexact.without_collisions, *_CAUSAL),
                *(
                    Condition(
                        f"collisions off by up to {frames} frame{'' if frames == 1 else 's'}",
                        partial(_by, clevrer_inexact.blurred, frames),
                        _CAUSAL,
                    )
                    for frames in (1, 3, 5)
                ),
                *_noise((0.001, 0.01, 0.03), clevrer_inexact.noisy, *_MOVED),
            ),
            _annotated,
            _asked_of_film,
        ),
        Perturbed(
            comphy.COMPHY_INFERRED,
            ("factual", "predictive", "counterfactual"),
            (
                _as_it_is,
                *_noise((0.001, 0.01), _noisy_videos),
                Condition("a new seed", _OtherWorld(1.0, 1.0)),
                Condition("a new seed, friction × 1.25, restitution × 1.2", _OtherWorld(1.25, 1.2)),
            ),
            _targets,
            _asked_of_target,
        ),
        Perturbed(
            gqa.GQA,
            tuple(SUBSETS.values()),
            (
                _as_it_is,
                *_missed(_SHARES, "relations", gqa_inexact.without_relations),
                *_missed(_SHARES, "attributes", gqa_inexact.without_attributes),
            ),
            _images,
            _asked_of_image,
        ),
        Perturbed(
            babi.BABI,
            ("all tasks",),
            (
                _as_it_is,
                Condition("in other words", retold.paraphrased),
                Condition("with asides", retold.distracted),
                *_missed(_SHARES, "sentences", retold.shortened),
            ),
            _stories,
            _asked_of_stories,
        ),
    )
}
"""By benchmark, in the order of the report."""


def rows_file(name: str) -> str:
    """The path of a benchmark's rows."""
    return f"artifacts/{{profile}}/{KEY}/{name}.jsonl"


def _part(perturbed: Perturbed) -> Part:
    name, other = perturbed.base.name, _OtherWorld
    return Part(
        name=name,
        base=perturbed.base,
        about=f"{perturbed.base.title}: a row for each question of the first cases, under each condition in "
        "which the input is not exact.",
        rows=partial(rows, name),
        expected=partial(_expected, name),
        calls=(perturbed.answer, *(condition.change for condition in perturbed.conditions)),
        file=rows_file(name),
        seeded=True,
        first=name,
        # How many questions another world has is its own affair.
        free=frozenset(named(s, c) for s, c in perturbed.pairs() if isinstance(c.change, other)),
    )


ROBUSTNESS = Study(name=KEY, parts=tuple(map(_part, PERTURBED.values())), parameters=Section(KEY, Robustness))
