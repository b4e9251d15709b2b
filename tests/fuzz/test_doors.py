"""Whatever comes through a door is read, or refused by an error of the project's own: never a traceback.

A short run with a fixed seed; `make fuzz MINUTES=…` is the long one.
"""

from __future__ import annotations

import random
from contextlib import suppress
from pathlib import Path

import pytest
from fuzz_doors import DOORS, corpus
from fuzz_mutators import mutated
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from substrate.base.errors import SubstrateError


def enter(name: str, data: bytes, folder: Path) -> None:
    path = folder / DOORS[name].name
    path.write_bytes(data)
    with suppress(SubstrateError):
        DOORS[name].read(path)


@pytest.mark.parametrize("name", DOORS)
def test_the_inputs_that_a_door_takes_are_taken(name: str, tmp_path: Path) -> None:
    for data in map(DOORS[name].wrap, DOORS[name].seeds()):
        path = tmp_path / DOORS[name].name
        path.write_bytes(data)
        try:
            DOORS[name].read(path)
        except SubstrateError:
            assert name in ("answers", "sparql", "memory tools"), "some refer to what is not there"


@pytest.mark.parametrize("name", DOORS)
def test_what_once_broke_something_is_read_or_refused(name: str, tmp_path: Path) -> None:
    for data in corpus(name):
        enter(name, data, tmp_path)


@pytest.mark.filterwarnings("ignore::substrate.TornTailWarning", "ignore:Duplicate name")
@pytest.mark.parametrize("name", DOORS)
def test_an_input_somewhat_like_it_is_read_or_refused(name: str, tmp_path: Path) -> None:
    seeds = DOORS[name].seeds()

    @settings(
        max_examples=40,
        derandomize=True,
        database=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )
    @given(st.randoms(use_true_random=False))
    def run(source: random.Random) -> None:
        enter(name, mutated(seeds, source, DOORS[name].wrap), tmp_path)

    run()
