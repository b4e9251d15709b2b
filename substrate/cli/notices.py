"""Messages of other programs: they go into a log file, not between the lines of a command.

The Java runtime, Spark's workers and Bullet write to the process's own output; what a command itself prints
and draws stays where it was.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from substrate.cli import platform


class Voice:
    """The amount that a command says: set once, by its options."""

    quiet = False
    verbose = False


OURS: dict[str, TextIO] = {}
"""The command's own output while everything else that is written goes to the log of notices."""
_MOST_BYTES = 1 << 20
"""Of the log of notices; a longer one begins anew."""


def notices_path() -> Path:
    """The file that takes what other programs say: in the project's `.dagster`, else in the user's state."""
    from substrate.base.errors import ParameterError

    try:
        if root := platform.module("workspace.root"):
            return root.find_root() / ".dagster" / "notices.log"
    except (ParameterError, ModuleNotFoundError):  # no project here, or not all that the platform needs
        pass
    home = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(home) / "substrate" / "notices.log"


@contextmanager
def others_apart() -> Iterator[None]:
    """Send what other programs and libraries write to this process's output to the log of notices.

    The Java runtime, Spark's workers and Bullet write to the process's own files, so these are what changes;
    bars are still drawn where the command prints. With `--verbose` nothing is sent away.
    """
    if Voice.verbose or OURS:
        yield
        return
    sys.stdout.flush()
    sys.stderr.flush()
    before = sys.stdout, sys.stderr
    copies = os.dup(1), os.dup(2)
    with _notices() as log:
        try:
            for name, stream, number, copy in zip(("stdout", "stderr"), before, (1, 2), copies, strict=True):
                own = writes_to(stream, number)
                OURS[name] = os.fdopen(os.dup(copy), "w", encoding="utf-8") if own else stream
                os.dup2(log.fileno(), number)
            sys.stdout = sys.stderr = log
            yield
        finally:
            sys.stdout, sys.stderr = before
            log.flush()
            for number, copy in zip((1, 2), copies, strict=True):
                os.dup2(copy, number)
                os.close(copy)
            for name, stream in zip(("stdout", "stderr"), before, strict=True):
                ours = OURS.pop(name)
                if ours is not stream:
                    ours.close()


def _notices() -> TextIO:
    path = notices_path()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        more = path.is_file() and path.stat().st_size < _MOST_BYTES
        return path.open("a" if more else "w", encoding="utf-8", buffering=1)
    except OSError:
        return Path(os.devnull).open("w", encoding="utf-8")


def writes_to(stream: TextIO, number: int) -> bool:
    """Tell whether a stream writes to a descriptor of the process itself."""
    try:
        return stream.fileno() == number
    except (OSError, ValueError):
        return False
