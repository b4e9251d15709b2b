"""The progress of a run, for whoever watches: the command shows bars, the UI log lines."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from typing import Any

Report = Callable[[str, int, int, str], None]
"""Takes a stage's name, how many of its parts are done, how many there are (0: not known yet), and what they
are called.
"""

_report: ContextVar[Report | None] = ContextVar("report", default=None)
End = Callable[[str, str, int | None], None]
"""Takes the name of a stage that has ended, how it came to its outs, and how many rows they have."""
_ended: ContextVar[End | None] = ContextVar("ended", default=None)
Cut = Callable[[str, int], None]
"""Takes a stage's name, and how many shards one of its tables has."""
_cut: ContextVar[Cut | None] = ContextVar("cut", default=None)
_figures: ContextVar[dict[str, float] | None] = ContextVar("figures", default=None)
_log: ContextVar[Callable[[str], None] | None] = ContextVar("log", default=None)


@contextmanager
def _setting(variable: ContextVar[Any], value: Any) -> Iterator[None]:
    token = variable.set(value)
    try:
        yield
    finally:
        variable.reset(token)


def watching(report: Report) -> AbstractContextManager[None]:
    """Send the progress of what runs inside the block to ``report``."""
    return _setting(_report, report)


def advance(stage: str, done: int, total: int, unit: str = "tasks") -> None:
    """Say how far a stage is; nothing happens where nobody watches."""
    if report := _report.get():
        report(stage, done, total, unit)


@contextmanager
def task_figures() -> Iterator[dict[str, float]]:
    """Figures of the tasks that run inside the block, by name, as :func:`measured` tells them."""
    found: dict[str, float] = {}
    with _setting(_figures, found):
        yield found


def measured(figures: Mapping[str, float]) -> None:
    """Tell figures of a job's tasks; of several jobs of a stage the last one's stand."""
    if (found := _figures.get()) is not None:
        found.update(figures)


def hearing_cuts(tell: Cut) -> AbstractContextManager[None]:
    """Send the cut of tables that are computed inside the block to ``tell``, before their tasks begin."""
    return _setting(_cut, tell)


def cut_into(stage: str, count: int) -> None:
    """Say how many shards a table of a stage has; nothing happens where nobody watches."""
    if tell := _cut.get():
        tell(stage, count)


@contextmanager
def counting(tell: End | None = None) -> Iterator[dict[str, str]]:
    """The way that each stage that ends inside the block came to its outs, by name: ``computed`` or
    ``reused``; each is told once as it ends.
    """
    found: dict[str, str] = {}

    def end(stage: str, how: str, rows: int | None) -> None:
        if stage not in found and tell:
            tell(stage, how, rows)
        found.setdefault(stage, how)

    with _setting(_ended, end):
        yield found


def ended(stage: str, metadata: Mapping[str, Any]) -> None:
    """Say how a stage came to its outs, by what Dagster keeps of it; nothing happens where nobody watches."""
    if end := _ended.get():
        rows = metadata.get("dagster/row_count")
        how = "reused" if {"skipped", "taken"} & metadata.keys() else "computed"
        end(stage, how, getattr(rows, "value", rows))


def say(text: str) -> None:
    """Write a line into the log of what runs; nothing happens where there is none."""
    if log := _log.get():
        log(text)


@contextmanager
def logging_to(log: Callable[[str], None]) -> Iterator[None]:
    """Also say in a log how far the stages inside the block are, at most once every tenth of the way.

    >>> with logging_to(print):
    ...     for done in range(61):
    ...         advance("clevrer/logs", done, 300)
    clevrer/logs: 0 of 300 done
    clevrer/logs: 30 of 300 done
    clevrer/logs: 60 of 300 done
    """
    watcher, said = _report.get(), dict[str, tuple[int, str]]()

    def report(stage: str, done: int, total: int, unit: str) -> None:
        if watcher:
            watcher(stage, done, total, unit)
        tenth = 10 * done // total if total else 0, unit
        if said.get(stage) != tenth:
            said[stage] = tenth
            log(f"{stage}: {done} of {total} done")

    with _setting(_log, log), watching(report):
        yield
