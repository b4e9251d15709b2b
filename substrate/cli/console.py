"""The shared parts of all commands: output, options, errors, and the output of other programs.

The project's other modules and the drawing library are imported only when used, so that `substrate --help`
starts fast.
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
    """Make a command's option from its name, help and other names."""
    return typer.Option(name, *also, help=about, **more)


def argument(about: str, **more: Any) -> Any:
    """Make a command's argument from its help."""
    return typer.Argument(help=about, **more)


JsonOption = Annotated[bool, option("--json", "Machine-readable output.")]
_QuietOption = Annotated[bool, option("--quiet", "Only results and errors.", "-q")]
_VerboseOption = Annotated[
    bool, option("--verbose", "Also what Spark and other programs say, and the traceback of an error.", "-v")
]

ENDING = (signal.SIGTERM, signal.SIGHUP) if hasattr(signal, "SIGHUP") else (signal.SIGTERM,)
"""The signals that end a command as Ctrl-C does: a service manager and a closing terminal send them."""
SIGNALED = 128
"""The exit code of a command that a signal ended is this plus the signal's number."""
STOPPED = "by {}: finished work is kept, run it again to go on from there"
"""The message of a command that a signal ended, with the signal's name."""


def guarded(command: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a command so that its errors become a line and an exit code."""

    @wraps(command)
    def run(*given: Any, **options: Any) -> Any:
        with failing():
            return command(*given, **options)

    return run


def apart(command: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a command as guarded, with the output of other programs kept out of its own."""
    return guarded(others_apart()(command))


def voiced(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add `--quiet` and `--verbose` to a command, and keep the output of other programs out of its own."""

    @wraps(command)
    def run(*given: Any, quiet: bool = False, verbose: bool = False, **options: Any) -> Any:
        Voice.quiet, Voice.verbose = quiet and not verbose, verbose
        return apart(command)(*given, **options)

    return _with_options(run, command, quiet=_QuietOption, verbose=_VerboseOption)


def speaking_as(
    name: str, *, beside_documents: bool = True
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Make a decorator for a long command, which reports its events and is :func:`voiced`.

    Args:
        name: the command's name.
        beside_documents: print the events as lines even if `--json` requests a document.
    """

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(command)
        def run(*given: Any, **options: Any) -> Any:
            document = options.get("json")
            from substrate.cli.events import speaking

            # An error is an event too
            with speaking(name, lines=beside_documents or not document), failing():
                return command(*given, **options)

        return voiced(_with_options(run, command))

    return decorate


def _with_options(made: Any, command: Callable[..., Any], **more: Any) -> Any:
    """Return a command with the options of ``command`` and additional switches."""
    kind = inspect.Parameter.KEYWORD_ONLY
    parameters = [
        *inspect.signature(command, eval_str=True).parameters.values(),
        *(inspect.Parameter(name, kind, default=False, annotation=type_) for name, type_ in more.items()),
    ]
    return shaped(made, parameters)


def shaped(made: Any, parameters: Sequence[inspect.Parameter]) -> Any:
    """Replace the parameters of a command that typer reads."""
    made.__signature__ = inspect.Signature(parameters)
    made.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return made


REQUIRED = inspect.Parameter.empty
"""The default of a required option."""


def command_of(
    run: Callable[..., None], options: dict[str, tuple[Any, Any]], about: str, name: str
) -> Callable[..., None]:
    """Make a long command whose signature has the options with their types and defaults, for typer."""

    def command(**given: Any) -> None:
        run(**given)

    kind = inspect.Parameter.KEYWORD_ONLY
    parameters = [
        inspect.Parameter(name, kind, default=default, annotation=type_)
        for name, (type_, default) in options.items()
    ]
    command.__doc__ = about
    return speaking_as(name)(shaped(command, parameters))


class _Terminated(KeyboardInterrupt):
    """SIGTERM or SIGHUP, which end a command as Ctrl-C does: unfinished output is removed."""


def _end(number: int, _: Any) -> None:
    raise _Terminated(number)


@contextmanager
def _terminable() -> Iterator[None]:
    """Turn SIGTERM and SIGHUP into exceptions in the block; only the main thread can receive them.

    A process that ignores SIGHUP, as under `nohup`, keeps ignoring it.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    handled = [number for number in ENDING if signal.getsignal(number) is not signal.SIG_IGN]
    before = {number: signal.signal(number, _end) for number in handled}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def failing() -> Iterator[None]:
    """Turn errors of the project and of the system into a message and exit code 1.

    Ctrl-C, SIGTERM and SIGHUP become a line and exit code 130, 143 or 129.
    """
    try:
        with _terminable():
            yield
    except KeyboardInterrupt as stop:
        number = signal.Signals(stop.args[0]) if isinstance(stop, _Terminated) else signal.SIGINT
        message = STOPPED.format(number.name)
        with suppress(OSError):  # the reader may have gone
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
    """Print a line in a single write, without control characters, after a coloured label."""
    if error and (stream := Voice.stream):
        stream.say(text, label.rstrip(":") or "note")
    out = ours("stderr" if error else "stdout")
    if label:
        plain = False if os.environ.get("NO_COLOR") else None
        colour = _COLOURS.get(label.rstrip(":"), typer.colors.YELLOW)
        typer.echo(typer.style(label, fg=colour, bold=True) + " ", out, nl=False, color=plain)
    typer.echo(shown(text), out)


def note(text: str) -> None:
    """Print a line that is not a result, unless `--quiet` is given."""
    if not Voice.quiet:
        say(text, error=True)


def doing(text: str) -> None:
    """Report a step that the command begins, if the command reports events."""
    if stream := Voice.stream:
        stream.doing(text)


def give(result: object, lines: Iterable[str], *, json: bool, closing: str | None = None) -> None:
    """Print a command's result.

    Args:
        result: the value for `--json` and for the last event.
        lines: the lines for people, printed without `--json`.
        json: whether `--json` was given.
        closing: the line of the last event; by default all lines.
    """
    lines = list(lines)
    if stream := Voice.stream:
        stream.give(result, "\n".join(lines) if closing is None else closing)
    if json:
        print_json(result)
    else:
        print_lines(lines)
