"""The answers to a scene's questions, as rows.

``program.py`` types a program; then each step runs its entry of
:data:`~substrate.domains.gqa.operations.OPCODES`.

Objects are found in two ways, which are two experiments: ``name`` reads the program as language, ``id`` uses
the ids in the program. The gold answer is never read before the prediction is made.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from substrate.base.errors import ParameterError, SubstrateError
from substrate.domains.gqa.format import Question
from substrate.domains.gqa.operations import Instruction, Judgement, Resolve, Result, Word, run_step
from substrate.domains.gqa.program import compile_program
from substrate.domains.gqa.scene import Scene
from substrate.domains.rows import Row, graded

SUBSETS: Mapping[Resolve, str] = {"name": "by_name", "id": "by_id"}
"""The subset of a row, by the way its objects are found."""


def predict(scene: Scene, question: Question, *, resolve: Resolve = "name") -> str:
    """The answer to a question about a scene.

    >>> from substrate.domains.gqa.format import Operation, SceneGraph, SceneObject
    >>> cup = SceneObject(name="cup", x=60, y=0, w=10, h=10, attributes=["red"])
    >>> scene = Scene.of("7", SceneGraph(width=100, height=100, objects={"1": cup}))
    >>> ask = [Operation("select", "cup (1)", []), Operation("query", "hposition", [0])]
    >>> predict(scene, Question("7", "On which side is the cup?", ask))
    'right'

    Raises:
        ProgramError: the program cannot run on this scene.
        FormatError: the program is malformed.
    """
    return _predicted(scene, question, compile_program(question.semantic), resolve)


def _predicted(scene: Scene, question: Question, steps: Sequence[Instruction], resolve: Resolve) -> str:
    results: dict[int, Result] = {}
    for step in steps:
        results[step.position] = run_step(scene, step, results, resolve=resolve)
    return answer_of(scene, question, steps[-1], results[len(steps) - 1])


def answer_of(scene: Scene, question: Question, last: Instruction, result: Result) -> str:
    """The answer that a program's last step gives.

    A chosen value has the question's own spelling: "metallic or wooden?" is answered "wooden", not "wood".
    """
    word = text_of(result)
    if last.operation != "choose":
        return word
    question_words = set(re.findall(r"[\w'-]+", question.question.lower()))
    if word in question_words:
        return word
    return next((spelling for spelling in scene.ontology.spellings(word) if spelling in question_words), word)


def text_of(result: Result) -> str:
    """The result of a last step as the answer's text."""
    if isinstance(result, Word):
        return result.word
    return "yes" if isinstance(result, Judgement) and result.holds else "no"


def answer_scene(
    scene: Scene,
    questions: Mapping[str, Question],
    split: str,
    *,
    resolve: Resolve | None = None,
    benchmark: str = "gqa",
) -> list[Row]:
    """Answer each question about a scene with one row per way to find objects, by question and subset.

    Args:
        scene: the image's event log, opened.
        questions: question id to question.
        split: the name of the split, for the rows.
        resolve: the way to find objects, by ``name`` or by the program's ``id``; by default both.
        benchmark: the benchmark's name, for the rows.

    If a program cannot run on its scene, its row has the answer ``error`` with the reason, and counts as
    wrong.

    Raises:
        ParameterError: ``resolve`` is unknown.
    """
    if resolve is not None and resolve not in SUBSETS:
        raise ParameterError(f"resolve is {resolve!r}", hint=f"Give one of {', '.join(SUBSETS)}")
    ways: Iterable[Resolve] = SUBSETS if resolve is None else (resolve,)
    common = dict[str, Any](benchmark=benchmark, split=split, scene=scene.image_id, log=scene.digest)
    rows: list[Row] = []
    for number, question in questions.items():
        program: Sequence[Instruction] = ()
        for way in ways:
            try:
                program = program or compile_program(question.semantic)
                predicted, error = _predicted(scene, question, program, way), None
            except SubstrateError as fault:
                predicted, error = "error", str(fault)
            rows.append(
                graded(predicted, question.answer, error, subset=SUBSETS[way], question=number, **common)
            )
    return sorted(rows, key=lambda row: (str(row.question), row.subset))
