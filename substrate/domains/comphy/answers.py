"""The answers to a target's questions, as rows; ``program.py`` runs the programs behind them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from substrate.domains.clevrer.answers import Language, rows
from substrate.domains.comphy.format import Question, same_answer
from substrate.domains.comphy.parameters import Parameters
from substrate.domains.comphy.program import run, run_choices
from substrate.domains.comphy.scene import Emitter, opened
from substrate.domains.rows import Row
from substrate.log.event_log import EventLog


def answer_target(
    log: EventLog,
    scene_index: int,
    questions: Iterable[Question],
    parameters: Parameters,
    split: str,
    benchmark: str = "comphy",
    simulator: Emitter | None = None,
) -> Iterator[Row]:
    """Answer each question about a target with one row, in question order.

    Args:
        log: the target's event log, made with or without inferred properties.
        scene_index: the number of the target video in its split.
        split: the name of the split, for the rows.
        benchmark: the benchmark's name, for the rows: ComPhy is answered in two settings.
        simulator: makes the worlds that were not filmed, if :attr:`Parameters.emitter` is ``motion``. The
            package ``research`` has such an emitter; this package has none.

    If a program cannot run, its row has the answer ``error`` with the reason, and counts as wrong.
    """
    common = {"benchmark": benchmark, "split": split, "scene": scene_index, "log": log.digest}
    return rows(
        questions,
        opened(log, parameters, simulator),
        Language(run, run_choices, same_answer),
        lambda question: question.subset,
        common,
    )
