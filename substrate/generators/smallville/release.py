"""Twin-EventLog's specifications as a world to generate."""

from __future__ import annotations

from functools import partial
from typing import Any

from substrate.generators.smallville import LEVELS, spec_line, write_specs
from substrate.generators.world import World


def make_spec(number: int, seed: int, _: Any, level: str = "village") -> bytes:
    """A generated specification with its gold."""
    return spec_line(number, seed, level).encode()


def _world_of(level: str) -> World:
    return World(
        numbers=lambda data: range(data.specs),
        make=partial(make_spec, level=level),
        write=partial(write_specs, level=level),
        counted=("specs", 500),
        unit="specifications",
        about="Twin-EventLog's specifications with gold by SQL over the raw schedule, and their datasheet.",
    )


WORLDS = {level: _world_of(level) for level in LEVELS}
"""By difficulty, the benchmark's own first."""
