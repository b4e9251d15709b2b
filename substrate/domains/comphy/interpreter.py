"""Questions ► answers: each question's program runs on its target and gives one row."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from substrate.domains.clevrer.interpreter import Language, rows
from substrate.domains.clevrer.program import World
from substrate.domains.comphy.format import Question, same_answer
from substrate.domains.comphy.parameters import Parameters
from substrate.domains.comphy.program import run, run_choices
from substrate.domains.comphy.scene import TargetScene
from substrate.domains.rows import Row
from substrate.log.event_log import EventLog


def answer_target(
    log: EventLog,
    scene_index: int,
    questions: Iterable[Question],
    parameters: Parameters,
    split: str,
    benchmark: str = "comphy",
) -> Iterator[Row]:
    """Answer each question about a target with one row, in question order.

    Args:
        log: the target's event log, made with or without inferred properties.
        scene_index: the target's number in its split.
        split: the name of the split, for the rows.
        benchmark: the benchmark's name, for the rows: ComPhy is answered in two settings.

    If a program cannot run, its row has the answer ``error`` with the reason, and counts as wrong.
    """
    common = {"benchmark": benchmark, "split": split, "scene": scene_index, "log": log.digest}
    return rows(
        questions,
        World(TargetScene.of(log), parameters),
        Language(run, run_choices, same_answer),
        lambda question: question.subset,
        common,
    )
