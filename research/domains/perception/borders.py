"""Paths ► entries and exits: when a body enters the picture, and when it leaves."""

from __future__ import annotations

from collections.abc import Collection
from typing import Literal

import msgspec

from research.domains.perception.camera import Camera
from research.domains.perception.paths import BodyPath, Piece

_LONGEST = 30
"""Most frames over which a body is followed back to the picture's border."""
_ENOUGH = 5
"""Places that a piece needs before it is followed beyond its end."""
_UNSURE = 2
"""Frames at a path's end within which a blow leaves too little to follow."""


class Crossing(msgspec.Struct, frozen=True):
    """A body that is missing in the first frames or the last ones: it entered, left, or was hidden.

    In ``frame`` its free motion crosses the picture's border. If ``ahead`` is 0, it crosses none: the body
    was there from the first frame, or to the last.
    """

    object: int
    type: Literal["in", "out"]
    frame: int
    seen: int
    """The first frame in which the body was seen (entry), or the last (exit)."""
    ahead: int
    """Frames from the video's beginning to the entry, or from the exit to the video's end."""
    unseen: int
    """Frames before the body was first seen (entry), or after it was last seen (exit)."""
    count: int
    """Places to which the followed piece was fitted."""
    rests: bool


def crossings(
    path: BodyPath, number: int, blows: Collection[int], last: int, camera: Camera
) -> list[Crossing]:
    """The hypotheses of one body's entry and exit, each if the body is not seen at that end of the video.

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
        unseen, entered = path.first, max(1, frame)
        hypotheses.append(
            Crossing(number, "in", entered, path.first, frame, unseen, piece.count, piece.rests)
        )
    if path.last < last:
        start = max([blow + 1 for blow in blows if blow <= path.last - _UNSURE], default=path.first)
        piece = path.piece(start, path.last)
        frame = _left(path, piece, last, camera)
        ahead, unseen, left = max(0, last + 1 - frame), last - path.last, min(last, frame)
        hypotheses.append(Crossing(number, "out", left, path.last, ahead, unseen, piece.count, piece.rests))
    return hypotheses


def _entered(path: BodyPath, piece: Piece, camera: Camera) -> int:
    """The first frame in view, by the first piece followed backwards; 0 if that reaches frame 0 in view.

    It is the frame before the first sighting if nothing can be followed, because the piece rests or has few
    places, or if the piece is still in view after :data:`_LONGEST` frames: then it was probably hidden.
    """
    frame = path.first
    if piece.count < _ENOUGH or piece.rests:
        return frame - 1
    while frame > 0 and path.first - frame < _LONGEST and camera.sees(path.kind, *piece.at(frame - 1)):
        frame -= 1
    return frame if frame == 0 or path.first - frame < _LONGEST else path.first - 1


def _left(path: BodyPath, piece: Piece, last: int, camera: Camera) -> int:
    """The first frame out of view, by the last piece followed forwards; beyond ``last`` if it stays in view.

    It is the second frame after the last sighting if the piece has few places. A moving piece is followed for
    at most twice :data:`_LONGEST` frames. A resting body stays in view, for nothing moves it out; at the
    other end, :func:`_entered` asks when it came, and knows only that it was there when it was first seen.
    """
    frame = path.last
    if piece.count < _ENOUGH:
        return frame + 2
    if piece.rests:
        return last + 1
    while frame <= last and frame - path.last < 2 * _LONGEST and camera.sees(path.kind, *piece.at(frame + 1)):
        frame += 1
    return frame + 1
