"""GQA's questions without their scene graphs: whether each program compiles."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

import msgspec
from msgspec.structs import replace

from orchestration.benchmarks import benchmark as bm
from orchestration.benchmarks.real import MEASURED_ON
from orchestration.benchmarks.transfer import TRANSFER
from research.benchmarks import REAL
from substrate.base.errors import SubstrateError
from substrate.domains.gqa.format import Question, read_questions
from substrate.domains.gqa.program import compile_program
from substrate.domains.rows import Row
from substrate.log.event_log import EventLog

NAME, COMPILES = "gqa_programs", "compiles"
_questions = msgspec.json.Decoder(dict[str, Question])


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
    for number, question in sorted(_questions.decode(case.record).items()):
        about = {"benchmark": NAME, "split": split, "subset": "", "scene": case.scene, "question": number}
        row = Row(**about, predicted=COMPILES, expected=COMPILES, correct=True, log=logs[0].digest)
        try:
            compile_program(question.semantic)
        except SubstrateError as error:
            row = replace(row, predicted="error", correct=False, error=str(error))
        yield row


_PROGRAMS = bm.Source(
    name=NAME,
    title="GQA's programs",
    about="GQA's questions with programs that a user has; without the scene graphs.",
    data=ProgramsData,
    inputs={"head": ("head.json",), "tail": ("tail.json",)},
    cases=programs,
    profiles=REAL,
)
GQA_PROGRAMS = bm.Interpreted(
    name=NAME,
    title="GQA, programs that compile",
    numbers=("gqa_programs/accuracy",),
    form="gqa_programs/IMAGE/QUESTION",
    table=(TRANSFER, 9),
    source=_PROGRAMS,
    logger=bm.Logger(
        name=NAME,
        about="An empty log an image: nothing of it is annotated.",
        source=_PROGRAMS,
        logs=lambda case, _: [bm.NamedLog(str(case.scene), EventLog())],
    ),
    rows=compiled,
    wordings=lambda case: [bm.Wording(n, q.question) for n, q in _questions.decode(case.record).items()],
    about={
        "answers": "A row a question: whether its program compiles.",
        "scores": "The share of programs that compile, with Wilson's interval.",
        MEASURED_ON: "questions of testdev, frequent and rare answers; no scene graphs, so none is answered",
    },
)
