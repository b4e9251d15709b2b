"""Dagster's daemon, which ends with the process that started it.

    python -m orchestration.pipeline.daemon run

takes what `dagster-daemon` takes. Its standard input is a pipe of that process, and closes however it ends.
"""

from __future__ import annotations

import os
import signal
import sys
from importlib.metadata import entry_points
from threading import Thread


def _end_with_parent() -> None:
    while os.read(sys.stdin.fileno(), 1):
        pass
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    Thread(target=_end_with_parent, daemon=True).start()
    (command,) = entry_points(group="console_scripts", name="dagster-daemon")
    sys.exit(command.load()())
