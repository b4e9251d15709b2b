"""ComPhy's targets as a world to generate."""

from __future__ import annotations

from typing import Any

from substrate.generators.comphy import target_files
from substrate.generators.layout import encode_scene, write_release
from substrate.generators.world import World


def make_target(number: int, seed: int, _: Any) -> bytes:
    """A generated target with its references."""
    return encode_scene(target_files(number, seed))


WORLD = World(
    numbers=lambda data: range(data.targets),
    make=make_target,
    write=write_release,
    counted=("targets", 60),
    unit="targets",
    about="ComPhy's annotations and questions: simulated targets with hidden mass and charge.",
    needs=("bullet",),
)
