"""The shared parts of the platform's commands beside :mod:`substrate.cli.console`: its options, bars of
stages, a run.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Annotated

import typer

from orchestration.cli import completion
from substrate.cli.console import Recent, bars, note
from substrate.cli.notices import OURS, Voice, others_apart

ProfileOption = Annotated[
    str | None,
    typer.Option(
        "--profile",
        help="sample, full, paper or local; the profile of params.yaml unless given.",
        autocompletion=completion.profiles,
    ),
]
SetOption = Annotated[
    list[str],
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="Override a key of params.yaml; may be repeated.",
        autocompletion=completion.keys,
    ),
]
NOTHING_SET: list[str] = []


@contextmanager
def stage_bars(names: Iterable[str]) -> Iterator[dict[str, str]]:
    """A bar for every stage of a run; where there is no terminal, a line for each that ends, and one where it
    has long been quiet.

    Gives how each stage came to its outs, as far as it has ended: ``computed`` or ``reused``.
    """
    from orchestration.pipeline.progress import counting, logging_to, watching

    names = list(names)
    with bars() as shown:
        lines = _Lines(len(names)) if shown.disable and not Voice.quiet else None
        tasks = {name: shown.add_task(name, total=None, start=False) for name in names}

        def report(stage: str, done: int, total: int, unit: str) -> None:
            if lines:
                lines.advance(stage, done, total, unit)
            elif stage in tasks:
                shown.start_task(tasks[stage])
                shown.update(tasks[stage], completed=done, total=total or None, unit=unit)

        with (
            watching(report),
            counting(lines.end if lines else None) as how,
            logging_to(note) if Voice.verbose and lines else nullcontext(),
        ):
            yield how


class _Lines:
    """The lines of a run of so many stages: how each came to its outs and after how long, and where it is."""

    def __init__(self, stages: int) -> None:
        self._stages, self._ended = stages, 0
        self._before = self._spoke = time.monotonic()
        self._recent: dict[tuple[str, str], Recent] = {}
        self._say(f"{stages} stages")

    def advance(self, stage: str, done: int, total: int, unit: str) -> None:
        recent = self._recent.setdefault((stage, unit), Recent())
        recent.add(done)
        if time.monotonic() - self._spoke >= _QUIET:
            counted = f"{done:,} of {total:,} {unit}" if total else f"{unit}: {done:,}"
            about = ", ".join(filter(None, (counted, recent.text(total))))
            self._say(f"[{self._ended + 1}/{self._stages}] {stage}  {about}")

    def end(self, stage: str, how: str) -> None:
        self._ended += 1
        took, self._before = time.monotonic() - self._before, time.monotonic()
        self._say(f"[{self._ended}/{self._stages}] {stage}  {how}  {took:.1f} s")

    def _say(self, text: str) -> None:
        self._spoke = time.monotonic()
        typer.echo(text, file=OURS.get("stderr", sys.stderr))


_QUIET = 10.0
"""Seconds after which a run says where it is though no stage has ended."""


@contextmanager
def running() -> Iterator[None]:
    """A run of the pipeline: others' words apart, and one line on the terminal where it is told to end."""
    from orchestration.pipeline.stopping import ends_when_told

    with ends_when_told(), others_apart():
        yield
