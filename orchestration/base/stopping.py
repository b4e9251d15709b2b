"""The interruption of a run: SIGINT, SIGTERM and SIGHUP end it within seconds, with a one-line message.

A thread receives the signal through the descriptor that Python's handler writes to. So it is heard even if
Dagster or Spark sets another handler meanwhile, and wherever the main thread waits. The main thread's work is
not unwound: finished stages have their files, and an unfinished stage has only a scratch folder, which is
deleted.
"""

from __future__ import annotations

import os
import signal
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import psutil

from substrate.base.files import drop_scratch
from substrate.cli.stopping import ENDING, SIGNALED, STOPPED

SIGNALS = (signal.SIGINT, *ENDING)
# The seconds for Spark's processes to end by themselves, in which they delete their files.
PATIENCE = 5.0


@contextmanager
def ends_when_told(errors: int = 2) -> Iterator[None]:
    """In the block SIGINT, SIGTERM and SIGHUP end this process and all that it started: code 130, 143 or 129.

    A process that ignores SIGHUP, as under `nohup`, keeps ignoring it.

    Only the main thread can set handlers; elsewhere, and inside another such block, it does nothing.

    Args:
        errors: the descriptor to which the line goes.
    """
    if threading.current_thread() is not threading.main_thread() or _listening.is_set():
        yield
        return
    heard, told = socket.socketpair()
    told.setblocking(False)
    ending, terminal = threading.Event(), os.dup(errors)  # Dagster takes standard error away during a run
    thread = threading.Thread(target=_listen, args=(heard, ending, terminal), daemon=True)
    thread.start()
    _listening.set()
    # Ctrl-C reaches the whole group: processes that start after this line leave the signal to this process.
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    ignored = {signal.SIGHUP} if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN else set[signal.Signals]()
    before = {number: signal.signal(number, _wait) for number in SIGNALS if number not in ignored}
    descriptor = signal.set_wakeup_fd(told.fileno(), warn_on_full_buffer=False)
    try:
        yield
    finally:
        # A failure that the end of its processes caused must not print its own message.
        if ending.is_set():
            _wait()
        signal.set_wakeup_fd(descriptor)
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        for number, handler in before.items():
            signal.signal(number, handler)
        _listening.clear()
        told.close()
        thread.join()
        heard.close()
        os.close(terminal)


_listening = threading.Event()


def _wait(*_: Any) -> None:
    """The main thread's work from then on; the other one ends the process."""
    while True:
        signal.pause()


def _listen(heard: socket.socket, ending: threading.Event, terminal: int) -> None:
    signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
    while data := heard.recv(1):
        if data[0] in SIGNALS:
            ending.set()
            _end(signal.Signals(data[0]), terminal)


def _end(told: signal.Signals, terminal: int) -> None:
    cursor = "\x1b[?25h" if os.isatty(terminal) else ""  # which a bar of progress has hidden
    text = f"interrupted {STOPPED.format(told.name)}"
    with suppress(OSError):  # the terminal may be gone
        os.write(terminal, f"{cursor}{text}\n".encode())
    started = psutil.Process().children(recursive=True)
    for process in started:
        with suppress(psutil.NoSuchProcess):
            process.terminate()
    _, left = psutil.wait_procs(started, timeout=PATIENCE)
    for process in left:
        with suppress(psutil.NoSuchProcess):
            process.kill()
    psutil.wait_procs(left, timeout=1)
    drop_scratch()
    os._exit(SIGNALED + told)
