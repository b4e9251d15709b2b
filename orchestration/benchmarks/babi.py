"""bAbI: 20 tasks of short stories with questions.

A case holds the stories of a number, one per task. Its rows are sorted by question, then by task.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated, Any

import msgspec

from orchestration.benchmarks import benchmark as bm
from orchestration.benchmarks.real import MEASURED_ON
from orchestration.benchmarks.transfer import TRANSFER
from substrate.cause.explanation import Explanation
from substrate.cause.pictures import Pictured
from substrate.domains.babi.answers import answer_story
from substrate.domains.babi.deltas import story_log
from substrate.domains.babi.explain import explain_answer
from substrate.domains.babi.format import Story, read_tasks, task_number
from substrate.domains.babi.picture import picture_story
from substrate.domains.rows import Row
from substrate.generators.babi import TASKS
from substrate.generators.babi.release import WORLD

_stories = msgspec.json.Decoder(list[Story])


class BabiData(bm.Data, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """bAbI's data: a number of generated questions per task, the official files, or a user's folder."""

    questions: Annotated[int, bm.Natural] = 0
    tasks: str | None = None


def cases(files: bm.Files, only: bm.Only = None, unasked: bool = False) -> bm.Cases:
    """Read bAbI's cases: the stories of each number."""
    told: dict[int, list[Story]] = {}
    for story in sorted(read_tasks(files["tasks"]), key=lambda s: (s.scene, task_number(s.subset))):
        # Only the file's name: stored cases must not depend on its folder.
        named = msgspec.structs.replace(story, file=Path(story.file).name)
        told.setdefault(story.scene, []).append(named)
    scenes = bm.chosen(told, only)
    source = str(files["tasks"])
    each = (bm.Case(scene, source, msgspec.json.encode(told[scene]), bm.WITHIN) for scene in scenes)
    return bm.Cases(len(scenes), iter(each))


def logs(case: bm.Case, _: Any = None) -> list[bm.NamedLog]:
    """Make a log for each story, with a tick per sentence."""
    named: list[bm.NamedLog] = []
    for story in _stories.decode(case.record):
        name, source = f"{story.subset}/{story.scene:05d}", f"{story.file}:{story.lines[0].line}"
        named.append(bm.NamedLog(name, story_log(story), source))
    return named


def rows(case: bm.Case, logs: bm.Logs, _: Any, split: str) -> Iterable[Row]:
    """Make a row per question, with the facts behind its answer."""
    told = zip(_stories.decode(case.record), logs, strict=True)
    unsorted = [row for story, log in told for row in answer_story(story, log, split or None)]
    return sorted(unsorted, key=lambda row: (row.question, task_number(row.subset)))


def explain(case: bm.Case, logs: bm.Logs, _: Any, subset: str, question: str) -> Explanation | None:
    """Explain the answer to a question; ``None`` if there is no such question."""
    for story, log in zip(_stories.decode(case.record), logs, strict=True):
        if story.subset == subset and any(str(candidate.id) == question for candidate in story.questions):
            return explain_answer(story, int(question), log)
    return None


def picture(case: bm.Case, why: Explanation, row: Row) -> Pictured:
    """Draw a row's story up to its question, with the sentences behind the answer."""
    story = next(story for story in _stories.decode(case.record) if story.subset == row.subset)
    return picture_story(story, int(row.question), why)


def wordings(case: bm.Case) -> Iterator[bm.Wording]:
    """The text of the questions about a case's stories."""
    for story in _stories.decode(case.record):
        for question in story.questions:
            yield bm.Wording(str(question.id), question.text, subset=story.subset)


STORIES = bm.Source(
    name="babi",
    title="bAbI",
    about="bAbI's 20 tasks: stories told by a little world with gold of its own, or the official test files.",
    data=BabiData,
    inputs={"tasks": (".",)},
    cases=cases,
    official=bm.Release("test", "test files"),
    world=(WORLD,),
)
BABI = bm.Explained(
    name="babi",
    title="bAbI",
    numbers=(
        *(f"babi/qa{task}/accuracy" for task in range(1, len(TASKS) + 1)),
        "babi/mean/accuracy",
        "babi/mean/supporting",
    ),
    form="babi/TASK/STORY/QUESTION",
    table=(TRANSFER, 3),
    source=STORIES,
    logger=bm.Logger(
        name="babi",
        about="One event log a story, a tick a sentence.",
        source=STORIES,
        logs=logs,
        shapes="babi",
    ),
    rows=rows,
    explain=explain,
    picture=picture,
    wordings=wordings,
    examples={"bAbI, three supporting facts": "qa3"},
    declared={"answers": lambda data: len(TASKS) * data.questions},
    about={
        "answers": "A row a question, with the facts that its answer rests on.",
        "scores": "Accuracy of each task, and how often the supporting facts are the file's, with intervals.",
        MEASURED_ON: "training files of en",
    },
)
