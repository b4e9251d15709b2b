"""A log's file: durable appends by a single writer, gzip where the name ends in ``.gz``.

Each append is one write and one ``fsync``; where it fails the file is cut back to what it was, and
where it cannot be, the log takes no more until it is opened again. The
unit of durability is the call: one delta by ``append``, all of the deltas by ``extend``, which costs
no more syncs than one. A crash between leaves whole transactions, and at most one that is cut off.

The file belongs to the process that opened it. A process forked from that one lets go of the file and
may only read its copy of the log. The lock is ``flock``: where the system has none (Windows), a second
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
from substrate.base.files import OutputError, replacing, sync
from substrate.base.inputs import refusal
from substrate.log._members import MEMBER as MEMBER
from substrate.log._members import Contents, pack, unpacked_contents

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None


_OPEN_AGAIN = "Close the log and open it again: what is half written is dropped then"
_CLOSED_ON_EXEC: int = getattr(os, "O_CLOEXEC", 0)
_BINARY: int = getattr(os, "O_BINARY", 0)  # else Windows would write line feeds as two characters


class TornTail(NamedTuple):
    """An append that was cut off half-way: the end of the whole part, and the number of bytes behind it.

    ``kept`` is the file that has these bytes since the log was opened to be written; ``None`` while they
    stand in the log's own.
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
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | _CLOSED_ON_EXEC | _BINARY, 0o644)
        except OSError as error:
            raise LogError(
                f"cannot be opened for writing ({error.strerror})",
                where=(path,),
                hint="Check the path and its permissions",
            ) from error
        try:
            _lock(self._file, path)
            # Also where the file was there: who made it may have been killed before its entry was durable.
            sync(path.parent)
        except (LogError, OSError):
            os.close(self._file)
            raise
        self.lock = RLock()
        """Held by the thread that appends."""
        self._forked = self._ended = False
        # Where the file is written next. Where a lock does not reach another machine, its size tells of a
        # writer there.
        self._end = os.lseek(self._file, 0, os.SEEK_END)
        _OPEN.add(self)

    def check(self) -> None:
        """Refuse to write where this process may not.

        Raises:
            LogError: this process was forked from the one that opened the file, the log was closed, an
                append failed and could not be undone, or another writer changed the file.
        """
        if self._forked:
            raise LogError(
                "this process was forked from the one that has the log open, and may only read it",
                where=(self.path,),
                hint="Append in the process that opened it, or open the log here when it is closed there",
            )
        if self._file < 0:
            raise LogError("the log was closed", where=(self.path,), hint="Open it again to append")
        status = os.fstat(self._file)
        if not status.st_nlink:
            raise LogError(
                "the log's file was deleted or replaced",
                where=(self.path,),
                hint="Save the log under a path of its own: what is in memory is whole",
            )
        if self._ended:
            raise LogError("a failed append could not be undone", where=(self.path,), hint=_OPEN_AGAIN)
        if status.st_size != self._end:
            self._ended = True
            raise LogError(
                "another writer, which its lock did not reach, changed the file",
                where=(self.path,),
                hint="Let one machine alone write it; close it here, then `substrate log verify`",
            )

    def append(self, text: str) -> None:
        """Add text as one durable step; where it fails the file is as before.

        Where it cannot be made so, the journal's life ends: an append behind half a transaction would be
        lost with it.

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
        """Cut off a failed append, durably; where the disk refuses that too, nothing is appended any more."""
        try:
            os.ftruncate(self._file, self._end)
            os.fsync(self._file)
            os.lseek(self._file, self._end, os.SEEK_SET)
        except OSError:
            self._ended = True
        return not self._ended

    def cut(self, offset: int) -> Path:
        """Move what lies behind ``offset`` to a file beside the log, durably, and give its path."""
        rest = os.pread(self._file, os.fstat(self._file).st_size - offset, offset)
        cut_path = keep_beside(self.path, offset, rest)
        self.drop(offset)
        return cut_path

    def drop(self, offset: int) -> None:
        """Cut off what lies behind ``offset``, durably."""
        os.ftruncate(self._file, offset)
        os.fsync(self._file)
        self._end = os.lseek(self._file, offset, os.SEEK_SET)

    def close(self) -> None:
        """Let go of the file and its lock."""
        if self._file >= 0:
            if fcntl is not None:
                # A process that is just being forked may hold the file a moment longer: the lock ends here
                fcntl.flock(self._file, fcntl.LOCK_UN)
            self._let_go()

    def _let_go(self) -> None:
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def disown(self) -> None:
        """In a forked process: let go of the file, so that the lock is its opener's alone."""
        self._let_go()
        self._forked = True
        # A thread that is not here any more may have held the old one
        self.lock = RLock()


_OPEN: WeakSet[Journal] = WeakSet()


def _disown_all() -> None:
    for journal in list(_OPEN):
        journal.disown()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_disown_all)


def require_regular(path: Path) -> None:
    """Refuse a pipe, a device or a folder, which nobody reads to its end, and what is too large.

    Raises:
        LogError: the path is there and is not to be read.
    """
    if why := refusal(path):
        raise LogError(why, where=(path,), hint="Give the path of a file; SUBSTRATE_LIMITS sets its bytes")


def keep_beside(path: Path, offset: int, rest: bytes) -> Path:
    """Write bytes that are cut from a log to a new file beside it, durably, and give its path."""
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
    """A journal's data and where its appends end, to be read within the context.

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
    """A whole file at once: readers see the old one or the new one, never a part.

    In a ``.gz`` file each text becomes a member. A file that is there keeps its mode, and a link its target.

    Raises:
        LogError: another writer has the file open as its journal, or the system refuses the write.
    """
    data = b"".join(map(pack, texts)) if path.suffix == ".gz" else "".join(texts).encode()
    path = path.resolve()
    mode = path.stat().st_mode & 0o777 if path.is_file() else 0o644
    try:
        with _unopened(path), replacing(path) as fresh:
            fresh.write_bytes(data)
            fresh.chmod(mode)
    except OutputError as error:
        raise LogError(error.what, where=error.where, hint=error.hint) from error
    except OSError as error:
        what = f"cannot be written ({error.strerror})"
        raise LogError(what, where=(path,), hint="What was there is unchanged; give another path") from error


@contextmanager
def _unopened(path: Path) -> Iterator[None]:
    """Hold a file that is there, so that nobody's journal is replaced under them."""
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
    if fcntl is None:
        return
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if not isinstance(error, BlockingIOError):
            what, hint = f"cannot be locked ({error.strerror})", "Keep it on a file system that has locks"
            raise LogError(what, where=(path,), hint=hint) from error
        raise LogHeldError(
            f"another writer has this log open{_holder(handle)}",
            where=(path,),
            hint="Close it there, or read the log with EventLog.read",
        ) from error


def _holder(handle: int) -> str:
    """The process that holds a file's lock, in brackets; empty where the system does not say."""
    file = f":{os.fstat(handle).st_ino}"
    with suppress(OSError, ValueError):
        for line in Path("/proc/locks").read_text("ascii").splitlines():
            kind, process, name = line.split()[1], line.split()[4], line.split()[5]
            if kind == "FLOCK" and name.endswith(file):
                return f" (process {process})"
    return ""
