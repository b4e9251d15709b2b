"""Masks ► sightings: the box and area of each object's silhouette in each frame."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from research.domains.objects import Look
from research.domains.perception.format import ProposedVideo
from substrate.base.errors import FormatError
from substrate.base.extras import import_extra

_LONGEST = 7
"""The most characters of a run."""


class Sightings(NamedTuple):
    """The proposals of a video that have a pixel, in the order of the file.

    ``last`` is the video's last frame. By proposal: ``frames`` (n); ``boxes`` (n, 4) with left, top, right
    and bottom edge, in pixels of a picture of ``width`` by ``height``; ``areas`` (n) in pixels; ``scores``
    (n); ``looks``.
    """

    video: int
    last: int
    width: int
    height: int
    frames: np.ndarray
    boxes: np.ndarray
    areas: np.ndarray
    scores: np.ndarray
    looks: list[Look]


def sightings(video: ProposedVideo, name: str) -> Sightings:
    """The sightings of a video's proposals; ``name`` is the file's, for messages.

    Raises:
        FormatError: a mask cannot be decoded; the message names file, frame and proposal.
        MissingExtraError: pycocotools is not installed.
    """
    coco: Any = import_extra("pycocotools.mask")
    # Without any mask, the size of the official videos
    height, width = next((o.mask.size for f in video.frames for o in f.objects), (320, 480))
    masks = [thing.mask for frame in video.frames for thing in frame.objects]
    whole = iter(_are_whole([(mask.counts.encode(), mask.size[0] * mask.size[1]) for mask in masks]))
    for place, frame in enumerate(video.frames):
        for number, thing in enumerate(frame.objects):
            if not next(whole):
                height, width = thing.mask.size
                raise FormatError(
                    f"is no run-length code of {height} x {width} pixels (frame {frame.frame_index})",
                    where=(name, f"$.frames[{place}].objects[{number}].mask.counts"),
                    hint="Give the mask as pycocotools encodes it",
                )
    # Box and area of each, read from its runs
    codes = [{"size": list(mask.size), "counts": mask.counts.encode()} for mask in masks]
    boxes = np.reshape(coco.toBbox(codes), (-1, 4))
    areas = np.array([float(coco.area(code)) for code in codes])
    seen = [(frame.frame_index, thing) for frame in video.frames for thing in frame.objects]
    nonempty = np.flatnonzero(areas)
    boxes[:, 2:] += boxes[:, :2]  # from width and height to right and bottom edge
    frames = np.array([frame for frame, _ in seen], dtype=int)[nonempty]
    scores = np.array([thing.score for _, thing in seen], dtype=float)[nonempty]
    things = [thing for _, thing in map(seen.__getitem__, nonempty.tolist())]
    looks = [Look(thing.color, thing.material, thing.shape) for thing in things]
    last = video.frames[-1].frame_index
    return Sightings(
        video.video_index, last, width, height, frames, boxes[nonempty], areas[nonempty], scores, looks
    )


def _are_whole(masks: Sequence[tuple[bytes, int]]) -> list[bool]:
    """Tell which run-length codes cover a picture of so many pixels exactly.

    pycocotools trusts its input: a code that runs past the picture writes past its memory. Each character
    holds five bits of a run and one that says that another follows; from the fourth on, a run is given as its
    difference to the run two places before.
    """
    whole = np.array([bool(code) or not pixels for code, pixels in masks], dtype=bool)
    if not whole.any():
        return whole.tolist()
    pixels = np.array([pixels for _, pixels in masks])
    lengths = np.array([len(code) for code, _ in masks])
    owner = np.repeat(np.arange(len(masks)), lengths)
    bits = np.frombuffer(b"".join([code for code, _ in masks]), np.uint8).astype(np.int64) - 48
    last = (np.cumsum(lengths) - 1)[lengths > 0]
    ends = (bits & 32) == 0
    whole[owner[(bits < 0) | (bits >= 64)]] = False
    whole[owner[last[~ends[last]]]] = False
    ends[last] = True  # no code goes on in the next one
    stops = np.flatnonzero(ends)
    starts = np.concatenate([[0], stops[:-1] + 1])
    mine, sizes = owner[stops], stops - starts + 1
    whole[mine[sizes > _LONGEST]] = False
    shifts = 5 * np.minimum(np.arange(len(bits)) - np.repeat(starts, sizes), _LONGEST)
    runs = np.add.reduceat((bits & 31) << shifts, starts)
    # The fifth bit of a number's last character is its sign: where it is set, the number is negative
    runs -= ((bits[stops] & 16) >> 4) << np.minimum(5 * sizes, 60)
    every = np.arange(len(masks))
    places = np.arange(len(runs)) - np.searchsorted(mine, every)[mine]
    for odd in (1, 0):  # undo the differences, which link runs of odd places, and runs of even places
        linked = np.flatnonzero((places > 0) & (places % 2 == odd))
        sums = np.cumsum(runs[linked])
        before = np.concatenate([[0], sums])[np.searchsorted(mine[linked], every)[mine[linked]]]
        runs[linked] = sums - before
    whole[mine[(runs < 0) | (runs > pixels[mine])]] = False
    covered = np.zeros(len(masks), dtype=np.int64)
    np.add.at(covered, mine, np.clip(runs, 0, pixels[mine]))
    return (whole & (covered == pixels)).tolist()
