"""The tools of an agent's memory."""

from __future__ import annotations

import pytest

from research.baselines.village_tools import VillageMemory
from substrate.base.errors import ParameterError
from substrate.generators.smallville import generate


def test_what_the_village_lacks_is_said_with_what_to_do() -> None:
    memory = VillageMemory(generate(0, 20))
    for call in (
        lambda: memory.state(99),
        lambda: memory.state(0, "imagined 7"),
        lambda: memory.imagine(3, "teleport", "Klaus Mueller", "Hobbs Cafe"),  # pyright: ignore[reportArgumentType]
        lambda: memory.imagine(3, "override_location", "Nobody", "Hobbs Cafe"),
        lambda: memory.imagine(3, "assert", memory.state(0).partition(" is at ")[0], "go home"),
    ):
        with pytest.raises(ParameterError, match=r"\. [A-Z]"):
            call()
