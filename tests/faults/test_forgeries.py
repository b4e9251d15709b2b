"""A forger of a log is found by what the table of attackers names: by whoever kept its head."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from commands import invoke, told

from substrate import EventLog

LINES = [(tick, f'A <urn:s> <urn:p> "{tick}" .') for tick in range(6)]


def made(lines: list[tuple[int, str]]) -> EventLog:
    log = EventLog()
    log.extend_lines(lines)
    return log


FORGED: dict[str, Callable[[], EventLog]] = {
    "cut": lambda: made(LINES[:4]),
    "written anew": lambda: made([(tick, line.replace('"2"', '"9"')) for tick, line in LINES]),
    "with another last tick": lambda: made([(tick, line.replace('"5"', '"9"')) for tick, line in LINES]),
}


@pytest.mark.parametrize("how", FORGED)
def test_a_log_that_was_forged_does_not_have_the_head_that_somebody_kept(how: str, tmp_path: Path) -> None:
    file, head = tmp_path / "log.rdfp", made(LINES).digest
    FORGED[how]().save(file)
    invoke("log", "verify", file)  # its chain holds
    assert "the digest is" in told("log", "verify", file, "--digest", head, code=1)
