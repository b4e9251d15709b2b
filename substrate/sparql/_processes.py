"""Processes that are kept between a guard's questions: started once, closed in, and asked one at a time."""

from __future__ import annotations

import atexit
import os
import pickle
import subprocess
import sys
import tempfile
from threading import Lock, Timer
from typing import Any

_MOST = 2
"""Processes that wait for a next question."""


class EndedError(Exception):
    """A process ended before it answered: its exit code, its last words, and whether its time was up."""

    def __init__(self, code: int, complaint: bytes, *, expired: bool) -> None:
        super().__init__(code, complaint, expired)
        self.code = code
        self.complaint = complaint
        self.expired = expired


class Process:
    """A process of its own that answers jobs until it is ended, or its parent is.

    Args:
        program: Python that reads pickled jobs from its input and writes pickled answers.
        opening: the first job, to which nothing is answered.
    """

    def __init__(self, program: str, opening: object) -> None:
        self.asked = False
        self.mark: str | None = None
        """The name of the state that it holds."""
        self._expired = False
        self._words = tempfile.TemporaryFile()  # noqa: SIM115  # as long as the process
        self._process = subprocess.Popen(
            [sys.executable, "-c", program],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._words,
            env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        )
        self._opening = opening

    def ask(self, job: object, timeout: float) -> Any:
        """The answer to a job.

        Raises:
            EndedError: the process broke down, or did not answer in time; it is no more.
        """
        source, sink = self._process.stdout, self._process.stdin
        assert source is not None
        assert sink is not None
        timer = Timer(timeout, self._expire)
        timer.daemon = True
        timer.start()
        try:
            if not self.asked:
                pickle.dump(self._opening, sink)
                self.asked = True
            pickle.dump(job, sink)
            sink.flush()
            return pickle.load(source)
        except (EOFError, OSError, pickle.UnpicklingError):
            code = self._process.wait()
            self._words.seek(0)
            complaint = self._words.read()
            self.end()
            raise EndedError(code, complaint, expired=self._expired) from None
        except BaseException:
            self.end()
            raise
        finally:
            timer.cancel()

    def _expire(self) -> None:
        self._expired = True
        self._process.kill()

    def end(self) -> None:
        """End it, whatever it does."""
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout, self._words):
            try:
                if stream is not None:
                    stream.close()
            except OSError:  # what was not read by it any more
                pass


class Pool:
    """Processes that wait, by the limits within which they run."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._waiting: list[tuple[object, Process]] = []
        self._inherited: list[object] = []

    def take(self, key: object, mark: str | None) -> Process | None:
        """A process that waits within these limits, best one that holds this state; else ``None``."""
        with self._lock:
            fitting = [pair for pair in self._waiting if pair[0] == key]
            found = next((pair for pair in fitting if pair[1].mark == mark), fitting[-1] if fitting else None)
            if found is None:
                return None
            self._waiting.remove(found)
            return found[1]

    def give(self, key: object, process: Process) -> None:
        """Let a process wait for a next question; the one that has waited longest may end for it."""
        with self._lock:
            self._waiting.append((key, process))
            left = [pair[1] for pair in self._waiting[:-_MOST]]
            self._waiting = self._waiting[-_MOST:]
        for one in left:
            one.end()

    def end(self) -> None:
        """End all that wait."""
        with self._lock:
            waiting, self._waiting = self._waiting, []
        for _, process in waiting:
            process.end()

    def forget(self) -> None:
        """Begin anew in a process that was forked: what waits is the parent's."""
        self._inherited.append(self._waiting)
        self._lock, self._waiting = Lock(), []


POOL = Pool()
"""The processes of this one."""
atexit.register(POOL.end)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=POOL.forget)
