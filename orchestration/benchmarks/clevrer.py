"""What CLEVRER's stages do to a share of scenes; runs inside Spark's workers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from orchestration.pipeline.logs import read_index, write_log
from substrate.domains.clevrer.deltas import annotation_log, events_log
from substrate.domains.clevrer.format import (
    SceneEvents,
    SceneQuestions,
    annotation_sources,
    decode_annotation,
    read_questions,
    read_scene_events,
)
from substrate.domains.clevrer.humans import HumanScene, answer_humans, read_human_questions
from substrate.domains.clevrer.interpreter import answer_scene
from substrate.domains.clevrer.parameters import Parameters
from substrate.errors import FormatError
from substrate.log import EventLog
from substrate.rows import encode


def log_name(scene: int) -> str:
    """The file name of a scene's event log."""
    return f"{scene:05d}.rdfp"


@dataclass(frozen=True)
class WriteLogs:
    """Annotations ► event log files; gives the index's lines."""

    annotations: Path
    names: dict[int, str]
    root: Path
    out: Path

    def __call__(self, scenes: Sequence[int]) -> Iterator[str]:
        """The index's lines of the scenes, in scene order."""
        for scene, source in zip(
            scenes, annotation_sources(self.annotations, [self.names[s] for s in scenes]), strict=True
        ):
            annotation = decode_annotation(source)
            if annotation.scene_index != scene:
                raise FormatError(
                    f"scene_index is {annotation.scene_index}",
                    where=(source[0], "$.scene_index"),
                    hint=f"The file's name says {scene}",
                )
            log = annotation_log(annotation)
            name = self.annotations.relative_to(self.root) / self.names[scene]
            yield write_log(self.out, log_name(scene), log, name.as_posix())


@dataclass(frozen=True)
class Answer:
    """Event logs and questions ► rows."""

    logs: Path
    questions: Path
    parameters: Parameters
    split: str

    def __call__(self, scenes: Sequence[int]) -> Iterator[str]:
        """The rows of the scenes' questions as JSON lines, in order."""
        questions = questions_by_scene(self.questions)
        for scene in scenes:
            log = EventLog.read(self.logs / log_name(scene))
            for row in answer_scene(log, scene, questions[scene].questions, self.parameters, self.split):
                yield encode(row).decode()


@lru_cache(maxsize=1)
def questions_by_scene(path: Path) -> dict[int, SceneQuestions]:
    """A question file, read once a worker."""
    return read_questions(path)


def require_scenes(asked: Iterable[int], there: Iterable[int], questions: Path, input_: Path) -> list[int]:
    """The scenes that questions ask about, ascending.

    Raises:
        FormatError: the input lacks one of them.
    """
    asked = sorted(asked)
    if missing := sorted(set(asked).difference(there)):
        more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
        raise FormatError(
            f"asks about scene {missing[0]}{more}, which {input_} lacks",
            where=(questions,),
            hint="Give the scenes that are asked about, or leave their questions out",
        )
    return asked


def annotations_of(folder: Path) -> Path:
    """Where a dataset folder keeps its annotations: the official zip, or a folder."""
    archive = folder / "annotation_validation.zip"
    return archive if archive.exists() else folder / "annotation"


def questions_of(folder: Path) -> Path:
    """A dataset folder's question file, official or generated."""
    official = folder / "validation.json"
    return official if official.exists() else folder / "questions.json"


def scenes_of(logs: Path) -> list[int]:
    """The scenes that a log folder holds, by its index."""
    return [int(entry.file.partition(".")[0]) for entry in read_index(logs)]


@dataclass(frozen=True)
class WriteEventLogs:
    """Compact event records ► event log files; gives the index's lines."""

    events: Path
    out: Path

    def __call__(self, scenes: Sequence[int]) -> Iterator[str]:
        """The index's lines of the scenes, in order."""
        records = _events(self.events)
        for scene in scenes:
            yield write_log(
                self.out, log_name(scene), events_log(records[scene]), f"{self.events.name}:{scene}"
            )


@dataclass(frozen=True)
class AnswerHumans:
    """Event logs and human causal questions ► rows."""

    logs: Path
    questions: Path
    parameters: Parameters
    split: str

    def __call__(self, scenes: Sequence[int]) -> Iterator[str]:
        """The rows of the scenes' questions as JSON lines, in order."""
        records = _human_questions(self.questions)
        for scene in scenes:
            for row in answer_humans(
                EventLog.read(self.logs / log_name(scene)), scene, records[scene], self.parameters, self.split
            ):
                yield encode(row).decode()


@lru_cache(maxsize=1)
def _events(path: Path) -> dict[int, SceneEvents]:
    return read_scene_events(path)


@lru_cache(maxsize=1)
def _human_questions(path: Path) -> dict[int, HumanScene]:
    return read_human_questions(path)
