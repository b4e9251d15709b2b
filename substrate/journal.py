"""A log's file: durable appends by a single writer, gzip where the name ends in ``.gz``.

Each append is one write and one ``fsync``; where the write fails the file is cut back to what it was.
A gzip journal has one member an append, so that a torn member can be told from a damaged one.
"""

from __future__ import annotations

import errno
import fcntl
import gzip
import os
import tempfile
import zlib
from pathlib import Path
from typing import NamedTuple

from substrate.errors import LogError


class TornTail(NamedTuple):
    """An append that was cut off half-way: where the whole part ends, and how many bytes were dropped."""

    offset: int
    dropped: int


class Journal:
    """An open log file that only grows, locked against a second writer.

    Raises:
        LogError: the file cannot be opened, or another writer holds it.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._compressed = path.suffix == ".gz"
        created = not path.exists()
        try:
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise LogError(f"cannot be opened for writing ({error.strerror})", where=(path,), hint="Check the path and its permissions") from error
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(self._file)
            raise LogError("another writer has this log open", where=(path,), hint="Close it there, or read the log with EventLog.read") from error
        if created:
            _sync_folder(path.parent)

    def append(self, text: str) -> None:
        """Add text as one durable step; where it fails the file is as before."""
        data = _compress(text.encode()) if self._compressed else text.encode()
        end = os.lseek(self._file, 0, os.SEEK_END)
        try:
            view = memoryview(data)
            while view:
                view = view[os.write(self._file, view) :]
            os.fsync(self._file)
        except OSError as error:
            os.ftruncate(self._file, end)
            what = "the disk is full" if error.errno == errno.ENOSPC else str(error.strerror)
            raise LogError(f"cannot append ({what})", where=(self.path,), hint="Nothing was written; free space and append again") from error

    def cut(self, offset: int) -> None:
        """Drop what lies behind ``offset``, durably."""
        os.ftruncate(self._file, offset)
        os.fsync(self._file)

    def close(self) -> None:
        """Let go of the file and its lock."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1


def read_text(path: Path) -> tuple[str, list[tuple[int, int]], int]:
    """A journal's text, where its appends end, and the file's size.

    Returns:
        The text that could be read; for gzip the ``(characters, bytes)`` at each whole member's end,
        for plain text an empty list; the file's size in bytes.

    Raises:
        LogError: the file is absent, not UTF-8, or a gzip member is damaged.
    """
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise LogError(f"cannot be read ({error.strerror})", where=(path,), hint="Check the path") from error
    if path.suffix != ".gz":
        return _decode(path, raw), [], len(raw)
    text, ends, offset = "", [], 0
    parts: list[str] = []
    while offset < len(raw):
        member = zlib.decompressobj(wbits=31)
        try:
            data = member.decompress(raw[offset:])
        except zlib.error as error:
            raise LogError(f"damaged ({error})", where=(path, f"byte {offset}"), hint="The file was edited; restore it from a copy") from error
        if not member.eof:
            break
        parts.append(_decode(path, data))
        offset = len(raw) - len(member.unused_data)
        ends.append((sum(map(len, parts[-1:])) + (ends[-1][0] if ends else 0), offset))
    text = "".join(parts)
    return text, ends, len(raw)


def _decode(path: Path, data: bytes) -> str:
    """UTF-8, but for a last character that was cut off with its append."""
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        if error.reason == "unexpected end of data":
            return data[: error.start].decode()
        raise LogError(f"not UTF-8 at byte {error.start}", where=(path,), hint="The file was edited; restore it from a copy") from error


def write_atomically(path: Path, text: str) -> None:
    """A whole file at once: readers see the old one or the new one, never a part."""
    data = _compress(text.encode()) if path.suffix == ".gz" else text.encode()
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, 0o644)
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise
    _sync_folder(path.parent)


def _compress(data: bytes) -> bytes:
    return gzip.compress(data, mtime=0)


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
