"""The end of a command: an error or a signal becomes a sentence and an exit code."""

from __future__ import annotations

import signal
import threading
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import typer

from substrate.cli.notices import Voice, ours
from substrate.cli.printing import say

ENDING = (signal.SIGTERM, signal.SIGHUP) if hasattr(signal, "SIGHUP") else (signal.SIGTERM,)
"""The signals that end a command as Ctrl-C does: a service manager and a closing terminal send them."""
SIGNALED = 128
"""The exit code of a command that a signal ended is this plus the signal's number."""
STOPPED = "by {}: finished work is kept, run it again to go on from there"
"""The message of a command that a signal ended, with the signal's name."""


class _Terminated(KeyboardInterrupt):
    """SIGTERM or SIGHUP, which end a command as Ctrl-C does: unfinished output is removed."""


def _end(number: int, _: Any) -> None:
    raise _Terminated(number)


@contextmanager
def _terminable() -> Iterator[None]:
    """Turn SIGTERM and SIGHUP into exceptions in the block; only the main thread can receive them.

    A process that ignores SIGHUP, as under `nohup`, keeps ignoring it.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    handled = [number for number in ENDING if signal.getsignal(number) is not signal.SIG_IGN]
    before = {number: signal.signal(number, _end) for number in handled}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def failing() -> Iterator[None]:
    """Turn errors of the project and of the system into a message and exit code 1.

    Ctrl-C, SIGTERM and SIGHUP become a line and exit code 130, 143 or 129.
    """
    try:
        with _terminable():
            yield
    except KeyboardInterrupt as stop:
        number = signal.Signals(stop.args[0]) if isinstance(stop, _Terminated) else signal.SIGINT
        message = STOPPED.format(number.name)
        with suppress(OSError):  # the reader may have gone
            say(message, "interrupted", error=True)
        raise typer.Exit(SIGNALED + number) from None
    except BrokenPipeError:
        raise
    except Exception as error:
        from substrate.base.errors import SubstrateError

        if isinstance(error, SubstrateError):
            message = str(error)
        elif isinstance(error, OSError):
            place = error.filename or "standard output"
            message = f"{place}: {error.strerror or error}. Nothing was written there."
        elif isinstance(error, MemoryError):
            message = "there is not enough memory. Give less at once; SUBSTRATE_LIMITS bounds what is read."
        else:
            raise
        if Voice.verbose:
            ours("stderr").write(traceback.format_exc())
        say(message, "error:", error=True)
        raise typer.Exit(1) from None
