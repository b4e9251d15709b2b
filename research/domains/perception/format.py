"""NS-DR's processed proposals: one JSON file per video, with the masks and attributes of each frame.

A file may have a ``ground_truth`` key. It has no field here, so no code can read it.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

import msgspec

from substrate.base.errors import FormatError
from substrate.base.inputs import Source, Whole, decode
from substrate.base.numbered import numbered
from substrate.domains.clevrer.format import Color, Material, Shape

_FILE = re.compile(r"(?:^|/)sim_([0-9]{1,9})\.json(\.gz)?$")
_Side = Annotated[int, msgspec.Meta(gt=0, le=1 << 14)]
_Frame = Annotated[int, msgspec.Meta(ge=0, le=1 << 20)]


class Mask(msgspec.Struct, frozen=True):
    """COCO's run-length code of an object's pixels; ``size`` is the picture's height and width."""

    size: tuple[_Side, _Side]
    counts: str


class Proposal(msgspec.Struct, frozen=True):
    """An object as detected in one frame; ``score`` is the detector's confidence, from 0 to 1."""

    mask: Mask
    color: Color
    material: Material
    shape: Shape
    score: Annotated[float, msgspec.Meta(ge=0, le=1)]


class ProposedFrame(msgspec.Struct, frozen=True):
    """All proposals of one frame."""

    frame_index: _Frame
    objects: list[Proposal]


class ProposedVideo(msgspec.Struct, frozen=True):
    """A file ``sim_NNNNN.json``: ascending frames, some of which may be missing."""

    video_index: Whole
    frames: list[ProposedFrame]


_videos = msgspec.json.Decoder(ProposedVideo)


def proposal_names(where: Path) -> dict[int, str]:
    """The name of every ``sim_NNNNN.json`` by video; as :func:`~substrate.base.numbered.numbered`."""
    return numbered(where, "sim", "video", "NS-DR's processed proposals")


def decode_proposals(source: Source) -> ProposedVideo:
    """Decode and check a file: frames ascend, and all masks have the same size.

    Raises:
        FormatError: the file breaks the format; the message names file, path (with the frame) and fault.

    >>> decode_proposals(("sim_00007.json", b'{"video_index": 7, "frames": []}'))
    Traceback (most recent call last):
    substrate.base.errors.FormatError: sim_00007.json: $.frames: no frames. A video has at least one frame.
    """
    video = decode(_videos, source[1], source[0])
    if (match := _FILE.search(source[0])) and int(match[1]) != video.video_index:
        raise FormatError(
            f"video_index is {video.video_index}",
            where=(source[0], "$.video_index"),
            hint=f"The file's name says {int(match[1])}",
        )
    if not video.frames:
        raise FormatError("no frames", where=(source[0], "$.frames"), hint="A video has at least one frame")
    size, before = None, -1
    for place, frame in enumerate(video.frames):
        where = (source[0], f"$.frames[{place}]")
        if frame.frame_index <= before:
            raise FormatError(
                f"frame_index is {frame.frame_index} after {before}",
                where=where,
                hint="Frames ascend, each given once",
            )
        before = frame.frame_index
        for number, thing in enumerate(frame.objects):
            size = size or thing.mask.size
            if thing.mask.size != size:
                raise FormatError(
                    f"the mask is of {thing.mask.size[0]} x {thing.mask.size[1]} pixels, others are of "
                    f"{size[0]} x {size[1]} (frame {frame.frame_index})",
                    where=(where[0], f"{where[1]}.objects[{number}].mask.size"),
                    hint="All masks of a video have one size",
                )
    return video
