"""The `substrate` command where perhaps only a part of what it needs is installed.

The library comes without any command's packages. This module imports none of them: it starts the command, and
where one is missing it says which extra to install. The library itself is imported only where it is asked for
something, so that `substrate --help` and the shell's completion start at once.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping

COMMANDS: Mapping[str, str] = {"log": "cli", "mcp": "mcp"}
"""Commands that need less than the platform, and the extra that each needs."""

_ABOUT = """substrate {version}: the library is installed, and none of its commands.

pip install 'event-graph-substrate[cli]'        substrate log: the tools over one event log
pip install 'event-graph-substrate[mcp]'        substrate mcp: a log as an agent's memory
pip install 'event-graph-substrate[platform]'   every command
"""


def main() -> None:
    """Run the command; exit code 1 where an extra is missing, with its name."""
    arguments = sys.argv[1:]
    try:
        from orchestration.cli.main import app
    except ModuleNotFoundError as error:
        from substrate.base.extras import missing_extra

        if missing_extra(error) is None:
            raise
        _without_commands(arguments)
        return
    try:
        app()
    except ImportError as error:
        from substrate.base.extras import MissingExtraError, missing_extra

        if isinstance(error, MissingExtraError):
            missing = error
        elif isinstance(error, ModuleNotFoundError):
            missing = missing_extra(error)
        else:
            missing = None
        if missing is None:
            raise
        sys.exit(f"error: {missing}")


def _without_commands(arguments: list[str]) -> None:
    from substrate import __version__
    from substrate.base.extras import MissingExtraError, install

    command = next((argument for argument in arguments if not argument.startswith("-")), None)
    if "--version" in arguments[:1]:
        sys.stdout.write(f"substrate {__version__}\n")
    elif command is None:
        sys.stdout.write(_ABOUT.format(version=__version__))
    else:
        what = f"`substrate {command}` is not installed"
        sys.exit(f"error: {MissingExtraError(what, hint=install(COMMANDS.get(command, 'platform')))}")
