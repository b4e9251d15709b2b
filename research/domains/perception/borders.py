"""Paths ► entries and exits: when a body enters the picture, and when it leaves."""

from __future__ import annotations

from collections.abc import Collection
from typing import Literal

import msgspec

from research.domains.perception.camera import Camera
from research.domains.perception.paths import Path, Piece

_LONGEST = 30
"""Most frames over which a body is followed back to the picture's border."""
_ENOUGH = 5
"""Places that a piece needs before it is followed beyond its end."""
_UNSURE = 2
"""Frames at a path's end within which a blow leaves too little to follow."""


class Crossing(msgspec.Struct, frozen=True):
    """A body that is missing in the first frames or the last ones: it entered, left, or was hidden.

    In ``frame`` its free motion crosses the picture's border; a frame at the video's end means that the body
    was always there.
    """

    object: int
    type: Literal["in", "out"]
    frame: int
    seen: int
    """The first frame in which the body was seen (entry), or the last (exit)."""
    ahead: int
    """Frames between the video's end on that side and ``frame``."""
    unseen: int
    """Frames between the video's end on that side and ``seen``."""
    count: int
    """Places to which the followed piece was fitted."""
    rests: bool


def crossings(path: Path, number: int, blows: Collection[int], last: int, camera: Camera) -> list[Crossing]:
    """The hypotheses of one body's entry and exit, as far as it may have entered or left.

    Args:
        path: the body's path.
        number: the body's number.
        blows: the last frames before its collisions.
        last: the video's last frame.
    """
    hypotheses: list[Crossing] = []
    if path.first > 0:
        end = min([blow for blow in blows if blow >= path.first + _UNSURE], default=path.last)
        piece = path.piece(path.first, end)
        frame = _entered(path, piece, camera)
        hypotheses.append(
            Crossing(number, "in", max(1, frame), path.first, frame, path.first, piece.count, piece.rests)
        )
    if path.last < last:
        start = max([blow + 1 for blow in blows if blow <= path.last - _UNSURE], default=path.first)
        piece = path.piece(start, path.last)
        frame = _left(path, piece, last, camera)
        hypotheses.append(
            Crossing(
                number,
                "out",
                min(last, frame),
                path.last,
                max(0, last + 1 - frame),
                last - path.last,
                piece.count,
                piece.rests,
            )
        )
    return hypotheses


def _entered(path: Path, piece: Piece, camera: Camera) -> int:
    frame = path.first
    if piece.count < _ENOUGH or piece.rests:
        return frame - 1
    while frame > 0 and path.first - frame < _LONGEST and camera.sees(path.kind, *piece.at(frame - 1)):
        frame -= 1
    return frame if frame == 0 or path.first - frame < _LONGEST else path.first - 1


def _left(path: Path, piece: Piece, last: int, camera: Camera) -> int:
    frame = path.last
    if piece.count < _ENOUGH:
        return frame + 2
    if piece.rests:
        return last + 1
    while frame <= last and frame - path.last < 2 * _LONGEST and camera.sees(path.kind, *piece.at(frame + 1)):
        frame += 1
    return frame + 1
