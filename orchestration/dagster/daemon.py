"""Dagster's daemon, ended when the process that started it ends.

    python -m orchestration.dagster.daemon run

takes the arguments of `dagster-daemon`. Its standard input is a pipe from the starting process; the pipe
closes however that process ends.
"""

from __future__ import annotations

import os
import signal
import sys
from importlib.metadata import entry_points
from threading import Thread

import orchestration.base.quiet  # noqa: F401


def _end_with_parent() -> None:
    while os.read(sys.stdin.fileno(), 1):
        pass
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    Thread(target=_end_with_parent, daemon=True).start()
    (command,) = entry_points(group="console_scripts", name="dagster-daemon")
    sys.exit(command.load()())
