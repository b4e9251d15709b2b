"""An annotation, decoded as far as its event log needs it; the rest stays JSON until it is read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from substrate.base.inputs import Source, Whole, decode
from substrate.domains.clevrer.checks import check_annotation
from substrate.domains.clevrer.format import (
    Annotation,
    Collision,
    MotionState,
    ObjectProperty,
    Posed,
    Vector,
    count_keys,
)


class FilmedState(msgspec.Struct, frozen=True, gc=False):
    """A :class:`MotionState` with only the fields decoded that every frame needs; the rest is JSON."""

    object_id: Whole
    location: msgspec.Raw
    orientation: msgspec.Raw
    velocity: Vector
    angular_velocity: msgspec.Raw
    inside_camera_view: bool


class FilmedFrame(msgspec.Struct, frozen=True, gc=False):
    """All objects at one frame of a film."""

    frame_id: Whole
    objects: list[FilmedState]


class Filmed(msgspec.Struct, frozen=True, gc=False):
    """The keys of an :class:`Annotation`, decoded as far as an event log needs them."""

    scene_index: Whole
    video_filename: str
    object_property: list[ObjectProperty]
    motion_trajectory: list[FilmedFrame]
    collision: list[Collision]


class Film(NamedTuple):
    """The parts of an annotation that an event log needs, and their source."""

    scene_index: int
    object_property: list[ObjectProperty]
    frames: int
    collision: list[Collision]
    tracks: Mapping[int, Sequence[Any]]
    """The states of each object, frame by frame, by its number."""
    source: Source | None = None


_films = msgspec.json.Decoder(Filmed)
_vectors = msgspec.json.Decoder(list[Vector])


def decode_film(source: Source) -> Film:
    """Decode an annotation as far as its event log needs it. Locations and orientations are only checked to
    exist; their values are checked when they are read. Raises the errors of
    :func:`~substrate.domains.clevrer.format.decode_annotation`.
    """
    film = decode(_films, source[1], source[0], keys=count_keys)
    return film_of(film, check_annotation(source[0], film), source)


def film_of(
    annotation: Annotation | Filmed, motion: Mapping[int, Sequence[Any]], source: Source | None = None
) -> Film:
    """Take the parts of an annotation that a log needs; ``motion`` has each object's states by frame."""
    objects, frames = annotation.object_property, len(annotation.motion_trajectory)
    return Film(annotation.scene_index, objects, frames, annotation.collision, motion, source)


def poses(recorded: Sequence[tuple[int, MotionState | FilmedState]]) -> list[Posed]:
    """The poses of objects on the ground at some frames, decoded if they are still JSON.

    Raises:
        ValidationError: a value is not a vector.
    """
    vectors: list[Any] = [v for _, s in recorded for v in (s.location, s.orientation, s.angular_velocity)]
    # All are still JSON, or none is: the first vector tells, if there is one
    if any(isinstance(vector, msgspec.Raw) for vector in vectors[:1]):
        vectors = _vectors.decode(b"[%b]" % b",".join(vectors))
    each = zip(recorded, vectors[::3], vectors[1::3], vectors[2::3], strict=True)
    return [
        (frame, place[0], place[1], turn[2], state.velocity[0], state.velocity[1], spin[2])
        for (frame, state), place, turn, spin in each
    ]
