"""Redirection of other programs' messages into a log file, so that they do not mix with a command's lines.

The Java runtime, Spark's workers and Bullet write to the process's own output. The command's own output is
not redirected.
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
    """How much the command says, and the stream of its events, if any.

    It is one for the process: a process runs one command, and signals and libraries print from anywhere.
    """

    quiet = False
    verbose = False
    stream: Any = None


OURS: dict[str, TextIO] = {}
"""The command's own output while all other output goes to the log of notices."""
_NUMBERS = {"stdout": 1, "stderr": 2}
_HOW: Mapping[str, Any] = {"encoding": "utf-8", "errors": "backslashreplace"}
_MOST_BYTES = 1 << 20
"""The maximum size of the log of notices; a longer log is started anew."""


def notices_path() -> Path:
    """Return the log file of notices, in the project's `.dagster` or else in the user's state folder."""
    from substrate.base.errors import ParameterError

    try:
        if settings := platform.module("settings"):
            return settings.find_root() / ".dagster" / "notices.log"
    except (ParameterError, ModuleNotFoundError):  # no project here, or a package of the platform is missing
        pass
    home = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(home) / "substrate" / "notices.log"


def ours(name: str) -> TextIO:
    """Return the command's own `stdout` or `stderr`, even while the output of others is redirected."""
    return OURS.get(name) or getattr(sys, name)


def descriptor(name: str) -> int:
    """Return the descriptor of the command's own `stdout` or `stderr`, by default the process's own."""
    with suppress(OSError, ValueError):
        return ours(name).fileno()
    return _NUMBERS[name]


@contextmanager
def others_apart() -> Iterator[None]:
    """Redirect the output of other programs and libraries to the log of notices.

    The Java runtime, Spark's workers and Bullet write to the process's descriptors, so these are redirected;
    the command still prints to the original output (:func:`ours`). With `--verbose` nothing is redirected.
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
                # Another copy, because Dagster redirects the process's own output during a run
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
                    with suppress(OSError):  # the writer has met the error too, and reported it
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
