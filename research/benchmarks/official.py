"""Benchmarks of the profile `real` beside the paper's own."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import msgspec
from msgspec.structs import replace as with_fields

from orchestration.benchmarks import benchmark as bm
from orchestration.benchmarks.babi import BABI, STORIES
from orchestration.benchmarks.babi import cases as stories
from orchestration.benchmarks.clevrer import CLEVRER
from orchestration.benchmarks.real import MEASURED_ON
from orchestration.benchmarks.transfer import TRANSFER
from orchestration.scoring.counting import METRICS, Metric
from orchestration.studies.ablations import ABLATIONS, VARIANTS, Variant, variant_rows
from research.benchmarks.perceived import PERCEIVED
from research.benchmarks.truths import kept_out
from research.domains.perception import calibrate
from research.domains.perception.log import read_back
from research.domains.perception.parameters import Perception
from research.domains.possible import answer_possible
from substrate.base.errors import SubstrateError
from substrate.cause.explanation import Explanation
from substrate.domains.clevrer.format import SceneQuestions
from substrate.domains.clevrer.parameters import Parameters
from substrate.domains.clevrer.scene import Scene
from substrate.domains.gqa.format import Question, read_questions
from substrate.domains.gqa.program import compile_program
from substrate.domains.rows import Row
from substrate.log.event_log import EventLog

REAL = ("real",)
EVERY = 10
"""The step of the stories asked about in bAbI's larger files."""
_questions = msgspec.json.Decoder(SceneQuestions)
_gqa = msgspec.json.Decoder(dict[str, Question])


SELECTED: Mapping[str, Variant] = {
    variant.name: variant
    for variant in (Variant("descriptive", "", ()), *VARIANTS)
    if variant.subset in ("descriptive", "counterfactual") and variant.label not in ("printed", "bullet")
}
"""The ways in which the questions that MVBench selected are answered, by the names of their numbers."""


def selected_rows(case: bm.Case, logs: bm.Logs, parameters: Parameters, split: str) -> Iterable[Row]:
    """The rows of a scene's descriptive questions, and of its counterfactual ones by each method."""
    common = {"benchmark": "clevrer_validation", "split": split, "scene": case.scene, "log": logs[0].digest}
    rows = variant_rows(SELECTED, case, Scene.of(logs[0]), parameters, common)
    return sorted(rows, key=lambda row: int(row.question))


def explain_selected(
    case: bm.Case, logs: bm.Logs, parameters: Parameters, subset: str, question: str
) -> Explanation | None:
    """Explain an answer by one of the methods."""
    return CLEVRER.explain(case, logs, SELECTED[subset].parameters(parameters), "", question)


_SELECTED = replace(
    CLEVRER.source,
    name="clevrer_validation",
    title="CLEVRER, questions that MVBench selected",
    about="Questions of CLEVRER's validation split that MVBench selected, with true events and tracks.",
    world=(),
    profiles=REAL,
)
CLEVRER_VALIDATION = replace(
    ABLATIONS,
    name="clevrer_validation",
    title="CLEVRER, selected by MVBench",
    numbers=(
        "clevrer_validation/descriptive/per_question",
        *bm.per_choice("clevrer_validation", *(name for name in SELECTED if name != "descriptive")),
    ),
    form="clevrer_validation/METHOD/SCENE/QUESTION",
    source=_SELECTED,
    logger=replace(CLEVRER.logger, name="clevrer_validation", source=_SELECTED),
    rows=selected_rows,
    explain=explain_selected,
    trivial={
        "counterfactual.filmed": "what was filmed",
        "counterfactual.filmed_partner": "what was filmed, and partners",
    },
    about={
        **ABLATIONS.about,
        MEASURED_ON: "validation split, selected by MVBench: one right choice each, none negated; true "
        "events, tracks every 5 frames",
    },
)


def is_kept_out(case: bm.Case) -> bool:
    """Tell whether a case is asked of a video that is kept out of every fit of perception."""
    return bool(case.questions) and calibrate.is_kept_out(int(case.scene))


PERCEIVED_ASIDE = replace(
    PERCEIVED,
    name="perceived_aside",
    title=f"{PERCEIVED.title}, of videos kept aside",
    numbers=bm.per_choice("perceived_aside", "explanatory"),
    form="perceived_aside/SCENE/QUESTION",
    rows=partial(bm.named_rows, "perceived_aside", PERCEIVED.rows),
    is_asked=is_kept_out,
    examples={},
    pages=(),
    declared={},
    profiles=REAL,
    about={
        **PERCEIVED.about,
        MEASURED_ON: "those of the videos that no fit of perception saw (number mod 5 = 4)",
    },
)


def from_every_log(case: bm.Case, logs: bm.Logs, parameters: Perception, split: str) -> Iterable[Row]:
    """The rows of a video's questions, answered from every log that its perceived events allow."""
    questions = _questions.decode(case.questions).questions
    for row in answer_possible(read_back(logs[0], int(case.scene)), questions, parameters, split):
        yield with_fields(row, benchmark="perceived_worlds", log=logs[0].digest)


PERCEIVED_WORLDS = bm.Interpreted(
    name="perceived_worlds",
    title=f"{PERCEIVED.title}, every possible log",
    numbers=(*bm.per_choice("perceived_worlds", "explanatory"), "perceived_worlds/explanatory/kept_out"),
    form="perceived_worlds/SCENE/QUESTION",
    table=(PERCEIVED.table[0], 2),
    source=PERCEIVED.source,
    logger=PERCEIVED.logger,
    parameters=PERCEIVED.parameters,
    rows=from_every_log,
    wordings=PERCEIVED.wordings,
    metrics={**METRICS, "kept_out": Metric(kept_out)},
    profiles=REAL,
    about={
        "answers": "A row a question, with the probability of its answer: from every log that the perceived "
        "events allow, given what the question presupposes.",
        "scores": "Accuracy by question and by option, and of videos that no fit saw; Wilson's interval.",
        MEASURED_ON: "the same, every log that a video may have; weights were fitted to 469 of these videos",
    },
)


def every_tenth(files: bm.Files, only: Collection[Any] | None = None, unasked: bool = False) -> bm.Cases:
    """Every tenth story of each task."""
    given = [case for case in stories(files, only, unasked).each if int(case.scene) % EVERY == 0]
    return bm.Cases(len(given), iter(given))


_STORIES = replace(
    STORIES,
    name="babi_10k",
    title="bAbI, ten times as many",
    about="The files of bAbI's larger release that a user has; every tenth story of them is asked.",
    cases=every_tenth,
    world=(),
    profiles=REAL,
)
BABI_10K = replace(
    BABI,
    name="babi_10k",
    title="bAbI, larger files",
    numbers=tuple(number.replace("babi/", "babi_10k/") for number in BABI.numbers),
    form="babi_10k/TASK/STORY/QUESTION",
    source=_STORIES,
    logger=replace(BABI.logger, name="babi_10k", source=_STORIES),
    rows=partial(bm.named_rows, "babi_10k", BABI.rows),
    examples={},
    declared={},
    about={**BABI.about, MEASURED_ON: "every tenth story of the training files of en-10k, without task 3"},
)


class ProgramsData(bm.Data, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Files of GQA's questions whose programs are read: those of frequent and of rare answers."""

    head: str | None = None
    tail: str | None = None


def programs(files: bm.Files, only: Collection[Any] | None = None, unasked: bool = False) -> bm.Cases:
    """The programs of each image's questions; nothing of the image is known."""
    by_image: dict[str, dict[str, Question]] = {}
    for path in files.values():
        for image, questions in read_questions(path).items():
            by_image.setdefault(image, {}).update(questions)
    images = bm.chosen(sorted(by_image), only)
    name = " and ".join(path.name for path in files.values())
    each = (bm.Case(image, name, msgspec.json.encode(by_image[image]), bm.WITHIN) for image in images)
    return bm.Cases(len(images), each)


def compiled(case: bm.Case, logs: bm.Logs, _: Any, split: str) -> Iterator[Row]:
    """Tell in one row per question whether its program compiles: each step gives what the next one takes."""
    for number, question in sorted(_gqa.decode(case.record).items()):
        row = Row(
            benchmark="gqa_programs",
            split=split,
            subset="",
            scene=case.scene,
            question=number,
            predicted="compiles",
            expected="compiles",
            correct=True,
            log=logs[0].digest,
        )
        try:
            compile_program(question.semantic)
        except SubstrateError as error:
            row = with_fields(row, predicted="error", correct=False, error=str(error))
        yield row


_PROGRAMS = bm.Source(
    name="gqa_programs",
    title="GQA's programs",
    about="GQA's questions with programs that a user has; without the scene graphs.",
    data=ProgramsData,
    inputs={"head": ("head.json",), "tail": ("tail.json",)},
    cases=programs,
    profiles=REAL,
)
GQA_PROGRAMS = bm.Interpreted(
    name="gqa_programs",
    title="GQA, programs that compile",
    numbers=("gqa_programs/accuracy",),
    form="gqa_programs/IMAGE/QUESTION",
    table=(TRANSFER, 9),
    source=_PROGRAMS,
    logger=bm.Logger(
        name="gqa_programs",
        about="An empty log an image: nothing of it is annotated.",
        source=_PROGRAMS,
        logs=lambda case, _: [bm.NamedLog(str(case.scene), EventLog())],
    ),
    rows=compiled,
    wordings=lambda case: [bm.Wording(n, q.question) for n, q in _gqa.decode(case.record).items()],
    about={
        "answers": "A row a question: whether its program compiles.",
        "scores": "The share of programs that compile, with Wilson's interval.",
        MEASURED_ON: "questions of testdev, frequent and rare answers; no scene graphs, so none is answered",
    },
)
__all__ = ["BABI_10K", "CLEVRER_VALIDATION", "GQA_PROGRAMS", "PERCEIVED_ASIDE", "PERCEIVED_WORLDS"]
