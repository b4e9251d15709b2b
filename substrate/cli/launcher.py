"""The start of the `substrate` command, even if only a part of its packages is installed.

The library installs neither the commands' packages nor the platform, and this module imports none of them. It
starts the command; if a package is missing, it names the extra that provides the package. The library itself
is imported only when needed, so that `substrate --help` and the shell's completion start at once.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from io import TextIOWrapper
from typing import Any

from substrate.cli import COMMANDS, platform

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
    """Run the command; if an extra or the platform is missing, name it and exit with code 1."""
    _open_streams()
    arguments = sys.argv[1:]
    if arguments == ["--version"]:  # needs no command's packages
        from substrate import __version__

        sys.stdout.write(f"substrate {__version__}\n")
        return
    start = None
    command = next((argument for argument in arguments if not argument.startswith("-")), None)
    try:
        start = _started(command)
        start()
    except ImportError as error:
        from substrate.base.extras import MissingExtraError, install_hint, missing_extra

        missing = error if isinstance(error, MissingExtraError) else None
        if isinstance(error, ModuleNotFoundError):
            missing = missing_extra(error)
        if missing is None:
            raise
        if start or command:
            if not start and (known := COMMANDS.get(command or "")):
                hint = install_hint(known.extra)
                missing = MissingExtraError(f"`substrate {command}` is not installed", hint=hint)
            sys.exit(f"error: {missing}")
        from substrate import __version__

        sys.stdout.write(_ABOUT.format(version=__version__))


def _open_streams() -> None:
    """Write UTF-8 in every locale, and replace standard streams that the caller closed.

    Otherwise the next opened file would take a closed stream's descriptor, and receive the output of child
    processes.
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
    """Return the command to run: if installed, the platform's, which includes the library's commands."""
    if platform_main := platform.module("cli.main"):
        return platform_main.app
    if command is not None and command not in COMMANDS:
        from substrate.base.errors import ParameterError

        what = f"`substrate {command}` is no command of the library"
        sys.exit(f"error: {ParameterError(what, hint=_OF_THE_PLATFORM)}")
    from substrate.cli.main import make_app

    return make_app()
