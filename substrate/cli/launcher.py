"""The `substrate` command where perhaps only a part of what it needs is installed.

The library comes without any command's packages, and without the platform. This module imports none of them:
it starts the command, and where something is missing it says what brings it. The library itself is imported
only where it is asked for something, so that `substrate --help` and the shell's completion start at once.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from io import TextIOWrapper
from typing import Any

from substrate.cli import platform

COMMANDS: Mapping[str, str] = {
    "log": "cli",
    "mcp": "mcp",
    "score": "research",
    "generate": "cli",
    "predict": "research",
    "perceive": "research",
    "models": "cli",
}
"""The library's own commands, and the extra that each needs."""

_ABOUT = """substrate {version}: the library is installed, and none of its commands.

pip install 'event-graph-substrate[cli]'      substrate log, generate: over logs and worlds
pip install 'event-graph-substrate[worlds]'   what simulated worlds need beside that
pip install 'event-graph-substrate[mcp]'      substrate mcp: a log as an agent's memory
pip install event-graph-research              substrate perceive, predict, score: beyond the paper

The other commands belong to the platform, which is run from its checkout: `make setup` there.
"""

_OF_THE_PLATFORM = (
    f"It has {', '.join(COMMANDS)}; the platform's commands are run from its checkout, after `make setup` "
    "or pip install -e '.[platform]' there"
)


def main() -> None:
    """Run the command; exit code 1 where an extra or the platform is missing, with its name."""
    _open_streams()
    arguments = sys.argv[1:]
    if arguments == ["--version"]:  # the word that needs no command
        from substrate import __version__

        sys.stdout.write(f"substrate {__version__}\n")
        return
    start = None
    command = next((argument for argument in arguments if not argument.startswith("-")), None)
    try:
        start = _started(command)
        start()
    except ImportError as error:
        from substrate.base.extras import MissingExtraError, install, missing_extra

        missing = error if isinstance(error, MissingExtraError) else None
        if isinstance(error, ModuleNotFoundError):
            missing = missing_extra(error)
        if missing is None:
            raise
        if start or command:
            if not start and (extra := COMMANDS.get(command or "")):
                missing = MissingExtraError(f"`substrate {command}` is not installed", hint=install(extra))
            sys.exit(f"error: {missing}")
        from substrate import __version__

        sys.stdout.write(_ABOUT.format(version=__version__))


def _open_streams() -> None:
    """Write UTF-8 in every locale, and stand in for standard streams that the caller closed.

    Otherwise the next file to be opened would take the place of a closed stream, and get what a program
    that is started writes there.
    """
    while (place := os.open(os.devnull, os.O_RDWR)) <= 2:  # 0, 1 and 2 are the standard streams
        os.set_inheritable(place, True)
    os.close(place)
    how: Any = {"encoding": "utf-8", "errors": "backslashreplace"}
    for name, number in (("stdout", 1), ("stderr", 2)):
        if (stream := getattr(sys, name)) is None:
            setattr(sys, name, os.fdopen(number, "w", closefd=False, **how))
        elif isinstance(stream, TextIOWrapper):
            stream.reconfigure(**how)


def _started(command: str | None) -> Callable[[], object]:
    """The command that runs: the platform's, which has the library's too, where it is."""
    if platform_main := platform.module("cli.main"):
        return platform_main.app
    if command is not None and command not in COMMANDS:
        from substrate.base.errors import ParameterError

        what = f"`substrate {command}` is no command of the library"
        sys.exit(f"error: {ParameterError(what, hint=_OF_THE_PLATFORM)}")
    from substrate.cli.main import make_app

    return make_app()
