"""What the commands share: where they print, their options, how an error ends one, where others' words go.

Nothing of the project, and nothing that draws, is imported before it is used: `substrate --help` takes no
longer than it must.
"""

from __future__ import annotations

import inspect
import os
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TextIO

import typer

from orchestration.cli import completion

if TYPE_CHECKING:
    from rich.progress import Progress

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
JsonOption = Annotated[bool, typer.Option("--json", help="Machine-readable output.")]
_QuietOption = Annotated[bool, typer.Option("--quiet", "-q", help="Results and errors alone.")]
_VerboseOption = Annotated[
    bool,
    typer.Option(
        "--verbose", "-v", help="Also what Spark and other programs say, and the traceback of an error."
    ),
]
NOTHING_SET: list[str] = []

INTERRUPTED = 130
"""The exit code of a command that Ctrl-C ended: 128 and the signal's number."""


class Voice:
    """How much a command says: set once, by its options."""

    quiet = False
    verbose = False


def voiced(command: Callable[..., Any]) -> Callable[..., Any]:
    """A command with `--quiet` and `--verbose` beside its own options."""

    @wraps(command)
    def heard(*given: Any, quiet: bool = False, verbose: bool = False, **options: Any) -> Any:
        Voice.quiet, Voice.verbose = quiet and not verbose, verbose
        return command(*given, **options)

    kind = inspect.Parameter.KEYWORD_ONLY
    own = inspect.signature(command, eval_str=True)
    more = [
        inspect.Parameter("quiet", kind, default=False, annotation=_QuietOption),
        inspect.Parameter("verbose", kind, default=False, annotation=_VerboseOption),
    ]
    parameters = [*own.parameters.values(), *more]
    heard.__signature__ = inspect.Signature(parameters)  # pyright: ignore[reportAttributeAccessIssue]
    heard.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return heard


@contextmanager
def failing() -> Iterator[None]:
    """Turn the project's own errors, and a system that refuses, into a message and exit code 1; Ctrl-C into a
    line and exit code 130.
    """
    try:
        yield
    except KeyboardInterrupt:
        say("Finished stages are kept; run it again to go on from there.", "interrupted:", error=True)
        raise typer.Exit(INTERRUPTED) from None
    except BrokenPipeError:
        raise
    except Exception as error:
        from substrate.errors import SubstrateError

        if isinstance(error, SubstrateError):
            said = str(error)
        elif isinstance(error, OSError):
            place = f"{error.filename}: " if error.filename else ""
            said = f"{place}{error.strerror or error}. Nothing was written there."
        else:
            raise
        if Voice.verbose:
            sys.stderr.write(traceback.format_exc())
        say(said, "error:", error=True)
        raise typer.Exit(1) from None


_COLOURS = {"error": typer.colors.RED, "interrupted": typer.colors.RED}


def say(text: str, label: str = "", *, error: bool = False) -> None:
    """Print a line as it is, in one piece, behind a label in colour where there is a terminal."""
    if label:
        plain = False if os.environ.get("NO_COLOR") else None
        colour = _COLOURS.get(label.rstrip(":"), typer.colors.YELLOW)
        typer.echo(typer.style(label, fg=colour, bold=True) + " ", nl=False, err=error, color=plain)
    typer.echo(text, err=error)


def note(text: str) -> None:
    """Print a line that is no result, unless the command is to be quiet."""
    if not Voice.quiet:
        say(text, error=True)


@contextmanager
def bars() -> Iterator[Progress]:
    """Progress bars with what is done, of how many, how fast, the time taken and left; only on a terminal."""
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        ProgressColumn,
        Task,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )
    from rich.text import Text

    class Rate(ProgressColumn):
        """Parts a second, where a task has more than one."""

        def render(self, task: Task) -> Text:
            speed = task.finished_speed or task.speed
            return Text(f"{speed:,.1f}/s" if speed and task.total and task.total > 1 else "")

    console = Console(file=_OURS.get("stderr", sys.stderr))
    columns = [
        TextColumn("{task.description:<22}"),
        BarColumn(),
        MofNCompleteColumn(),
        Rate(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    ]
    silent = Voice.quiet or not console.is_terminal
    with Progress(*columns, console=console, disable=silent) as shown:
        yield shown


@contextmanager
def stage_bars(names: Iterable[str]) -> Iterator[None]:
    """A bar for every stage of a run; where there is no terminal, with `--verbose`, lines."""
    from orchestration.pipeline.progress import logging_to, watching

    with bars() as shown:
        tasks = {name: shown.add_task(name, total=None, start=False) for name in names}

        def report(stage: str, done: int, total: int) -> None:
            if stage in tasks:
                shown.start_task(tasks[stage])
                shown.update(tasks[stage], completed=done, total=total)

        lines = Voice.verbose and shown.disable
        with watching(report), logging_to(note) if lines else nullcontext():
            yield


_OURS: dict[str, TextIO] = {}
"""The command's own output while everything else that is written goes to the log of notices."""
_MOST_BYTES = 1 << 20
"""Of the log of notices; a longer one begins anew."""


def notices_path() -> Path:
    """The file that takes what other programs say: in the project's `.dagster`, else in the user's state."""
    from orchestration.root import find_root
    from substrate.errors import ParameterError

    try:
        return find_root() / ".dagster" / "notices.log"
    except ParameterError:
        home = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
        return Path(home) / "substrate" / "notices.log"


@contextmanager
def others_apart() -> Iterator[None]:
    """Send what other programs and libraries write to this process's output to the log of notices.

    The Java runtime, Spark's workers and Bullet write to the process's own files, so these are what changes;
    bars are still drawn where the command prints. With `--verbose` nothing is sent away.
    """
    if Voice.verbose or _OURS:
        yield
        return
    sys.stdout.flush()
    sys.stderr.flush()
    before = sys.stdout, sys.stderr
    kept = os.dup(1), os.dup(2)
    with _notices() as log:
        try:
            for name, stream, number, copy in zip(("stdout", "stderr"), before, (1, 2), kept, strict=True):
                own = _writes_to(stream, number)
                _OURS[name] = os.fdopen(os.dup(copy), "w", encoding="utf-8") if own else stream
                os.dup2(log.fileno(), number)
            sys.stdout = sys.stderr = log
            yield
        finally:
            sys.stdout, sys.stderr = before
            log.flush()
            for number, copy in zip((1, 2), kept, strict=True):
                os.dup2(copy, number)
                os.close(copy)
            for name, stream in zip(("stdout", "stderr"), before, strict=True):
                ours = _OURS.pop(name)
                if ours is not stream:
                    ours.close()


def _notices() -> TextIO:
    path = notices_path()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        more = path.is_file() and path.stat().st_size < _MOST_BYTES
        return path.open("a" if more else "w", encoding="utf-8", buffering=1)
    except OSError:
        return Path(os.devnull).open("w", encoding="utf-8")


def _writes_to(stream: TextIO, number: int) -> bool:
    try:
        return stream.fileno() == number
    except (OSError, ValueError):
        return False
