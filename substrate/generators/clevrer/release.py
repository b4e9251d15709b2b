"""CLEVRER's scenes as a world to generate."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from substrate.base.extras import import_extra
from substrate.generators.clevrer import scene_files
from substrate.generators.layout import encode_scene, write_release
from substrate.generators.world import World


def make_scene(number: int, seed: int, _: Any) -> bytes:
    """A generated scene."""
    return encode_scene(scene_files(number, seed))


def from_truth(events: Path, seed: int) -> Any:
    """Make questions about real videos; the package ``research`` does it.

    Raises:
        MissingExtraError: that package is not installed.
    """
    return import_extra("research.generators.from_truth").Truths(events, seed)


WORLD = World(
    numbers=lambda data: range(data.first_scene, data.first_scene + data.scenes),
    make=make_scene,
    write=write_release,
    about="CLEVRER's annotations and questions: simulated rigid-body scenes with gold of their own.",
    first=10000,
    needs=("bullet",),
    from_truth=from_truth,
)
