"""What GQA's stages do to a share of images; runs inside Spark's workers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from orchestration.pipeline.logs import write_log
from substrate.domains.gqa.format import (
    QUESTIONS_FILE,
    SCENE_GRAPHS_FILE,
    Question,
    SceneGraphs,
    read_questions,
    read_scene_graphs,
)
from substrate.domains.gqa.interpreter import answer_scene
from substrate.domains.gqa.scene import Scene
from substrate.log import EventLog
from substrate.rows import encode


def log_name(image: str) -> str:
    """The file name of an image's event log in its log folder."""
    return f"{image}.rdfp"


@dataclass(frozen=True)
class WriteLogs:
    """Scene graphs ► event log files; gives the index's lines."""

    scene_graphs: Path
    out: Path

    def __call__(self, images: Sequence[str]) -> Iterator[str]:
        """The index's lines of the images, in order."""
        from substrate.domains.gqa.deltas import scene_log

        for image in images:
            yield write_log(
                self.out,
                log_name(image),
                scene_log(image, _scene_graphs(self.scene_graphs)[image]),
                f"{self.scene_graphs.name}:{image}",
            )


@dataclass(frozen=True)
class Answer:
    """Event logs and questions ► rows, objects resolved by name and by id."""

    logs: Path
    questions: Path
    split: str

    def __call__(self, images: Sequence[str]) -> Iterator[str]:
        """The rows of the images' questions, in order."""
        for image in images:
            scene = Scene(image, EventLog.read(self.logs / log_name(image)))
            for row in answer_scene(scene, _questions(self.questions)[image], self.split):
                yield encode(row).decode()


@lru_cache(maxsize=1)
def _scene_graphs(path: Path) -> SceneGraphs:
    return read_scene_graphs(path)


@lru_cache(maxsize=1)
def _questions(path: Path) -> dict[str, dict[str, Question]]:
    return read_questions(path)


def scene_graphs_of(folder: Path) -> Path:
    """A dataset folder's scene graphs."""
    return folder / SCENE_GRAPHS_FILE


def questions_of(folder: Path) -> Path:
    """A dataset folder's question file."""
    return folder / QUESTIONS_FILE
