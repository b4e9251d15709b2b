"""The progress of a run, for any listener: the command shows bars, the UI log lines."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

_heard: ContextVar[tuple[Mapping[str, Callable[..., object]], ...]] = ContextVar("heard", default=())


@contextmanager
def hearing(**of: Callable[..., object]) -> Iterator[None]:
    """Pass on the events of the block to the given handlers.

    Args:
        of: what to do with each thing that is told: ``advance`` with a stage's name, how many of its parts
            are done, how many there are (0: not known yet) and what they are called; ``end`` with a stage's
            name, how it came to its outs, and how many rows they have; ``figures`` with those of a job's
            tasks; ``say`` with a line for the log.
    """
    token = _heard.set((*_heard.get(), of))
    try:
        yield
    finally:
        _heard.reset(token)


def _tell(what: str, *told: object) -> None:
    for listener in _heard.get():
        if what in listener:
            listener[what](*told)


def advance(stage: str, done: int, total: int, unit: str = "tasks") -> None:
    """Report the progress of a stage."""
    _tell("advance", stage, done, total, unit)


def measured(figures: Mapping[str, float]) -> None:
    """Report figures of a job's tasks; of several jobs in a stage the last one counts."""
    _tell("figures", figures)


def say(text: str) -> None:
    """Write a line into the log of the current run."""
    _tell("say", text)


def ended(stage: str, metadata: Mapping[str, Any]) -> None:
    """Say how a stage came to its outs, by what Dagster keeps of it."""
    rows = metadata.get("dagster/row_count")
    how = "reused" if {"skipped", "taken"} & metadata.keys() else "computed"
    _tell("end", stage, how, getattr(rows, "value", rows))


@contextmanager
def task_figures() -> Iterator[dict[str, float]]:
    """Collect figures of the tasks that run inside the block, by name."""
    figures: dict[str, float] = {}
    with hearing(figures=figures.update):
        yield figures


@contextmanager
def logging_to(log: Callable[[str], object]) -> Iterator[None]:
    """Log the progress of stages inside the block, at most once for every tenth of the way.

    >>> with logging_to(print):
    ...     for done in range(61):
    ...         advance("clevrer/logs", done, 300)
    clevrer/logs: 0 of 300 done
    clevrer/logs: 30 of 300 done
    clevrer/logs: 60 of 300 done
    """
    logged: dict[str, tuple[int, str]] = {}

    def report(stage: str, done: int, total: int, unit: str) -> None:
        tenth = 10 * done // total if total else 0, unit
        if logged.get(stage) != tenth:
            logged[stage] = tenth
            log(f"{stage}: {done} of {total} done")

    with hearing(advance=report, say=log):
        yield
