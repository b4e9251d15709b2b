"""The shared parts of all commands: where they print, their options, how an error ends one, where others'
words go.

Nothing of the project, and nothing that draws, is imported before it is used: `substrate --help` takes no
longer than it must.
"""

from __future__ import annotations

import inspect
import os
import signal
import sys
import threading
import time
import traceback
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import wraps
from typing import TYPE_CHECKING, Annotated, Any

import typer

from substrate.cli.notices import OURS, Voice
from substrate.cli.printing import shown

if TYPE_CHECKING:
    from rich.progress import Progress

JsonOption = Annotated[bool, typer.Option("--json", help="Machine-readable output.")]
_QuietOption = Annotated[bool, typer.Option("--quiet", "-q", help="Results and errors alone.")]
_VerboseOption = Annotated[
    bool,
    typer.Option(
        "--verbose", "-v", help="Also what Spark and other programs say, and the traceback of an error."
    ),
]

ENDING = (signal.SIGTERM, signal.SIGHUP) if hasattr(signal, "SIGHUP") else (signal.SIGTERM,)
"""Signals that end a command as Ctrl-C does: a service manager's, and that of a terminal that closes."""
SIGNALED = 128
"""The exit code of a command that a signal ended is this and the signal's number."""


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


class _Told(KeyboardInterrupt):
    """SIGTERM or SIGHUP, which end a command as Ctrl-C does: what it was writing goes."""


def _end(number: int, _: Any) -> None:
    raise _Told(number)


@contextmanager
def _hearing() -> Iterator[None]:
    """In the block SIGTERM and SIGHUP are exceptions; only the main thread can hear them.

    Who was told to ignore SIGHUP, as `nohup` does, goes on to.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    heard = [number for number in ENDING if signal.getsignal(number) is not signal.SIG_IGN]
    before = {number: signal.signal(number, _end) for number in heard}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def failing() -> Iterator[None]:
    """Turn the project's own errors, and a system that refuses, into a message and exit code 1; Ctrl-C and
    SIGTERM and SIGHUP into a line and exit code 130, 143 or 129.
    """
    try:
        with _hearing():
            yield
    except KeyboardInterrupt as stop:
        number = signal.Signals(stop.args[0]) if isinstance(stop, _Told) else signal.SIGINT
        said = f"by {number.name}: what is finished is kept, run it again to go on from there"
        with suppress(OSError):  # nobody may be left to read it
            say(said, "interrupted", error=True)
        raise typer.Exit(SIGNALED + number) from None
    except BrokenPipeError:
        raise
    except Exception as error:
        from substrate.base.errors import SubstrateError

        if isinstance(error, SubstrateError):
            said = str(error)
        elif isinstance(error, OSError):
            place = error.filename or "standard output"
            said = f"{place}: {error.strerror or error}. Nothing was written there."
        elif isinstance(error, MemoryError):
            said = "there is not enough memory. Give less at once; SUBSTRATE_LIMITS bounds what is read."
        else:
            raise
        if Voice.verbose:
            sys.stderr.write(traceback.format_exc())
        say(said, "error:", error=True)
        raise typer.Exit(1) from None


_COLOURS = {"error": typer.colors.RED, "interrupted": typer.colors.RED}


def say(text: str, label: str = "", *, error: bool = False) -> None:
    """Print a line in one piece, with nothing that a terminal obeys, behind a label in colour."""
    if label:
        plain = False if os.environ.get("NO_COLOR") else None
        colour = _COLOURS.get(label.rstrip(":"), typer.colors.YELLOW)
        typer.echo(typer.style(label, fg=colour, bold=True) + " ", nl=False, err=error, color=plain)
    typer.echo(shown(text), err=error)


def note(text: str) -> None:
    """Print a line that is no result, unless the command is to be quiet."""
    if not Voice.quiet:
        say(text, error=True)


class Recent:
    """The pace of some work over its last minutes, told in words.

    A pause lets the pace fall, and the time left grow.

    Args:
        clock: seconds that only grow.

    >>> seconds = iter([0.0, 60.0, 240.0, 240.0])
    >>> recent = Recent(lambda: next(seconds))
    >>> for done in (100, 106, 124):
    ...     recent.add(done)
    >>> recent.text(1000)
    '6.0 a minute, about 2 h 26 min left'
    """

    def __init__(self, clock: Callable[[], float] | None = None) -> None:
        self._clock = clock or time.monotonic
        self._seen: deque[tuple[float, float]] = deque()

    def add(self, done: float) -> None:
        """Take note of how much is done; work that begins anew has a new pace."""
        now, seen = self._clock(), self._seen
        if seen and done < seen[-1][1]:
            seen.clear()
        if not seen or done > seen[-1][1]:
            seen.append((now, done))
        while len(seen) > 2 and now - seen[1][0] > _RECENT:
            seen.popleft()

    def text(self, total: float | None) -> str:
        """The pace and, of a total that is known, the time left; nothing as long as nothing was done."""
        if len(self._seen) < 2:
            return ""
        (since, before), (_, done) = self._seen[0], self._seen[-1]
        pace = (done - before) / max(self._clock() - since, 1e-3)
        said = f"{pace:,.1f} a second" if pace >= 1 else f"{60 * pace:,.1f} a minute"
        return f"{said}, about {_span((total - done) / pace)} left" if total and total > done else said


_RECENT = 300.0
"""Seconds over which a pace is told."""


def _span(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:.0f} s"
    hours, minutes = divmod(round(seconds / 60), 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min"


@contextmanager
def bars() -> Iterator[Progress]:
    """Progress bars with what is done, of how many, the time taken, the pace and the time left; only on a
    terminal.

    A task's field ``unit`` names what is counted; another unit has another pace.
    """
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        ProgressColumn,
        Task,
        TextColumn,
        TimeElapsedColumn,
    )
    from rich.text import Text

    class Pace(ProgressColumn):
        """The pace and the time left, where a task has more than one part."""

        def __init__(self) -> None:
            super().__init__()
            self._recent: dict[Any, Recent] = {}

        def render(self, task: Task) -> Text:
            if not task.total or task.total <= 1 or task.finished:
                return Text()
            recent = self._recent.setdefault((task.id, task.fields.get("unit")), Recent())
            recent.add(task.completed)
            return Text(recent.text(task.total))

    console = Console(file=OURS.get("stderr", sys.stderr))
    columns = [
        TextColumn("{task.description:<22}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        Pace(),
    ]
    silent = Voice.quiet or not console.is_terminal
    with Progress(*columns, console=console, disable=silent) as shown:
        yield shown
