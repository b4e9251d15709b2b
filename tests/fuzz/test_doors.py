"""A door, which is a function that reads input from outside, reads any input or refuses it with our error.

This is a short run with a fixed seed; `make fuzz MINUTES=…` is the long one.
"""

from __future__ import annotations

import random
import runpy
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from fuzz_doors import DOORS, corpus
from fuzz_mutators import mutated
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from substrate.base.errors import SubstrateError


def enter(name: str, data: bytes, folder: Path) -> None:
    path = folder / DOORS[name].file_name
    path.write_bytes(data)
    with suppress(SubstrateError):
        DOORS[name].read(path)


@pytest.mark.parametrize("name", DOORS)
def test_valid_inputs_are_read(name: str, tmp_path: Path) -> None:
    for data in map(DOORS[name].wrap, DOORS[name].seeds()):
        path = tmp_path / DOORS[name].file_name
        path.write_bytes(data)
        try:
            DOORS[name].read(path)
        except SubstrateError:
            assert name in ("answers", "sparql", "memory tools"), "some of these refer to missing things"


@pytest.mark.parametrize("name", DOORS)
def test_an_input_that_once_broke_a_door_is_read_or_refused(name: str, tmp_path: Path) -> None:
    for data in corpus(name):
        enter(name, data, tmp_path)


@pytest.mark.filterwarnings("ignore::substrate.TornTailWarning", "ignore:Duplicate name")
@pytest.mark.parametrize("name", DOORS)
def test_a_mutated_input_is_read_or_refused(name: str, tmp_path: Path) -> None:
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


def test_a_process_that_a_signal_ends_without_a_word_is_a_fault() -> None:
    fault_of = runpy.run_path(str(Path(__file__).with_name("run.py")))["fault_of"]
    hangs = "import signal; signal.setitimer(signal.ITIMER_PROF, 0.01)\nwhile True: pass"
    assert fault_of(subprocess.run([sys.executable, "-c", hangs], capture_output=True)) == "exit code -27"
    assert fault_of(subprocess.CompletedProcess([], 0, b"", b"a warning")) == ""
