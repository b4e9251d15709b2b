"""The options, the decorators and the results of commands: what a module of commands imports.

A command is a function with annotated options. Each decorator adds to the one before:

- :func:`guarded`: its errors become a line and an exit code (:mod:`.stopping`);
- :func:`apart`: the output of other programs goes to a log (:mod:`.notices`);
- :func:`voiced`: `--quiet` and `--verbose`;
- :func:`speaking_as`: a long command reports its events (:mod:`.events`).

Output is in :mod:`.printing`; its :func:`say` can be imported from here as well.

The project's other modules and rich, which draws progress bars, are imported only when used, so that
`substrate --help` starts fast.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from typing import Annotated, Any

import typer

from substrate.cli.notices import Voice, others_apart
from substrate.cli.printing import print_json, print_lines, say
from substrate.cli.stopping import failing

PLAIN: dict[str, Any] = {"no_args_is_help": True, "rich_markup_mode": None}
"""Plain-text help: rich, which draws frames around it, takes longer to load than all else together."""


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

            # The inner `failing` turns an error into an exit code, which `speaking` reports as the last event
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
