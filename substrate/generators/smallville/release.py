"""Twin-EventLog's specifications as a world to generate."""

from __future__ import annotations

from typing import Any

from substrate.generators.smallville import spec_line, write_specs
from substrate.generators.world import World


def make_spec(number: int, seed: int, _: Any) -> bytes:
    """A generated specification with its gold."""
    return spec_line(number, seed).encode()


WORLD = World(
    numbers=lambda data: range(data.specs),
    make=make_spec,
    write=write_specs,
    counted=("specs", 500),
    unit="specifications",
    about="Twin-EventLog's specifications with gold by SQL over the raw schedule, and their datasheet.",
)
