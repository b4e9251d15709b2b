"""Masks ► sightings: what of an object's silhouette is measured in each frame."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from research.domains.perception.format import ProposedVideo
from substrate.base.errors import FormatError
from substrate.base.extras import needed

Look = tuple[str, str, str]
"""Colour, material and shape."""


class Sightings(NamedTuple):
    """The proposals of a video that have a pixel, in the order of the file.

    ``frames`` (n); ``boxes`` (n, 4): left, top, right and bottom edge, in pixels of a picture of ``width`` by
    ``height``; ``areas`` (n) in pixels; ``scores`` (n); ``looks``, one a proposal.
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
    coco: Any = needed("pycocotools.mask")
    rows: list[tuple[float, ...]] = []
    looks: list[Look] = []
    height, width = next((o.mask.size for f in video.frames for o in f.objects), (320, 480))
    for place, frame in enumerate(video.frames):
        for number, thing in enumerate(frame.objects):
            path = f"$.frames[{place}].objects[{number}].mask.counts"
            box, area = _measured(coco, thing.mask.size, thing.mask.counts, (name, path), frame.frame_index)
            if area:
                rows.append((frame.frame_index, *box, area, thing.score))
                looks.append((thing.color, thing.material, thing.shape))
    table = np.array(rows, dtype=float).reshape(-1, 7)
    last = video.frames[-1].frame_index
    return Sightings(
        video.video_index,
        last,
        width,
        height,
        table[:, 0].astype(int),
        table[:, 1:5],
        table[:, 5],
        table[:, 6],
        looks,
    )


def _measured(
    coco: Any, size: tuple[int, int], counts: str, where: tuple[str, str], frame: int
) -> tuple[tuple[float, float, float, float], float]:
    """Box and area of a mask, both read from its runs."""
    code = {"size": list(size), "counts": counts.encode("utf-8")}
    if not _is_whole(counts, size[0] * size[1]):
        raise FormatError(
            f"is no run-length code of {size[0]} x {size[1]} pixels (frame {frame})",
            where=where,
            hint="Give the mask as pycocotools encodes it",
        )
    left, top, wide, high = (float(value) for value in coco.toBbox(code))
    return (left, top, left + wide, top + high), float(coco.area(code))


def _is_whole(counts: str, pixels: int) -> bool:
    """Tell whether a run-length code covers a picture exactly.

    pycocotools trusts its input: a code that runs past the picture writes past its memory. Each character
    holds five bits of a run and one that says that another follows; from the third on, a run is given as
    its difference to the one before the last.
    """
    runs: list[int] = []
    value = shift = total = 0
    for character in counts:
        bits = ord(character) - 48
        if not 0 <= bits < 64 or shift > 30:
            return False
        value |= (bits & 31) << shift
        shift += 5
        if bits & 32:
            continue
        if bits & 16:
            value -= 1 << shift
        if len(runs) > 2:
            value += runs[-2]
        if value < 0:
            return False
        runs.append(value)
        total += value
        value = shift = 0
    return not shift and total == pixels
