"""Meetings in Smallville's real simulation: its event log's answers against its file's."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from itertools import combinations
from pathlib import Path
from typing import Any

from orchestration.benchmarks import benchmark as bm
from orchestration.benchmarks.real import MEASURED_ON
from orchestration.scoring.counting import RIGHT, Metric, Rows
from research.benchmarks import OFFICIAL
from research.benchmarks.filmed import TABLE
from research.domains.village.log import movement_log
from research.domains.village.meetings import EVERY, by_log, by_reader, personas
from research.domains.village.movements import parse_movements
from substrate.base.inputs import read_bytes
from substrate.domains.rows import Row

NAME = "met"
NEVER = "never"
LOG, ADDRESS = "log", "address"
"""The readings compared with the truth: by the log, and by addresses, as if nobody were ever on the way."""


class MetData(bm.Data, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The movement file of a simulation."""

    movements: str | None = None


def cases(files: bm.Files, only: Collection[Any] | None = None, unasked: bool = False) -> bm.Cases:
    """The simulation; each pair of its personas is a question."""
    path: Path = files["movements"]
    scenes = bm.chosen([0], only)
    return bm.Cases(len(scenes), (bm.Case(scene, str(path), read_bytes(path), bm.WITHIN) for scene in scenes))


def logs(case: bm.Case, _: Any = None) -> list[bm.NamedLog]:
    """The log of the simulation, one tick per step."""
    return [bm.NamedLog("0", movement_log(parse_movements(case.record, case.source)))]


def rows(case: bm.Case, logs: bm.Logs, _: Any, split: str) -> Iterable[Row]:
    """Two rows per pair, by the log and by addresses; a pair is named by its places in the sorted names."""
    readings = {LOG: by_log(logs[0]), ADDRESS: by_reader(case.record, by_address=True)}
    truth = by_reader(case.record)
    for (first_place, first), (second_place, second) in combinations(enumerate(personas(case.record)), 2):
        for name, answers in readings.items():
            predicted, expected = (reading.get((first, second), NEVER) for reading in (answers, truth))
            question, correct = f"{first_place:02d}-{second_place:02d}", predicted == expected
            about = {"benchmark": NAME, "split": split, "subset": name, "scene": case.scene}
            answer = {"predicted": predicted, "expected": expected, "correct": correct}
            yield Row(**about, question=question, **answer, log=logs[0].digest)


def ever(rows: Rows) -> tuple[int, int]:
    """The score of a row on whether the two met at all."""
    return int((rows[0].predicted == NEVER) == (rows[0].expected == NEVER)), 1


SIMULATION = bm.Source(
    name=NAME,
    title="Smallville's real simulation",
    about="The movement file of a Generative Agents simulation: what each persona did, step by step.",
    data=MetData,
    inputs={"movements": ("movements.json",)},
    cases=cases,
    official=bm.Release("simulation", "simulation"),
    note=f", whose gold is read off the file by code that knows no log; a moment is every {EVERY}th step",
    profiles=OFFICIAL,
)
MET = bm.Interpreted(
    name=NAME,
    title="Who met whom in Smallville",
    numbers=tuple(f"{NAME}/{way}/{metric}" for way in (LOG, ADDRESS) for metric in ("accuracy", "ever")),
    form=f"{NAME}/{LOG}|{ADDRESS}/SCENE/PAIR",
    table=(TABLE, 3),
    source=SIMULATION,
    logger=bm.Logger(
        name=NAME,
        about="The event log of a recorded simulation: its records, and the facts that the rules derive.",
        source=SIMULATION,
        logs=logs,
        shapes="village",
    ),
    rows=rows,
    metrics={"accuracy": RIGHT, "ever": Metric(ever)},
    no_interval=(LOG, ADDRESS),
    about={
        "answers": "A row a pair and way: when the two first met, how often, and how long they are together.",
        "scores": "Accuracy over all pairs: of the whole answer, and of whether the two met at all.",
        MEASURED_ON: "pairs of 25 personas; gold by code that reads the file and knows no log",
    },
)
