"""A forged log is found by anyone who kept the digest of its head, as the table of attackers says."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from commands import invoke, output_of
from logs import log_of

from substrate import EventLog

LINES = [(tick, f'A <urn:s> <urn:p> "{tick}" .') for tick in range(6)]


FORGED: dict[str, Callable[[], EventLog]] = {
    "cut": lambda: log_of(LINES[:4]),
    "written anew": lambda: log_of([(tick, line.replace('"2"', '"9"')) for tick, line in LINES]),
    "with another last tick": lambda: log_of([(tick, line.replace('"5"', '"9"')) for tick, line in LINES]),
}


@pytest.mark.parametrize("how", FORGED)
def test_a_log_that_was_forged_does_not_have_the_head_that_somebody_kept(how: str, tmp_path: Path) -> None:
    file, head = tmp_path / "log.rdfp", log_of(LINES).digest
    FORGED[how]().save(file)
    invoke("log", "verify", file)  # its chain holds
    assert "the digest is" in output_of("log", "verify", file, "--digest", head, code=1)
