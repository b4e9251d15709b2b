"""Perceived videos that no fit has seen, and answers from every log that a perceived video allows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import partial

import msgspec
from msgspec.structs import replace as with_fields

from orchestration.benchmarks import benchmark as bm
from orchestration.benchmarks.real import MEASURED_ON
from orchestration.scoring.counting import METRICS, Metric
from research.benchmarks import REAL
from research.benchmarks.filmed import kept_out
from research.benchmarks.perceived import PERCEIVED
from research.domains.perception import calibrate
from research.domains.perception.log import read_back
from research.domains.perception.parameters import Perception
from research.domains.possible import answer_possible
from substrate.domains.clevrer.format import SceneQuestions
from substrate.domains.rows import Row

_questions = msgspec.json.Decoder(SceneQuestions)


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
