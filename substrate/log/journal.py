"""A log's file: durable appends by a single writer, in gzip if the name ends in ``.gz``.

Each append is one write and one ``fsync``. If the append fails, the file is cut back to its old length. If
the cut fails too, the log refuses appends until it is opened again. The unit of durability is the call:
``append`` writes one delta, and ``extend`` writes many deltas with the same single sync. A crash in between
leaves whole transactions and at most one cut-off transaction.

The file belongs to the process that opened it. A process forked from it releases the file and may only read
its copy of the log. The lock is ``flock``. On a system without it (Windows), a second
writer is not refused, and keeping writers apart is up to the user; folders are not synced there.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import RLock
from typing import NamedTuple
from weakref import WeakSet

from substrate.base.errors import LogError, LogHeldError
from substrate.base.files import OutputError, lock, replacing, sync, unlock
from substrate.base.inputs import refusal
from substrate.log._members import MEMBER as MEMBER
from substrate.log._members import Contents, pack, unpacked_contents

_OPEN_AGAIN = "Close the log and open it again: opening drops the half-written end"
_CLOSED_ON_EXEC: int = getattr(os, "O_CLOEXEC", 0)
_BINARY: int = getattr(os, "O_BINARY", 0)  # else Windows would write line feeds as two characters


class TornTail(NamedTuple):
    """An append that was cut off: the offset at which the whole part ends, and the number of bytes after it.

    Opening the log for writing moves these bytes to the file ``kept``; before, ``kept`` is ``None``.
    """

    offset: int
    dropped: int
    kept: Path | None = None


class Journal:
    """An open log file that only grows, locked against a second writer.

    Raises:
        LogError: the file cannot be opened, or another writer holds it.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        require_regular(path)
        try:
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | _CLOSED_ON_EXEC | _BINARY, 0o666)
        except OSError as error:
            what = f"cannot be opened for writing ({error.strerror})"
            raise LogError(what, where=(path,), hint="Check the path and its permissions") from error
        try:
            _lock(self._file, path)
            # Sync even if the file existed: its maker may have been killed before the entry was durable.
            sync(path.parent)
        except (LogError, OSError):
            os.close(self._file)
            raise
        self.lock = RLock()
        """Held by the thread that appends."""
        self._forked = False
        # Why no append is taken any more, and what to do
        self._fault: tuple[str, str] | None = None
        # The place of the next write. A file of another size reveals a writer on another machine, which the
        # lock may not reach.
        self._end = os.lseek(self._file, 0, os.SEEK_END)
        _OPEN.add(self)

    def check(self) -> None:
        """Refuse to write if this process may not.

        Raises:
            LogError: this process was forked from the opener of the file, the log was closed, an
                append failed and could not be undone, or another writer changed the file.
        """
        if self._forked:
            what = "this process was forked from the process that opened the log, and may only read it"
            hint = "Append in the process that opened it, or close it there and open it here"
            raise LogError(what, where=(self.path,), hint=hint)
        if self._file < 0:
            raise LogError("the log was closed", where=(self.path,), hint="Open it again to append")
        status = os.fstat(self._file)
        if not status.st_nlink:
            hint = "Save the log under another path: its copy in memory is complete"
            raise LogError("the log's file was deleted or replaced", where=(self.path,), hint=hint)
        if status.st_size != self._end and not self._fault:
            what = "another writer, which the lock did not stop, changed the file"
            hint = "Write it from one machine only; close it here, then run `substrate log verify`"
            self._fault = what, hint
        if self._fault:
            raise LogError(self._fault[0], where=(self.path,), hint=self._fault[1])

    def append(self, text: str) -> None:
        """Add text as one durable step; if it fails, the file is restored.

        If the file cannot be restored, the journal refuses further appends, which would be lost behind half a
        transaction.

        Raises:
            LogError: the system refuses the write.
        """
        data = pack(text) if self.path.suffix == ".gz" else text.encode()
        try:
            view = memoryview(data)
            while view:
                view = view[os.write(self._file, view) :]
            os.fsync(self._file)
            self._end += len(data)
        except OSError as error:
            undone = self._undo()
            what = "the disk is full" if error.errno == errno.ENOSPC else str(error.strerror)
            hint = "Nothing was written; free space and append again" if undone else _OPEN_AGAIN
            raise LogError(f"cannot append ({what})", where=(self.path,), hint=hint) from error
        except BaseException:
            self._undo()
            raise

    def _undo(self) -> bool:
        """Cut off a failed append, durably; if the disk refuses that too, refuse further appends."""
        try:
            os.ftruncate(self._file, self._end)
            os.fsync(self._file)
            os.lseek(self._file, self._end, os.SEEK_SET)
        except OSError:
            self._fault = "a failed append could not be undone", _OPEN_AGAIN
        return not self._fault

    def cut(self, offset: int) -> Path:
        """Move all bytes after ``offset`` to a file next to the log, durably; return its path."""
        rest = os.pread(self._file, os.fstat(self._file).st_size - offset, offset)
        cut_path = keep_beside(self.path, offset, rest)
        self.drop(offset)
        return cut_path

    def drop(self, offset: int) -> None:
        """Cut off all bytes after ``offset``, durably."""
        os.ftruncate(self._file, offset)
        os.fsync(self._file)
        self._end = os.lseek(self._file, offset, os.SEEK_SET)

    def close(self) -> None:
        """Release the file and its lock."""
        if self._file >= 0:
            unlock(self._file)
            self._close_file()

    def _close_file(self) -> None:
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def disown(self) -> None:
        """Release the file in a forked process, so that only the opener holds the lock."""
        self._close_file()
        self._forked = True
        # A thread of the parent, which does not exist here, may have held the old lock
        self.lock = RLock()


_OPEN: WeakSet[Journal] = WeakSet()


def _disown_all() -> None:
    for journal in list(_OPEN):
        journal.disown()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_disown_all)


def require_regular(path: Path) -> None:
    """Refuse a pipe, a device or a folder, which cannot be read to an end, and a file that is too large.

    Raises:
        LogError: the path exists and must not be read.
    """
    if why := refusal(path):
        raise LogError(why, where=(path,), hint="Give the path of a file; SUBSTRATE_LIMITS sets its bytes")


def keep_beside(path: Path, offset: int, rest: bytes) -> Path:
    """Write bytes cut from a log to a new file next to it, durably; return the file's path."""
    mode = path.stat().st_mode & 0o777
    number = 0
    while True:
        cut_path = path.with_name(f"{path.name}.cut-{offset}{f'-{number}' if number else ''}")
        try:
            handle = os.open(cut_path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _BINARY, mode)
            break
        except FileExistsError:
            number += 1
    with os.fdopen(handle, "wb") as file:
        file.write(rest)
        file.flush()
        os.fsync(file.fileno())
    sync(cut_path.parent)
    return cut_path


@contextmanager
def read_contents(path: Path) -> Iterator[Contents]:
    """A journal's contents, open for reading within the context.

    Raises:
        LogError: the file cannot be read.
    """
    require_regular(path)
    try:
        with path.open("rb") as file:
            if path.suffix == ".gz":
                yield unpacked_contents(file.read())
            else:
                yield Contents(file, [], os.fstat(file.fileno()).st_size)
    except OSError as error:
        raise LogError(f"cannot be read ({error.strerror})", where=(path,), hint="Check the path") from error


def write_atomically(path: Path, *texts: str) -> None:
    """Write a whole file at once: readers see the old file or the new file, never a part.

    In a ``.gz`` file each text becomes a member. An existing file keeps its mode, and a link its target; a
    new file gets the mode that the process gives to new files.

    Raises:
        LogError: another writer has the file open as its journal, or the system refuses the write.
    """
    data = b"".join(map(pack, texts)) if path.suffix == ".gz" else "".join(texts).encode()
    path = path.resolve()
    mode = path.stat().st_mode & 0o777 if path.is_file() else None
    try:
        with _unopened(path), replacing(path) as fresh:
            fresh.write_bytes(data)
            if mode is not None:
                fresh.chmod(mode)
    except OutputError as error:
        raise LogError(error.what, where=error.where, hint=error.hint) from error
    except OSError as error:
        what = f"cannot be written ({error.strerror})"
        raise LogError(what, where=(path,), hint="What was there is unchanged; give another path") from error


@contextmanager
def _unopened(path: Path) -> Iterator[None]:
    """Lock an existing file, so that no open journal is replaced under its writer."""
    if not path.is_file():
        yield
        return
    handle = os.open(path, os.O_RDONLY | _CLOSED_ON_EXEC)
    try:
        _lock(handle, path)
        yield
    finally:
        os.close(handle)


def _lock(handle: int, path: Path) -> None:
    try:
        held = lock(handle)
    except OSError as error:
        what, hint = f"cannot be locked ({error.strerror})", "Keep it on a file system that has locks"
        raise LogError(what, where=(path,), hint=hint) from error
    if not held:
        what = f"another writer has this log open{_holder(handle)}"
        raise LogHeldError(what, where=(path,), hint="Close it there, or read the log with EventLog.read")


def _holder(handle: int) -> str:
    """The process that holds a file's lock, in brackets; empty if the system does not tell."""
    file = f":{os.fstat(handle).st_ino}"
    with suppress(OSError, ValueError):
        for line in Path("/proc/locks").read_text("ascii").splitlines():
            kind, process, name = line.split()[1], line.split()[4], line.split()[5]
            if kind == "FLOCK" and name.endswith(file):
                return f" (process {process})"
    return ""
