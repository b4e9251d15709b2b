"""Trivial methods for CLEVRER's and bAbI's questions, against which a number is judged.

Each uses less than a real method must: a constant, one step of a chain, the nearest pair, filmed
collisions. They replace some of the interpreter's opcodes, so they read a question as the interpreter does.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import combinations
from typing import Any

from research.domains.straight_lines import approach
from substrate.base.errors import ProgramError
from substrate.domains.babi.format import Statement, Story
from substrate.domains.clevrer.answers import Language, rows
from substrate.domains.clevrer.counterfactual import Counterfactual, judge
from substrate.domains.clevrer.format import Question
from substrate.domains.clevrer.kinds import Tokens
from substrate.domains.clevrer.parameters import Parameters
from substrate.domains.clevrer.program import OPCODES, REMOVALS, WORDS, ProgramStep, World, run, run_choices
from substrate.domains.clevrer.scene import Scene, SceneEvent
from substrate.domains.rows import Row


def _sharing(world: World, events: Sequence[SceneEvent], event: SceneEvent) -> list[SceneEvent]:
    """The earlier events of the same objects: one step of the chain."""
    return [e for e in events if (e.frame or 0) < (event.frame or 0) and e.objects & event.objects]


def _nothing(world: World, *_: Any) -> list[SceneEvent]:
    return []


def _without_ancestry(method: str, world: World, *given: Any) -> list[SceneEvent]:
    """The events that occur without an object, by a method that follows no ancestry.

    Args:
        given: the candidates and the object to remove; without candidates, any pair's collisions are meant.
    """
    *events, removed = given
    settings = Counterfactual(method)  # pyright: ignore[reportArgumentType]
    candidates = events[0] if events else world.scene.pairs
    return [e for e in candidates if judge(world.scene, e, removed, settings).occurs]


def _language(**changed: object) -> Language:
    opcodes = OPCODES | {name: OPCODES[name]._replace(run=by) for name, by in changed.items()}  # pyright: ignore[reportArgumentType]
    table = Tokens(opcodes, WORDS)
    return Language(partial(run, table=table), partial(run_choices, table=table), str.__eq__)


def _always(answer: str) -> Language:
    return Language(
        lambda program, world: answer, lambda program, choices, world: [answer] * len(choices), str.__eq__
    )


def gaps(scene: Scene) -> dict[frozenset[int], float]:
    """The closest distance of each visible pair if all move straight on after the video, in units."""
    last = {number: samples[-1][1] for number, samples in scene.samples.items() if samples}
    return {frozenset((a, b)): approach(last[a], last[b]).distance for a, b in combinations(sorted(last), 2)}


def _nearest(
    question: Sequence[str], choices: Sequence[Sequence[str]], world: World
) -> Iterator[str | ProgramError]:
    """Choose the pair that comes nearest, among the pairs that a question offers."""
    pairs: list[frozenset[int]] = []
    for choice in choices:
        steps: list[ProgramStep] = []
        try:
            run([*choice, *question], world, steps.append)
        except ProgramError:
            pairs.append(frozenset())
            continue
        pairs.append(next(step.arguments[0].objects for step in steps if step.token == "belong_to"))
    near = gaps(world.scene)
    best = min(range(len(pairs)), key=lambda place: (near.get(pairs[place], float("inf")), place))
    yield from ("yes" if place == best else "no" for place in range(len(pairs)))


_CONSTANTS = {"always “yes”": _always("yes"), "always “no”": _always("no")}
_OPTIONS = {"every option": _always("yes"), "no option": _always("no")}
METHODS: Mapping[str, Mapping[str, Language]] = {
    "descriptive": _CONSTANTS,
    "explanatory": {**_OPTIONS, "sharing a participant": _language(filter_ancestor=_sharing)},
    "predictive": {**_OPTIONS, "the nearest pair": Language(run, _nearest, str.__eq__)},
    "counterfactual": {
        **_OPTIONS,
        "no collision": _language(**dict.fromkeys(REMOVALS, _nothing)),
        "what was filmed": _language(**dict.fromkeys(REMOVALS, partial(_without_ancestry, "filmed"))),
        "what was filmed, and partners": _language(
            **dict.fromkeys(REMOVALS, partial(_without_ancestry, "filmed_partner"))
        ),
    },
}
"""The trivial methods by type of question."""


def trivial_rows(scene: Scene, number: int, questions: Iterable[Question], split: str) -> Iterator[Row]:
    """Answer each question of a scene by each trivial method; a row's subset names the method."""
    world, all_questions = World(scene, Parameters()), list(questions)
    common = {"benchmark": "clevrer", "split": split, "scene": number, "log": scene.log.digest}
    for kind, methods in METHODS.items():
        of_kind = [question for question in all_questions if question.question_type == kind]
        for method, language in methods.items():
            yield from rows(of_kind, world, language, lambda _, name=f"{kind}: {method}": name, common)


def last_word_rows(story: Story, log: str, split: str) -> Iterator[Row]:
    """Answer each question of a bAbI story by the last word of the sentence before it."""
    last_word = ""
    for line in story.lines:
        if isinstance(line, Statement):
            last_word = line.text.rstrip(".").split()[-1].lower()
            continue
        yield Row(
            benchmark="babi",
            split=split or story.split,
            subset=f"{story.subset}: the last word",
            scene=story.scene,
            question=line.id,
            predicted=last_word,
            expected=line.answer,
            correct=None if line.answer is None else last_word == line.answer,
            log=log,
        )
