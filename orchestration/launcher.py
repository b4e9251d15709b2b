"""The `substrate` command where perhaps only a part of what it needs is installed.

The library comes without any command's packages. This module imports none of them: it starts the command, and
where one is missing it says which extra to install.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping

from substrate import __version__
from substrate.extras import MissingExtraError, install, missing_extra

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
        if missing_extra(error) is None:
            raise
        _without_commands(arguments)
        return
    try:
        app()
    except MissingExtraError as error:
        sys.exit(f"error: {error}")
    except ModuleNotFoundError as error:
        missing = missing_extra(error)
        if missing is None:
            raise
        sys.exit(f"error: {missing}")


def _without_commands(arguments: list[str]) -> None:
    command = next((argument for argument in arguments if not argument.startswith("-")), None)
    if "--version" in arguments[:1]:
        sys.stdout.write(f"substrate {__version__}\n")
    elif command is None:
        sys.stdout.write(_ABOUT.format(version=__version__))
    else:
        what = f"`substrate {command}` is not installed"
        sys.exit(f"error: {MissingExtraError(what, hint=install(COMMANDS.get(command, 'platform')))}")
