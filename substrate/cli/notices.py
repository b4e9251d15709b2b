"""Messages of other programs: they go into a log file, not between the lines of a command.

The Java runtime, Spark's workers and Bullet write to the process's own output; what a command itself prints
and draws stays where it was.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any, TextIO

from substrate.cli import platform


class Voice:
    """The amount that a command says, set once by its options, and the stream of its events, if any."""

    quiet = False
    verbose = False
    stream: Any = None


OURS: dict[str, TextIO] = {}
"""The command's own output while everything else that is written goes to the log of notices."""
_NUMBERS = {"stdout": 1, "stderr": 2}
_HOW: Mapping[str, Any] = {"encoding": "utf-8", "errors": "backslashreplace"}
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


def ours(name: str) -> TextIO:
    """The command's own `stdout` or `stderr`, also while what others write goes elsewhere."""
    return OURS.get(name) or getattr(sys, name)


def descriptor(name: str) -> int:
    """The descriptor of the command's own `stdout` or `stderr`; that of the process where it has none."""
    with suppress(OSError, ValueError):
        return ours(name).fileno()
    return _NUMBERS[name]


@contextmanager
def others_apart() -> Iterator[None]:
    """Send what other programs and libraries write to this process's output to the log of notices.

    The Java runtime, Spark's workers and Bullet write to the process's own files, so these are what changes;
    the command still prints and draws where it did (:func:`ours`). With `--verbose` nothing is sent away.
    """
    if OURS:
        yield
        return
    sys.stdout.flush()
    sys.stderr.flush()
    before = {name: getattr(sys, name) for name in _NUMBERS}
    copies = {name: os.dup(number) for name, number in _NUMBERS.items()}
    with nullcontext() if Voice.verbose else _notices() as log:
        try:
            for name, number in _NUMBERS.items():
                own = writes_to(before[name], number)
                # Another copy: Dagster takes the process's own output away during a run
                OURS[name] = os.fdopen(os.dup(number), "w", **_HOW) if own else before[name]
                if log:
                    os.dup2(log.fileno(), number)
                    setattr(sys, name, log)
            yield
        finally:
            if log:
                log.flush()
            for name, number in _NUMBERS.items():
                setattr(sys, name, before[name])
                os.dup2(copies[name], number)
                os.close(copies[name])
                if (stream := OURS.pop(name)) is not before[name]:
                    with suppress(OSError):  # who wrote there has met it, and said so
                        stream.close()


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
