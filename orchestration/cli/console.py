"""What the commands share: where they print, their options, and how an error ends one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from substrate.errors import SubstrateError

out, err = Console(), Console(stderr=True)

ProfileOption = Annotated[
    str | None,
    typer.Option("--profile", help="sample, full, paper or local; the profile of params.yaml unless given."),
]
SetOption = Annotated[
    list[str],
    typer.Option("--set", metavar="KEY=VALUE", help="Override a key of params.yaml; may be repeated."),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Machine-readable output.")]
NOTHING_SET: list[str] = []


@contextmanager
def failing() -> Iterator[None]:
    """Turn the project's own errors into a message and exit code 1."""
    try:
        yield
    except SubstrateError as error:
        err.print(f"[bold red]error:[/] {plain(str(error))}", soft_wrap=True)
        raise typer.Exit(1) from None


def plain(text: str) -> str:
    """Text without anything that the console would read as markup."""
    return text.replace("[", r"\[")


def say(text: str, *, error: bool = False) -> None:
    """Print a line as it is, in one piece."""
    (err if error else out).print(text, soft_wrap=True, highlight=False)


def bars(console: Console = err) -> Progress:
    """Progress bars with what is done, of how many, and the time."""
    return Progress(
        TextColumn("{task.description:<22}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=console,
    )


@contextmanager
def stage_bars(names: Iterable[str]) -> Iterator[None]:
    """A bar for every stage of a run."""
    from orchestration.pipeline.progress import watching

    with bars() as shown:
        tasks = {name: shown.add_task(name, total=None, start=False) for name in names}

        def report(stage: str, done: int, total: int) -> None:
            if stage in tasks:
                shown.start_task(tasks[stage])
                shown.update(tasks[stage], completed=done, total=total)

        with watching(report):
            yield
