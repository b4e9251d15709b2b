"""What ComPhy's stages do to a share of targets; runs inside Spark's workers.

Its answers are computed twice: as ``comphy`` in the paper's setting, where nothing hidden is inferred, and
as ``comphy_inferred`` with mass and charge read off the reference videos and motion simulated.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from orchestration.benchmarks.clevrer import log_name
from orchestration.pipeline.logs import write_log
from substrate.domains.comphy.deltas import target_log
from substrate.domains.comphy.format import TargetNames, TargetQuestions, read_questions, read_target
from substrate.domains.comphy.interpreter import answer_target
from substrate.domains.comphy.parameters import Parameters
from substrate.log import EventLog
from substrate.rows import encode


@dataclass(frozen=True)
class WriteLogs:
    """Annotations of targets and references ► event log files; gives the index's lines."""

    annotations: Path
    names: dict[int, TargetNames]
    root: Path
    infer_properties: bool
    out: Path

    def __call__(self, targets: Sequence[int]) -> Iterator[str]:
        """The index's lines of the targets, in order."""
        for number in targets:
            target = read_target(self.annotations, number, self.names[number])
            source = (self.annotations / self.names[number].target).relative_to(self.root).as_posix()
            yield write_log(
                self.out, log_name(number), target_log(target, infer_properties=self.infer_properties), source
            )


@dataclass(frozen=True)
class Answer:
    """Event logs and questions ► rows."""

    logs: Path
    questions: Path
    parameters: Parameters
    benchmark: str
    split: str

    def __call__(self, targets: Sequence[int]) -> Iterator[str]:
        """The rows of the targets' questions as JSON lines, in order."""
        asked = _questions(self.questions)
        for number in targets:
            log = EventLog.read(self.logs / log_name(number))
            questions = asked[number].questions
            for row in answer_target(log, number, questions, self.parameters, self.split, self.benchmark):
                yield encode(row).decode()


@lru_cache(maxsize=1)
def _questions(path: Path) -> dict[int, TargetQuestions]:
    return read_questions(path)


def questions_of(folder: Path) -> Path:
    """A dataset folder's question file."""
    return folder / "questions.json"
