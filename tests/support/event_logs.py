"""Event logs written by hand."""

from __future__ import annotations

from collections.abc import Iterable

from substrate import EventLog


def log_of(lines: Iterable[tuple[int, str]]) -> EventLog:
    """The log of some lines of a patch, each with its tick."""
    log = EventLog()
    log.extend_lines(lines)
    return log
