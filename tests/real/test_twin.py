"""The village's cast is that of the real simulation."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

from substrate.generators.smallville.cast import HOMES, PERSONAS, PLACES, identifier


def test_names_and_homes_are_those_of_the_real_log(real_data: Path) -> None:
    with gzip.open(real_data / "smallville" / "master_movement_n25.json.gz") as file:
        steps = json.load(file)
    first = next(iter(steps.values()))
    assert sorted(first) == list(PERSONAS)
    homes = {house: PLACES[house].removeprefix("the ") for house in HOMES}
    for house, family in HOMES.items():
        there = {
            identifier(persona)
            for persona, step in first.items()
            if f":{homes[house]}:" in step["description"]
        }
        assert there == set(family)
