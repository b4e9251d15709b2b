"""A release that is joined from parts has the bytes of one that is written at once."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import IO
from zipfile import ZipFile

import pytest

from substrate.generators import layout
from substrate.generators.layout import encode_scene, join_parts, write_release
from substrate.generators.world import World

SEED = 20


def parts_in(root: Path, count: int) -> Iterator[Iterator[tuple[str, IO[bytes]]]]:
    for place in range(count):
        yield ((path.name, path.open("rb")) for path in sorted((root / str(place)).iterdir()))


def read(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize(
    ("world", "data"), [("gqa", {"scenes": 7}), ("babi", {"questions": 2}), ("smallville", {"specs": 7})]
)
def test_a_world_whose_scenes_are_written_apart_is_the_same_world(
    world: str, data: dict[str, int], tmp_path: Path
) -> None:
    of: World = next(iter(import_module(f"substrate.generators.{world}.release").WORLDS.values()))
    given = SimpleNamespace(**data)
    scenes = [of.make(number, SEED, given) for number in of.numbers(given)]
    of.write(tmp_path / "whole", scenes, SEED)
    cuts = [*range(0, len(scenes), 3), len(scenes)]
    for place, (first, end) in enumerate(pairwise(cuts)):
        of.write(tmp_path / str(place), scenes[first:end], SEED)
    of.join(tmp_path / "joined", parts_in(tmp_path, len(cuts) - 1), SEED)
    assert read(tmp_path / "joined") == read(tmp_path / "whole")


@pytest.mark.parametrize("limit", [None, ("FAR", "ZIP64_LIMIT", 400), ("MANY", "ZIP_FILECOUNT_LIMIT", 3)])
@pytest.mark.parametrize("asked", [[1, 1, 1, 1, 1], [0, 0, 0, 1, 1], [1, 1, 0, 0, 1], [0, 0, 0, 0, 0]])
def test_archives_and_questions_of_parts_are_those_of_all_scenes(
    asked: list[int], limit: tuple[str, str, int] | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if limit:  # a place or a number of members that is past what a plain zip can say
        ours, theirs, most = limit
        monkeypatch.setattr(layout, ours, most)
        monkeypatch.setattr(zipfile, theirs, most)
    scenes = [
        encode_scene(
            {f"annotation/{number}.json": "a" * 90 * number, f"truth/folder/{number}.json": number}
            | ({"questions": {"questions": [number]}} if some else {})
        )
        for number, some in enumerate(asked)
    ]
    write_release(tmp_path / "whole", scenes)
    # Parts are small: with a lower limit alone the archives of parts would be Zip64 too.
    with monkeypatch.context() as plain:
        plain.setattr(zipfile, "ZIP64_LIMIT", (1 << 31) - 1)
        for place, some in enumerate((scenes[:2], scenes[2:4], scenes[4:], [])):
            write_release(tmp_path / str(place), some)
    join_parts(tmp_path / "joined", parts_in(tmp_path, 4))
    assert read(tmp_path / "joined") == read(tmp_path / "whole")
    with ZipFile(tmp_path / "joined" / "annotation.zip") as archive:
        assert archive.testzip() is None
        assert len(archive.namelist()) == len(scenes)
