"""Where a run stands, for whoever watches: the command shows bars, the UI needs none."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

Report = Callable[[str, int, int], None]
"""Takes a stage's name, how many of its parts are done, and how many there are."""

_report: ContextVar[Report | None] = ContextVar("report", default=None)


@contextmanager
def watching(report: Report) -> Iterator[None]:
    """Send the progress of what runs inside the block to ``report``."""
    token = _report.set(report)
    try:
        yield
    finally:
        _report.reset(token)


def advance(stage: str, done: int, total: int) -> None:
    """Say how far a stage is; nothing happens where nobody watches."""
    if report := _report.get():
        report(stage, done, total)
