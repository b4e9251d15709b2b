"""A page for each perceived video: proposals, tracks, events with how sure they are, questions and chains."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import groupby, islice
from pathlib import Path
from typing import NamedTuple

import jinja2
import msgspec

from orchestration.benchmarks.perceived import PERCEIVED, look, truth_of
from orchestration.lineage.explain import ExplainedRow, explain_rows
from orchestration.rendering.page import RIGHT
from orchestration.rendering.worked import Worked
from orchestration.scoring.counting import rows_of
from orchestration.workspace.folders import Workspace
from substrate.cause.pictures import Timeline
from substrate.domains.clevrer.format import SceneQuestions
from substrate.domains.clevrer.perception.judge import Happening, Loss, gold_of, happenings, lost
from substrate.domains.clevrer.perception.parameters import Perception
from substrate.domains.clevrer.perception.perceive import Video
from substrate.domains.clevrer.perception.picture import drawn, slips, timeline
from substrate.domains.rows import Row

MOST = 24
"""The number of videos that have a page: the first with an answer that is not right, else the first."""


class Asked(NamedTuple):
    """A question of a video: its words, its worked answer, and what that was lost to where it is wrong."""

    text: str
    worked: Worked
    loss: Loss | None


class VideoPage(NamedTuple):
    """A page, and by stage how many wrong answers on it were lost there."""

    scene: int
    place: str
    wrong: int
    stages: Counter[str]


def write_videos(workspace: Workspace, jinja: jinja2.Environment, out: Path) -> list[VideoPage]:
    """Write the pages of perceived videos.

    Args:
        out: the report's folder.
    """
    file = workspace.artifacts / PERCEIVED.name / "answers.jsonl"
    if not file.is_file() or not file.stat().st_size:
        return []
    template, pages = jinja.get_template("video.html.j2"), list[VideoPage]()
    (out / "videos").mkdir()
    parameters: Perception = PERCEIVED.parameters.of(workspace.settings)
    explained = explain_rows(workspace, PERCEIVED, _chosen(file))
    for scene, rows in groupby(explained, key=lambda one: int(one.row.scene)):
        video, lanes, asked, events = _looked_at(list(rows), parameters)
        stages = Counter(one.loss.stage for one in asked if one.loss)
        wrong = sum(one.worked.row.correct is False for one in asked)
        pages.append(VideoPage(scene, f"videos/{scene:05d}.html", wrong, stages))
        page = template.render(
            profile=workspace.settings.profile,
            scene=scene,
            seen=video.seen,
            drawn=list(drawn(video, parameters.belief)),
            slips=list(slips(video)),
            timeline=lanes,
            events=events,
            asked=asked,
            up="../",
        )
        (out / pages[-1].place).write_text(page, "utf-8")
    return pages


def _chosen(file: Path) -> list[Row]:
    """The rows that are not right of the first videos that have some, and the first others of each."""
    rows = list(rows_of(file))
    wrong = dict.fromkeys(row.scene for row in rows if row.correct is False)
    found: list[Row] = []
    for scene in islice(wrong | dict.fromkeys(row.scene for row in rows), MOST):
        of_scene = [row for row in rows if row.scene == scene]
        found += [row for row in of_scene if row.correct is False]
        found += [row for row in of_scene if row.correct is not False][:RIGHT]
    return sorted(found, key=lambda row: (int(row.scene), int(row.question)))


def _looked_at(
    rows: Sequence[ExplainedRow], parameters: Perception
) -> tuple[Video, Timeline, list[Asked], list[Happening]]:
    """A video, its timeline, its questions with their answers, and its events beside the truth."""
    case = rows[0].case
    (video, found), truth = look(case, parameters), truth_of(case)
    questions = msgspec.json.decode(case.questions, type=SceneQuestions).questions
    by_number = {question.question_id: question for question in questions}
    events = happenings(found, gold_of(truth) if truth else None)
    lanes, asked = timeline(video, events), list[Asked]()
    for name, row, _, why in rows:
        question = by_number[int(row.question)]
        loss = lost(video, found, truth, question, parameters) if truth and row.correct is False else None
        asked.append(Asked(question.question, Worked(name, why, row, lanes, (), telling=False), loss))
    return video, lanes, asked, events
