"""What bAbI's stages do to a share of stories; runs inside Spark's workers.

A story is named by its task and its number in the task's file. Rows are sorted by the story's number,
then by question, then by task.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from orchestration.pipeline.logs import write_log
from substrate.domains.babi.deltas import story_log
from substrate.domains.babi.format import SUBSETS, Story, read_tasks
from substrate.domains.babi.interpreter import answer_story
from substrate.log import EventLog
from substrate.rows import Row, encode


def log_name(story: Story) -> str:
    """The file name of a story's event log in its log folder."""
    return f"{story.subset}/{story.scene:05d}.rdfp"


def sorted_rows(rows: Iterable[Row]) -> list[Row]:
    """Rows by story, question and task."""
    return sorted(rows, key=lambda row: (row.scene, row.question, SUBSETS.index(row.subset)))


def stories_by_scene(stories: Iterable[Story]) -> dict[int, list[Story]]:
    """The stories of each number, one a task, ascending."""
    found: dict[int, list[Story]] = {}
    for story in sorted(stories, key=lambda s: (s.scene, SUBSETS.index(s.subset))):
        found.setdefault(story.scene, []).append(story)
    return found


@dataclass(frozen=True)
class WriteLogs:
    """Stories ► event log files; gives the index's lines."""

    tasks: Path
    out: Path

    def __call__(self, scenes: Sequence[int]) -> Iterator[str]:
        """The index's lines of the stories, by number and task."""
        for scene in scenes:
            for story in _stories(self.tasks)[scene]:
                yield write_log(
                    self.out,
                    log_name(story),
                    story_log(story),
                    f"{Path(story.file).name}:{story.lines[0].line}",
                )


@dataclass(frozen=True)
class Answer:
    """Event logs and stories ► rows."""

    logs: Path
    tasks: Path
    split: str

    def __call__(self, scenes: Sequence[int]) -> Iterator[str]:
        """The rows of the stories, in order."""
        for scene in scenes:
            rows: list[Row] = []
            for story in _stories(self.tasks)[scene]:
                rows += answer_story(story, EventLog.read(self.logs / log_name(story)), self.split)
            for row in sorted_rows(rows):
                yield encode(row).decode()


@lru_cache(maxsize=1)
def _stories(tasks: Path) -> dict[int, list[Story]]:
    return stories_by_scene(read_tasks(tasks))


def scene_numbers(tasks: Path) -> list[int]:
    """The numbers that stories of a folder of tasks have, ascending."""
    return list(stories_by_scene(read_tasks(tasks)))
