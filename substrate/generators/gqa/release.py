"""GQA's scenes as a world to generate."""

from __future__ import annotations

from typing import Any

from substrate.generators.gqa.sampling import scene_records, write_records
from substrate.generators.world import World


def make_scene(number: int, seed: int, _: Any) -> bytes:
    """A generated scene."""
    return scene_records(number, seed=seed)


WORLD = World(
    numbers=lambda data: range(data.scenes),
    make=make_scene,
    write=write_records,
    about="GQA's scene graphs and questions: sampled everyday scenes with gold of their own.",
)
