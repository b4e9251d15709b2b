"""Questions: trivial methods' scores, difficulty, and keys that contradict the duality."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import msgspec
from msgspec.structs import replace

from orchestration.benchmarks.babi import BABI
from orchestration.benchmarks.benchmark import Case, Logs
from orchestration.benchmarks.clevrer import CLEVRER
from orchestration.studies.study import Part, Study
from research.baselines.shortcuts import last_word_rows, trivial_rows
from research.benchmarks import GENERATED
from research.domains.duality_trial import trials
from research.studies.shares import Cell, Shares, Weighed, tabled
from research.studies.sizes import SIZES
from substrate.domains.babi.format import Story
from substrate.domains.clevrer.answers import answer_scene
from substrate.domains.clevrer.format import SceneQuestions
from substrate.domains.clevrer.parameters import Parameters, Predictive
from substrate.domains.clevrer.scene import Scene
from substrate.domains.rows import Row
from substrate.generators.clevrer import predictive_questions
from substrate.generators.clevrer.choices import Wrong

KEY = "questions"
_stories = msgspec.json.Decoder(list[Story])
CONFIGURATIONS = ("A", "B", "C", "S")
OWN = "the wrong choice is any pair"
OTHERS: Mapping[Wrong, str] = {"near": "a near miss", "met": "a pair that had met"}
"""The other kinds of wrong choices, by the generator's name for each."""
RESPONSIBLE = {
    True: "responsible: they collide without it all the same",
    False: "not responsible: they do not collide without it",
}
"""The subset of a trial, by whether the key calls the object responsible for the collision.

Each label ends with the verdict that would contradict the duality; ``correct`` says whether the key has it.
"""


def near_misses(seed: int, case: Case, logs: Logs, parameters: Parameters, split: str) -> Iterator[Row]:
    """The rows of a generated video's predictive questions, by kind of wrong choice and configuration."""
    if split != "generated":
        return
    scene = Scene.of(logs[0])
    generated = msgspec.json.decode(case.questions, type=SceneQuestions).questions
    by_label = {OWN: [question for question in generated if question.question_type == "predictive"]}
    for kind, others in predictive_questions(int(case.scene), seed, *OTHERS).items():
        by_label[OTHERS[kind]] = others
    for label, questions in by_label.items():
        for name in CONFIGURATIONS:
            configured = replace(parameters, predictive=Predictive(name))
            for row in answer_scene(scene.log, int(case.scene), questions, configured, split):
                yield replace(row, subset=Cell(f"predictive.{name}", label).subset)


def without_interpreter(case: Case, logs: Logs, _: Parameters, split: str) -> Iterator[Row]:
    """The rows of a video's questions under the trivial methods, for comparison with a result."""
    questions = msgspec.json.decode(case.questions, type=SceneQuestions).questions
    yield from trivial_rows(Scene.of(logs[0]), int(case.scene), questions, split)


def last_words(case: Case, logs: Logs, _: Any, split: str) -> Iterator[Row]:
    """Answer each question of a case's stories by the last word before it."""
    for story, log in zip(_stories.decode(case.record), logs, strict=True):
        yield from last_word_rows(story, log.digest, split)


def trial_rows(case: Case, logs: Logs, _: Parameters, split: str) -> Iterator[Weighed]:
    """The rows of the objects and collisions with both verdicts of a video's key; no answer is read.

    A row is ``correct`` if the key contradicts the duality: the table counts contradictions.
    """
    questions = msgspec.json.decode(case.questions, type=SceneQuestions).questions
    for trial in trials(Scene(logs[0]), questions):
        contradicts = trial.collides == trial.responsible
        yield Weighed(CLEVRER.name, split, RESPONSIBLE[trial.responsible], case.scene, 1, correct=contradicts)


# No number of rows is known before a case is asked, and there may be none: official questions have no near
# misses, and few keys give both verdicts on an object.
_part = partial(Part, base=CLEVRER)
TABLE = Shares(
    "How hard the questions are",
    "Questions: predictive ones of the first generated videos with other wrong choices, by "
    "configuration; all questions by trivial methods: a number of CLEVRER's table is evidence as far as "
    "it is above the best of them; and of all objects and collisions of which a key says both whether "
    "the object is responsible and whether the two collide without it, how often it contradicts the "
    "duality.",
    ("benchmark", "asked", "input", "right or so", "n", "share", "95 % interval"),
)
QUESTIONS = Study(
    name=KEY,
    profiles=GENERATED,
    parts=(
        _part(
            name="predictive",
            about="CLEVRER's predictive questions with other wrong choices: any, near misses, pairs that had "
            "met. A row a question under each, in every configuration.",
            rows=near_misses,
            seeded=True,
            size_key=KEY,
        ),
        _part(
            name="trivial",
            about="CLEVRER's questions by trivial methods: constants, sharing a participant, the nearest "
            "pair, no collision, what was filmed, the same and partners. A row a question under each.",
            rows=without_interpreter,
        ),
        Part(
            name="last_word",
            about="bAbI's questions by a trivial method: the last word of the sentence before. A row each.",
            base=BABI,
            rows=last_words,
        ),
        _part(
            name="duality",
            about="The duality on trial: of the objects and collisions that a key says both of, how often "
            "two collide without an object that is responsible for their collision.",
            rows=trial_rows,
        ),
    ),
    parameters=SIZES,
    **tabled(KEY, TABLE),
)
