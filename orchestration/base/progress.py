"""The progress of a run, for any listener: the command shows bars, the UI log lines."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple


def ignore(*_: object) -> None:
    """Do nothing with an event."""


class Listener(NamedTuple):
    """A listener's answers to the events of a run; by default it ignores an event.

    Attributes:
        advance: takes a stage's name, the number of its finished parts, the number of all (0: not known yet),
            and the word for them.
        end: takes a stage's name, how it came to its outs, and the number of their rows, if that is known.
        figures: takes figures of a job's tasks, by name.
        say: takes a line for the log.
    """

    advance: Callable[[str, int, int, str], object] = ignore
    end: Callable[[str, str, Any], object] = ignore
    figures: Callable[[Mapping[str, float]], object] = ignore
    say: Callable[[str], object] = ignore


_listeners: ContextVar[tuple[Listener, ...]] = ContextVar("listeners", default=())


@contextmanager
def heard_by(listener: Listener) -> Iterator[None]:
    """Pass on the events of the block to one more listener."""
    token = _listeners.set((*_listeners.get(), listener))
    try:
        yield
    finally:
        _listeners.reset(token)


def advance(stage: str, done: int, total: int, unit: str = "tasks") -> None:
    """Report the progress of a stage."""
    for listener in _listeners.get():
        listener.advance(stage, done, total, unit)


def measured(figures: Mapping[str, float]) -> None:
    """Report the costs of the tasks of Spark's job; of several jobs in a stage the last one counts."""
    for listener in _listeners.get():
        listener.figures(figures)


def say(text: str) -> None:
    """Write a line into the log of the current run."""
    for listener in _listeners.get():
        listener.say(text)


def ended(stage: str, metadata: Mapping[str, Any]) -> None:
    """Report the end of a stage, given the metadata that Dagster records of it."""
    rows = metadata.get("dagster/row_count")
    how = "reused" if {"skipped", "taken"} & metadata.keys() else "computed"
    for listener in _listeners.get():
        listener.end(stage, how, getattr(rows, "value", rows))


@contextmanager
def task_figures() -> Iterator[dict[str, float]]:
    """Collect figures of the tasks that run inside the block, by name."""
    figures: dict[str, float] = {}
    with heard_by(Listener(figures=figures.update)):
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

    with heard_by(Listener(advance=report, say=log)):
        yield
