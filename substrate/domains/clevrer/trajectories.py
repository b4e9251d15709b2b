"""The format of observed motion: ground-plane trajectories, one JSON line per scene."""

from __future__ import annotations

from pathlib import Path

import msgspec

from substrate.base.errors import FormatError
from substrate.base.inputs import Source, decode
from substrate.domains.clevrer.checks import Sampled, check_trajectory
from substrate.domains.clevrer.format import (
    CompactObject,
    decode_scene_events,
    event_sources,
    index_scene_events,
)


class TrajectoryScene(msgspec.Struct, frozen=True):
    """A line of a trajectory file: by object number, ``[frame, x, y]`` for each sighting (units).

    ``until`` is the last frame that any of the positions depends on, if the file states it.
    """

    scene_index: int
    objects: list[CompactObject]
    trajectory: dict[int, list[Sampled]]
    until: int | None = None


_scenes = msgspec.json.Decoder(TrajectoryScene)
_raw = msgspec.json.Decoder(dict[str, msgspec.Raw])


def decode_trajectories(source: Source) -> TrajectoryScene:
    """Decode and check a line: every trajectory has a declared object and ascending frames.

    Raises:
        FormatError: the record breaks the format; the message names file, line, path and fault.

    >>> decode_trajectories(("t:1", b'{"scene_index": 1, "objects": [], "trajectory": {"0": []}}'))
    Traceback (most recent call last):
    ...
    substrate.base.errors.FormatError: t:1: $.trajectory.0: belongs to none of the objects []. Declare every
    object once.
    """
    scene = decode(_scenes, source[1], source[0])
    check_trajectory(source[0], [thing.id for thing in scene.objects], scene.trajectory)
    return scene


def read_trajectories(path: Path) -> dict[int, TrajectoryScene]:
    """Read a whole trajectory file, by scene index.

    Raises:
        FormatError: as :func:`decode_trajectories`; also if a scene occurs twice or the file holds none.
    """
    index = index_scene_events(path, decode_trajectories)
    scenes = zip(index, map(decode_trajectories, event_sources(path, index, index)), strict=True)
    return dict(sorted(scenes))


def with_trajectory(events: Source, track: Source) -> bytes:
    """An event record with the trajectory of another line about the same scene.

    Raises:
        FormatError: a line breaks its format, or the two describe an object differently.
    """
    described = {thing.id: thing for thing in decode_scene_events(events).objects}
    for place, thing in enumerate(decode_trajectories(track).objects):
        if thing != described.get(thing.id):
            raise FormatError(
                f"object {thing.id} is a {thing.color} {thing.material} {thing.shape}, "
                f"but not in {events[0]}",
                where=(track[0], f"$.objects[{place}]"),
                hint="Give events and trajectories that number and describe objects alike",
            )
    record = _raw.decode(events[1])
    return msgspec.json.encode(record | {"trajectory": _raw.decode(track[1])["trajectory"]})
