"""A perceived video as data for a page: proposals and paths in the picture, events on objects' lanes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

import numpy as np

from research.domains.perception.belief import BELIEF, Belief
from research.domains.perception.judge import JudgedEvent
from research.domains.perception.perceive import ExaminedVideo
from substrate.cause.pictures import Lane, Mark, Scale, Span, Timeline


class DrawnObject(NamedTuple):
    """An object in the picture: the centres of its boxes, and its path, as SVG path data in pixels."""

    label: str
    color: str
    seen: str
    path: str


def drawn(video: ExaminedVideo, belief: Belief = BELIEF) -> Iterator[DrawnObject]:
    """The objects in the picture: the centres of their detected boxes, and of the boxes along their paths."""
    for number, path in enumerate(video.paths):
        boxes = video.seen.boxes[list(video.objects[path.look].values())]
        line: list[str] = []
        for piece, end in video.pieces(number, belief):
            places = np.array([piece.at(frame) for frame in range(piece.start, end + 1)])
            yaw = np.full(len(places), np.pi / 8)
            line += _centres(video.camera.boxes(path.kind, places[:, 0], places[:, 1], yaw))
        dots = "".join(f"M{centre}h0" for centre in _centres(boxes))
        yield DrawnObject(" ".join(path.look), path.look[0], dots, f"M{'L'.join(line)}")


def _centres(boxes: np.ndarray) -> Iterator[str]:
    for left, top, right, bottom in boxes.tolist():
        yield f"{(left + right) / 2:.1f} {(top + bottom) / 2:.1f}"


def slips(video: ExaminedVideo) -> Iterator[tuple[str, str]]:
    """The proposals whose labels were corrected or dropped: place in the picture, and label with frame."""
    taken = {(place, label) for label, track in video.objects.items() for place in track.values()}
    for place, label in enumerate(video.seen.looks):
        if (place, label) not in taken:
            (centre,) = _centres(video.seen.boxes[place : place + 1])
            yield centre, f"{' '.join(label)}, frame {video.seen.frames[place]}"


def timeline(video: ExaminedVideo, events: Sequence[JudgedEvent]) -> Timeline:
    """The frames in which each object was seen, and its events, believed or not."""
    x = Scale(video.seen.last)
    lanes = [
        Lane(
            f"{number} · {' '.join(path.look)}",
            [Span(x(start), x(stop)) for start, stop in _runs(path.frames.tolist())],
        )
        for number, path in enumerate(video.paths)
    ]
    marks = [
        Mark(x(e.frame), e.frame, e.kind, e.who, "" if e.believed else "suspected", e.words)
        for e in events
        if e.frame is not None
    ]
    axis = [(x(tick), tick) for tick in (*range(0, video.seen.last - 12, 25), video.seen.last)]
    return Timeline(lanes, marks, axis, "frame", x(video.seen.last))


def _runs(frames: Sequence[int]) -> Iterator[tuple[int, int]]:
    """The first and last frame of each run without a gap.

    >>> list(_runs([3, 4, 5, 9]))
    [(3, 5), (9, 9)]
    """
    for _, run in groupby(enumerate(frames), key=lambda pair: pair[1] - pair[0]):
        numbers = [frame for _, frame in run]
        yield numbers[0], numbers[-1]
