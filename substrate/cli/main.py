"""The library's commands in a single app: `substrate log`, `mcp`, `generate`, `models`, and those of
`research`.

A group is loaded only when it is used, so that `substrate --help` starts fast.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from substrate.cli import COMMANDS
from substrate.cli.console import PLAIN, argument, guarded, option


def derived(made_by: str) -> type[TyperGroup]:
    """Return the class of a group whose commands are loaded only when it is used.

    Args:
        made_by: the group, or a function that makes it, as ``module:name``; the module may load slowly.
    """

    class Derived(TyperGroup):
        """A group that is loaded when it is used."""

        @cached_property
        def _made(self) -> Any:
            from substrate.base.extras import import_extra

            module, _, name = made_by.partition(":")
            app = getattr(import_extra(module), name)
            return typer.main.get_group(app if isinstance(app, typer.Typer) else app())

        def list_commands(self, ctx: Any) -> list[str]:
            """Return the names of the commands."""
            return self._made.list_commands(ctx)

        def get_command(self, ctx: Any, cmd_name: str) -> Any:
            """Return a command by its name."""
            return self._made.get_command(ctx, cmd_name)

    return Derived


def add_group(app: typer.Typer, name: str, made_by: str, about: str) -> None:
    """Add a group that is loaded when it is used; ``about`` is its help."""
    group = typer.Typer(**PLAIN, cls=derived(made_by), help=about)
    # Typer omits a group without a command or callback.
    group.callback()(lambda: None)
    app.add_typer(group, name=name)


def absent(name: str) -> Callable[..., None]:
    """Make a command that stands for one of ``research``, and tells how to install that package."""

    def run(given: Annotated[list[str] | None, typer.Argument(hidden=True)] = None) -> None:
        from substrate.base.extras import MissingExtraError, install_hint

        raise MissingExtraError(f"`substrate {name}` is not installed", hint=install_hint("research"))

    run.__doc__ = "Not here: install event-graph-research."
    return guarded(run)


def _print_version(wanted: bool) -> None:
    if wanted:
        from substrate import __version__

        sys.stdout.write(f"substrate {__version__}\n")
        raise typer.Exit


def common(
    version: Annotated[
        bool, option("--version", "Print the version of the package.", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    """Options of every command."""


@guarded
def mcp(
    log: Annotated[Path, argument("An event log; made where it is absent with --write.", metavar="LOG")],
    write: Annotated[bool, option("--write", "Let the client write to the log too.")] = False,
    tbox: Annotated[
        str | None, option("--tbox", "A shipped TBox or a Turtle file, for its words.", metavar="TBOX")
    ] = None,
    timeout: Annotated[float | None, option("--timeout", "Seconds per query; by default 30.")] = None,
    limit: Annotated[int | None, option("--limit", "Rows per query; by default 10,000.", min=1)] = None,
) -> None:
    """Serve a log as an agent's memory.

    It is served over the Model Context Protocol, on standard input and output.
    """
    from substrate.adapters.mcp_server import serve
    from substrate.base.limits import LIMITS
    from substrate.rules.tbox import TBox
    from substrate.sparql.guard import QueryLimits

    words = TBox.load(tbox) if tbox else None
    limits = QueryLimits(timeout=LIMITS.seconds if timeout is None else timeout, rows=limit or LIMITS.rows)
    serve(log, write=write, tbox=words, limits=limits)


def add_commands(app: typer.Typer) -> None:
    """Add the library's commands to a command."""
    app.callback()(common)
    for name, command in COMMANDS.items():
        if command.made_by:
            add_group(app, name, command.made_by, command.about)
    app.command()(mcp)


def make_app() -> typer.Typer:
    """Make the library's command, without the platform's."""
    app = typer.Typer(
        **PLAIN,
        pretty_exceptions_enable=False,
        help="Event logs of typed RDF deltas: read, ask, fork, merge, serve and generate them.",
    )
    add_commands(app)
    return app
