"""CLEVRER-Humans: causal questions in people's own words, about CLEVRER's scenes."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from functools import partial
from typing import Any

import msgspec

from orchestration.benchmarks import benchmark as bm
from orchestration.benchmarks.clevrer import PARAMETERS, motion, scene_cases, scene_logs, wordings_of
from orchestration.benchmarks.real import MEASURED_ON
from orchestration.benchmarks.transfer import TRANSFER
from research.benchmarks import BOTH
from research.domains.humans import BENCHMARK, HumanScene, answer_humans, read_human_questions
from research.domains.positions import tracked_log
from substrate.domains.clevrer.parameters import Parameters
from substrate.domains.rows import Row

_questions = msgspec.json.Decoder(HumanScene)


class HumansData(bm.Data, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The released files of CLEVRER-Humans, by path; without them nothing is measured."""

    annotations: str | None = None
    events: str | None = None
    trajectories: str | None = None
    questions: str | None = None


def cases(files: bm.Files, only: Collection[Any] | None = None, unasked: bool = False) -> bm.Cases:
    """The scenes with questions; the release has events of many more scenes."""
    records = read_human_questions(files["questions"])
    raw = {scene: msgspec.Raw(msgspec.json.encode(record)) for scene, record in records.items()}
    return scene_cases(files, raw, only, False)


def rows(case: bm.Case, logs: bm.Logs, parameters: Parameters, split: str) -> Iterable[Row]:
    """The rows of a scene's questions."""
    return answer_humans(logs[0], int(case.scene), _questions.decode(case.questions), parameters, split)


ASKED = bm.Source(
    name=BENCHMARK,
    title="CLEVRER-Humans",
    about="CLEVRER-Humans: the files a user has of it; an empty folder where none are named.",
    data=HumansData,
    inputs={name: (name,) for name in ("annotations", "events", "trajectories", "questions")},
    cases=cases,
    official=bm.Release("train", "released training part"),
    profiles=BOTH,
)
CLEVRER_HUMANS = bm.Interpreted(
    name=BENCHMARK,
    title="CLEVRER-Humans",
    numbers=bm.per_choice(BENCHMARK, "explanatory"),
    form=f"{BENCHMARK}/SCENE/QUESTION",
    table=(TRANSFER, 4),
    source=ASKED,
    logger=bm.Logger(
        name=BENCHMARK,
        about="One event log for each scene that people were asked about.",
        source=ASKED,
        logs=partial(scene_logs, tracked_log),
        parameters=PARAMETERS,
        shapes="clevrer",
        emitter=motion,
    ),
    parameters=PARAMETERS,
    rows=rows,
    wordings=partial(wordings_of, HumanScene),
    about={
        "answers": "A row a human causal question, its wording resolved to events.",
        "scores": "Accuracy on people's causal questions, with Wilson's interval.",
        MEASURED_ON: "people's questions of the training part, true events",
    },
)
