"""A video's proposals ► its objects and events, each event with its probability."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Literal

import msgspec

from research.domains.objects import Look
from research.domains.perception.belief import BELIEF, Belief
from research.domains.perception.borders import Crossing, crossings
from research.domains.perception.camera import CAMERA, Camera
from research.domains.perception.collisions import Contact, contacts
from research.domains.perception.format import ProposedVideo, decode_proposals, proposal_names
from research.domains.perception.masks import Sightings, sightings
from research.domains.perception.paths import BodyPath, Piece, paths
from research.domains.perception.tracks import Track, tracks
from research.domains.possible import THRESHOLD
from substrate.base.errors import FormatError
from substrate.base.numbered import sources_in
from substrate.domains.clevrer.format import FRAMES, CompactObject

_STAMP = 1
"""Frames from the last frame before a blow to the frame that official files record."""
_DIGITS = 4


class PerceivedCrossing(msgspec.Struct, frozen=True):
    """An entry or exit; ``frames`` are the first and last frame in which it may have happened."""

    frame: int
    object: int
    type: Literal["in", "out"]
    probability: float
    frames: tuple[int, int]


class PerceivedCollision(msgspec.Struct, frozen=True):
    """A collision; ``frames`` are the first and last frame that explain the paths about as well."""

    object: tuple[int, int]
    frame: int
    probability: float
    frames: tuple[int, int]


class PerceivedObject(CompactObject, frozen=True):
    """An object, with the number of frames in which it was seen."""

    frames_seen: int


class Perceived(msgspec.Struct, frozen=True):
    """A perceived video: a line that ``--events`` reads, and more.

    Events of at least the threshold's probability are in ``in_outs`` and ``collisions``, the others in
    ``doubtful``. ``trajectory`` has, by object, frame and place (units) from its first to its last sighting.
    ``until`` is the last frame that was read; every field, early places included, depends on all frames read.
    """

    scene_index: int
    n_frames: int
    objects: list[PerceivedObject]
    in_outs: list[PerceivedCrossing]
    collisions: list[PerceivedCollision]
    doubtful: list[PerceivedCrossing | PerceivedCollision]
    trajectory: dict[int, list[tuple[int, float, float]]]
    until: int = FRAMES - 1


class ExaminedVideo(msgspec.Struct, frozen=True):
    """A video after all stages up to the hypotheses: sightings, identities, paths, possible contacts."""

    seen: Sightings
    objects: dict[Look, Track]
    paths: list[BodyPath]
    contacts: list[Contact]
    camera: Camera = CAMERA

    def blows(self, number: int, belief: Belief = BELIEF) -> list[int]:
        """The last frames before an object's blows, from contacts that are more likely than not."""
        believed = (c for c in self.contacts if belief.of_contact(c) >= THRESHOLD)
        return sorted({contact.frame for contact in believed if number in contact.pair})

    def pieces(self, number: int, belief: Belief = BELIEF) -> list[tuple[Piece, int]]:
        """The free motions of an object from blow to blow, each with its last frame."""
        path = self.paths[number]
        ends = [blow for blow in self.blows(number, belief) if path.first <= blow < path.last]
        spans = zip([path.first, *(blow + 1 for blow in ends)], [*ends, path.last], strict=True)
        return [(path.piece(start, end), end) for start, end in spans]

    def crossings(self, belief: Belief = BELIEF) -> list[Crossing]:
        """The objects that may have entered or left, given the believed contacts."""
        return [
            crossing
            for number, path in enumerate(self.paths)
            for crossing in crossings(path, number, self.blows(number, belief), self.seen.last, self.camera)
        ]


def read_videos(where: Path, only: Collection[int] | None = None) -> Iterator[tuple[str, ProposedVideo]]:
    """Read the name and proposals of each video of a folder or zip, by number.

    Raises:
        FormatError: as :func:`~research.domains.perception.format.decode_proposals`.
    """
    names = {n: name for n, name in proposal_names(where).items() if only is None or n in only}
    for source in sources_in(where, names.values()):
        yield source[0], decode_proposals(source)


def examined(
    video: ProposedVideo, name: str, *, until: int | None = None, camera: Camera = CAMERA
) -> ExaminedVideo:
    """Run the stages of perception on a video, up to the hypotheses of contacts.

    Args:
        video: its proposals.
        name: its file's name, for messages.
        until: the last frame that may be read; by default the last one.
    """
    if until is not None:
        frames = [frame for frame in video.frames if frame.frame_index <= until]
        if not frames:
            raise FormatError(f"no frame up to {until}", where=(name, "$.frames"), hint="Allow a later frame")
        video = ProposedVideo(video.video_index, frames)
    seen = sightings(video, name)
    if (seen.height, seen.width) != (camera.height, camera.width):
        raise FormatError(
            f"masks are of {seen.height} x {seen.width} pixels, the camera's picture of "
            f"{camera.height} x {camera.width}",
            where=(name, "$.frames"),
            hint="Give masks of the size of the official videos",
        )
    objects = tracks(seen)
    routes = paths(seen, objects, camera)
    return ExaminedVideo(seen, objects, routes, contacts(routes, seen.last + 1), camera)


def perceive(video: ProposedVideo, name: str = "", *, until: int | None = None) -> Perceived:
    """Perceive a video's objects and events; the arguments are those of :func:`examined`.

    >>> from research.domains.perception.format import ProposedFrame
    >>> perceive(ProposedVideo(7, [ProposedFrame(0, [])])).objects
    []
    """
    return recorded(examined(video, name, until=until))


def recorded(video: ExaminedVideo, threshold: float = THRESHOLD, belief: Belief = BELIEF) -> Perceived:
    """The record of a video; an event of less than ``threshold`` probability is doubtful."""
    last = video.seen.last
    collisions = [
        PerceivedCollision(
            contact.pair,
            min(last, contact.frame + _STAMP),
            round(belief.of_contact(contact), _DIGITS),
            (min(last, contact.frames[0] + _STAMP), min(last, contact.frames[1] + _STAMP)),
        )
        for contact in video.contacts
    ]
    moves = [
        PerceivedCrossing(
            crossing.frame,
            crossing.object,
            crossing.type,
            round(belief.of_crossing(crossing), _DIGITS),
            (min(crossing.frame, crossing.seen), max(crossing.frame, crossing.seen)),
        )
        for crossing in video.crossings(belief)
    ]
    collisions.sort(key=lambda event: (event.frame, event.object))
    moves.sort(key=lambda event: (event.frame, event.object, event.type))
    return Perceived(
        video.seen.video,
        last + 1,
        [PerceivedObject(*path.look, number, len(path.frames)) for number, path in enumerate(video.paths)],
        [event for event in moves if event.probability >= threshold],
        [event for event in collisions if event.probability >= threshold],
        [event for event in (*moves, *collisions) if event.probability < threshold],
        {number: _trajectory(video, number, belief) for number in range(len(video.paths))},
        last,
    )


def _trajectory(video: ExaminedVideo, number: int, belief: Belief) -> list[tuple[int, float, float]]:
    """The places of an object, frame by frame, by its pieces of free motion."""
    return [
        (frame, round(x, _DIGITS), round(y, _DIGITS))
        for piece, end in video.pieces(number, belief)
        for frame in range(piece.start, end + 1)
        for x, y in [piece.at(frame)]
    ]
