"""A page for each perceived video: proposals, tracks, events with how sure they are, questions and chains."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby, islice
from pathlib import Path
from typing import NamedTuple

import jinja2
import msgspec
import numpy as np

from orchestration.benchmarks.perceived import PERCEIVED, look, truth_of
from orchestration.lineage.explain import ExplainedRow, explain_rows
from orchestration.rendering.page import RIGHT
from orchestration.rendering.worked import Worked
from orchestration.workspace.folders import Workspace
from substrate.cause.pictures import Lane, Mark, Scale, Span, Timeline
from substrate.domains.clevrer.format import SceneQuestions
from substrate.domains.clevrer.perception.belief import Belief
from substrate.domains.clevrer.perception.judge import Happening, Loss, gold_of, happenings, lost
from substrate.domains.clevrer.perception.parameters import Perception
from substrate.domains.clevrer.perception.perceive import Video
from substrate.domains.rows import Row, decode

MOST = 24
"""The number of videos that have a page: the first with an answer that is not right, else the first."""


class Drawn(NamedTuple):
    """An object in the picture: the centres of its boxes, and its path, as SVG path data in pixels."""

    label: str
    color: str
    seen: str
    path: str


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
        video, timeline, asked, events = _looked_at(list(rows), parameters)
        stages = Counter(one.loss.stage for one in asked if one.loss)
        wrong = sum(one.worked.row.correct is False for one in asked)
        pages.append(VideoPage(scene, f"videos/{scene:05d}.html", wrong, stages))
        page = template.render(
            profile=workspace.settings.profile,
            scene=scene,
            seen=video.seen,
            drawn=list(_drawn(video, parameters.belief)),
            slips=list(_slips(video)),
            timeline=timeline,
            events=events,
            asked=asked,
            up="../",
        )
        (out / pages[-1].place).write_text(page, "utf-8")
    return pages


def _chosen(file: Path) -> list[Row]:
    """The rows that are not right of the first videos that have some, and the first others of each."""
    with file.open("rb") as lines:
        rows = list(map(decode, lines))
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
    timeline, asked = _timeline(video, events), list[Asked]()
    for name, row, _, why in rows:
        question = by_number[int(row.question)]
        loss = lost(video, found, truth, question, parameters) if truth and row.correct is False else None
        asked.append(Asked(question.question, Worked(name, why, row, timeline, (), telling=False), loss))
    return video, timeline, asked, events


def _drawn(video: Video, belief: Belief) -> Iterator[Drawn]:
    """The objects in the picture: the centres of their boxes as detected, and as their paths say."""
    for number, path in enumerate(video.paths):
        boxes = video.seen.boxes[list(video.objects[path.look].values())]
        ends = [blow for blow in video.blows(number, belief) if path.first <= blow < path.last]
        line: list[str] = []
        for start, end in zip([path.first, *(end + 1 for end in ends)], [*ends, path.last], strict=True):
            places = np.array([path.piece(start, end).at(frame) for frame in range(start, end + 1)])
            yaw = np.full(len(places), np.pi / 8)
            line += _centres(video.camera.boxes(path.kind, places[:, 0], places[:, 1], yaw))
        dots = "".join(f"M{one}h0" for one in _centres(boxes))
        yield Drawn(" ".join(path.look), path.look[0], dots, f"M{'L'.join(line)}")


def _centres(boxes: np.ndarray) -> Iterator[str]:
    for left, top, right, bottom in boxes.tolist():
        yield f"{(left + right) / 2:.1f} {(top + bottom) / 2:.1f}"


def _slips(video: Video) -> Iterator[tuple[str, str]]:
    """The proposals that were not taken as labelled: their place in the picture, and their label."""
    taken = {(place, label) for label, track in video.objects.items() for place in track.values()}
    for place, label in enumerate(video.seen.looks):
        if (place, label) not in taken:
            (centre,) = _centres(video.seen.boxes[place : place + 1])
            yield centre, f"{' '.join(label)}, frame {video.seen.frames[place]}"


def _timeline(video: Video, events: Sequence[Happening]) -> Timeline:
    """The frames in which each object was seen, and its events, those that are not believed too."""
    x = Scale(video.seen.last)
    lanes = [
        Lane(
            f"{number} · {' '.join(path.look)}",
            [Span(x(start), x(stop)) for start, stop in _runs(path.frames.tolist())],
        )
        for number, path in enumerate(video.paths)
    ]
    marks = [
        Mark(x(one.frame), one.frame, one.kind, one.who, "" if one.believed else "suspected", one.words)
        for one in events
        if one.frame is not None
    ]
    axis = [(x(tick), tick) for tick in (*range(0, video.seen.last - 12, 25), video.seen.last)]
    return Timeline(lanes, marks, axis, "frame", x(video.seen.last))


def _runs(frames: Sequence[int]) -> Iterator[tuple[int, int]]:
    """The first and last frame of each run without a gap.

    >>> list(_runs([3, 4, 5, 9]))
    [(3, 5), (9, 9)]
    """
    for _, run in groupby(enumerate(frames), key=lambda one: one[1] - one[0]):
        numbers = [frame for _, frame in run]
        yield numbers[0], numbers[-1]
