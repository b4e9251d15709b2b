"""The shared parts of the platform's commands beside :mod:`substrate.cli.console`: its options, bars of
stages, a run.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Annotated

import typer

from orchestration.cli import completion
from substrate.cli.console import bars, note
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
    """A bar for every stage of a run; where there is no terminal, a line for each that ends.

    Gives how each stage came to its outs, as far as it has ended: ``computed`` or ``reused``.
    """
    from orchestration.pipeline.progress import counting, logging_to, watching

    with bars() as shown:
        tasks = {name: shown.add_task(name, total=None, start=False) for name in names}

        def report(stage: str, done: int, total: int) -> None:
            if stage in tasks:
                shown.start_task(tasks[stage])
                shown.update(tasks[stage], completed=done, total=total)

        lines = Voice.verbose and shown.disable
        with (
            watching(report),
            counting(stage_line if shown.disable else None) as how,
            logging_to(note) if lines else nullcontext(),
        ):
            yield how


def stage_line(stage: str, how: str) -> None:
    """Say how a stage came to its outs, where there is no terminal that shows bars."""
    if not Voice.quiet:
        typer.echo(f"{stage}: {how}", file=OURS.get("stderr", sys.stderr))


@contextmanager
def running() -> Iterator[None]:
    """A run of the pipeline: others' words apart, and one line on the terminal where it is told to end."""
    from orchestration.pipeline.stopping import ends_when_told

    with ends_when_told(), others_apart():
        yield
