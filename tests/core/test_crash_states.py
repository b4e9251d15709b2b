"""A power loss at any moment of an append, a save or a repair loses nothing that was acknowledged."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest
from crash_states import Recorder
from logs import log_of

from substrate import EventLog, LogError
from substrate.log.repair import repair

# For each write that was not synced, how many ways to cut it off; the more, the more states.
CUTS = int(os.environ.get("SUBSTRATE_CRASH_CUTS", "12"))
LINES = [(tick, f'A <urn:s> <urn:p> "{tick}{"x" * (700 if tick % 3 else 5)}" .') for tick in range(12)]
PREFIXES = [log_of(LINES[:end]).digest for end in range(len(LINES) + 1)]


# Each workload sets ``record.allowed`` before its next step. The recorder keeps the value with each call to
# the system: the digests that a log may have if the power is lost at this call.


def appended(path: Path, record: Recorder) -> None:
    """Appends of one tick, then of several at once, in two openings."""
    for pieces in ([(0, 1), (1, 2), (2, 5)], [(5, 6), (6, 9)]):
        record.allowed = frozenset([PREFIXES[pieces[0][0]]])
        with EventLog.open(path) as log:
            for first, end in pieces:
                record.allowed = frozenset(PREFIXES[first : end + 1])
                log.extend_lines(LINES[first:end])
                record.allowed = frozenset([PREFIXES[end]])


def begun(path: Path, record: Recorder) -> None:
    """Appends to a file that another process created and never synced, since it was killed at once."""
    record.allowed = frozenset(PREFIXES[:1])
    path.touch()
    appended(path, record)


def saved(path: Path, record: Recorder) -> None:
    """A log saved, and saved over, and appended to."""
    for before, after in pairwise((0, 3, 8)):
        record.allowed = frozenset([PREFIXES[before], PREFIXES[after]])
        log_of(LINES[:after]).save(path)
        record.allowed = frozenset([PREFIXES[after]])
    record.allowed = frozenset(PREFIXES[8:10])
    with EventLog.open(path) as log:
        log.extend_lines(LINES[8:9])
    record.allowed = frozenset([PREFIXES[9]])


def cut_off(path: Path, record: Recorder) -> None:
    """A log that was cut off is opened, which moves its torn end to a file beside it."""
    record.allowed = frozenset([PREFIXES[0], PREFIXES[4]])
    log_of(LINES[:4]).save(path)
    with path.open("r+b") as file:
        file.truncate(path.stat().st_size - 30)
    record.durable_now()
    # A saved gzip log is one member, and its cut end loses all; a plain log loses its last tick.
    record.allowed = frozenset(PREFIXES[0:1] if path.suffix == ".gz" else PREFIXES[3:4])
    EventLog.open(path).close()


@pytest.mark.filterwarnings("ignore::substrate.log.event_log.TornTailWarning")
@pytest.mark.parametrize("suffix", ["rdfp", "rdfp.gz"])
@pytest.mark.parametrize("workload", [appended, begun, saved, cut_off])
def test_no_power_loss_loses_an_acknowledged_append(
    workload: Callable[[Path, Recorder], None], suffix: str, tmp_path: Path
) -> None:
    name, folder, after = f"log.{suffix}", tmp_path / "disk", tmp_path / "after"
    folder.mkdir()
    with pytest.MonkeyPatch.context() as patch:
        workload(folder / name, record := Recorder(folder, patch))
    record.end()
    ways = Counter[str]()
    for number, state in enumerate(record.states(CUTS, seed=20)):
        state.write(place := after / str(number))
        path = place / name
        try:
            log = EventLog.open(path)
            ways["opened"] += 1
        except LogError:
            # Only a state with zeros that nobody wrote may need a repair before it opens.
            assert state.zeroed, (number, state)
            if PREFIXES[0] not in state.allowed:
                repair(path)
            else:
                path.unlink()
            log = EventLog.open(path)
            ways["repaired"] += 1
        with log:
            assert log.digest in state.allowed, (number, state)
            log.extend_lines([(99, "A <urn:s> <urn:p> <urn:later> .")])
        assert EventLog.read(path).digest == log.digest
    sys.stdout.write(f"{workload.__name__}, {suffix}: {dict(ways)}\n")
    assert ways["opened"] > 15, ways
