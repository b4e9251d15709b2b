"""The shared parts of all commands: where they print, their options, how an error ends one, where others'
words go.

Nothing of the project, and nothing that draws, is imported before it is used: `substrate --help` takes no
longer than it must.
"""

from __future__ import annotations

import inspect
import os
import signal
import threading
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import wraps
from typing import Annotated, Any

import typer

from substrate.cli.notices import Voice, others_apart, ours
from substrate.cli.printing import print_json, print_lines, shown


def option(name: str, about: str, *also: str, **more: Any) -> Any:
    """An option of a command by its name, with what its help says, and its other names."""
    return typer.Option(name, *also, help=about, **more)


def argument(about: str, **more: Any) -> Any:
    """An argument of a command, with what its help says."""
    return typer.Argument(help=about, **more)


JsonOption = Annotated[bool, option("--json", "Machine-readable output.")]
_QuietOption = Annotated[bool, option("--quiet", "Results and errors alone.", "-q")]
_VerboseOption = Annotated[
    bool,
    option("--verbose", "Also what Spark and other programs say, and the traceback of an error.", "-v"),
]

ENDING = (signal.SIGTERM, signal.SIGHUP) if hasattr(signal, "SIGHUP") else (signal.SIGTERM,)
"""Signals that end a command as Ctrl-C does: a service manager's, and that of a terminal that closes."""
SIGNALED = 128
"""The exit code of a command that a signal ended is this and the signal's number."""


def guarded(command: Callable[..., Any]) -> Callable[..., Any]:
    """A command whose errors are a line and an exit code."""

    @wraps(command)
    def run(*given: Any, **options: Any) -> Any:
        with failing():
            return command(*given, **options)

    return run


def apart(command: Callable[..., Any]) -> Callable[..., Any]:
    """A guarded command among whose lines no other program's stand."""
    return guarded(others_apart()(command))


def voiced(command: Callable[..., Any]) -> Callable[..., Any]:
    """A command with `--quiet` and `--verbose` beside its own options; others' words stand apart."""

    @wraps(command)
    def heard(*given: Any, quiet: bool = False, verbose: bool = False, **options: Any) -> Any:
        Voice.quiet, Voice.verbose = quiet and not verbose, verbose
        return apart(command)(*given, **options)

    return _with_options(heard, command, quiet=_QuietOption, verbose=_VerboseOption)


def speaking_as(
    name: str, *, beside_documents: bool = True
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A long command: it tells its events; and it is voiced.

    Args:
        name: the command's.
        beside_documents: tell them in lines also where `--json` or `--markdown` asks for a document.
    """

    def of(command: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(command)
        def told(*given: Any, **options: Any) -> Any:
            document = options.get("json") or options.get("markdown")
            from substrate.cli.events import speaking

            # An error is an event too
            with speaking(name, lines=beside_documents or not document), failing():
                return command(*given, **options)

        return voiced(_with_options(told, command))

    return of


def _with_options(made: Any, command: Callable[..., Any], **more: Any) -> Any:
    """A command made from another one, with that one's options and some switches more."""
    kind = inspect.Parameter.KEYWORD_ONLY
    parameters = [
        *inspect.signature(command, eval_str=True).parameters.values(),
        *(inspect.Parameter(name, kind, default=False, annotation=type_) for name, type_ in more.items()),
    ]
    return shaped(made, parameters)


def shaped(made: Any, parameters: Sequence[inspect.Parameter]) -> Any:
    """A command with other parameters than its text has, as typer reads them."""
    made.__signature__ = inspect.Signature(parameters)
    made.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return made


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
        message = f"by {number.name}: what is finished is kept, run it again to go on from there"
        with suppress(OSError):  # nobody may be left to read it
            say(message, "interrupted", error=True)
        raise typer.Exit(SIGNALED + number) from None
    except BrokenPipeError:
        raise
    except Exception as error:
        from substrate.base.errors import SubstrateError

        if isinstance(error, SubstrateError):
            message = str(error)
        elif isinstance(error, OSError):
            place = error.filename or "standard output"
            message = f"{place}: {error.strerror or error}. Nothing was written there."
        elif isinstance(error, MemoryError):
            message = "there is not enough memory. Give less at once; SUBSTRATE_LIMITS bounds what is read."
        else:
            raise
        if Voice.verbose:
            ours("stderr").write(traceback.format_exc())
        say(message, "error:", error=True)
        raise typer.Exit(1) from None


_COLOURS = {"error": typer.colors.RED, "interrupted": typer.colors.RED}


def say(text: str, label: str = "", *, error: bool = False) -> None:
    """Print a line in one piece, with nothing that a terminal obeys, behind a label in colour."""
    if error and (stream := Voice.stream):
        stream.say(text, label.rstrip(":") or "note")
    out = ours("stderr" if error else "stdout")
    if label:
        plain = False if os.environ.get("NO_COLOR") else None
        colour = _COLOURS.get(label.rstrip(":"), typer.colors.YELLOW)
        typer.echo(typer.style(label, fg=colour, bold=True) + " ", out, nl=False, color=plain)
    typer.echo(shown(text), out)


def note(text: str) -> None:
    """Print a line that is no result, unless the command is to be quiet."""
    if not Voice.quiet:
        say(text, error=True)


def doing(text: str) -> None:
    """Say what the command begins to do, where it tells events."""
    if stream := Voice.stream:
        stream.doing(text)


def give(result: object, lines: Iterable[str], *, json: bool, closing: str | None = None) -> None:
    """Print a command's result.

    Args:
        result: what `--json` prints, and the last event has.
        lines: what a person reads instead.
        json: whether `--json` was given.
        closing: the line that the last event has; the lines themselves unless given.
    """
    lines = list(lines)
    if stream := Voice.stream:
        stream.give(result, "\n".join(lines) if closing is None else closing)
    if json:
        print_json(result)
    else:
        print_lines(lines)
