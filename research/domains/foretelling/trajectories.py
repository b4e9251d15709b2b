"""The format of observed motion: ground-plane trajectories, one JSON line per scene."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import msgspec

from research.domains.foretelling.estimate import Sampled
from substrate.base.errors import FormatError
from substrate.base.inputs import Source, decode, lines
from substrate.domains.clevrer.format import CompactObject


class TrajectoryScene(msgspec.Struct, frozen=True):
    """A line of a trajectory file: by object number, ``[frame, x, y]`` for each sighting (units).

    ``until`` is the last frame that any of the positions depends on, if the file states it.
    """

    scene_index: int
    objects: list[CompactObject]
    trajectory: dict[int, list[Sampled]]
    until: int | None = None


_scenes = msgspec.json.Decoder(TrajectoryScene)


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
    declared = [thing.id for thing in scene.objects]
    if len(set(declared)) != len(declared):
        raise FormatError(
            "an object id occurs twice", where=(source[0], "$.objects"), hint="Number every object once"
        )
    for name, points in sorted(scene.trajectory.items()):
        if name not in declared:
            raise FormatError(
                f"belongs to none of the objects {sorted(declared)}",
                where=(source[0], f"$.trajectory.{name}"),
                hint="Declare every object once",
            )
        if any(before[0] >= after[0] for before, after in pairwise(points)):
            raise FormatError(
                "frames do not ascend",
                where=(source[0], f"$.trajectory.{name}"),
                hint="Sort the points by frame, one per frame",
            )
    return scene


def read_trajectories(path: Path) -> dict[int, TrajectoryScene]:
    """Read a whole trajectory file, by scene index.

    Raises:
        FormatError: as :func:`decode_trajectories`; also if a scene occurs twice or the file holds none.
    """
    scenes: dict[int, TrajectoryScene] = {}
    for source in lines(path):
        scene = decode_trajectories(source)
        if scene.scene_index in scenes:
            raise FormatError(
                f"scene {scene.scene_index} occurs twice",
                where=(source[0],),
                hint="Give every scene one line",
            )
        scenes[scene.scene_index] = scene
    return dict(sorted(scenes.items()))
