"""Files and folders that appear whole or not at all, and their SHA-256."""

from __future__ import annotations

import errno
import glob
import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

from substrate.base.errors import SubstrateError

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None

_REFUSED = frozenset(
    {
        errno.ENOSPC,
        errno.EDQUOT,
        errno.EFBIG,
        errno.EROFS,
        errno.EACCES,
        errno.EPERM,
        errno.EIO,
        errno.ENOTDIR,
        errno.EISDIR,
        errno.EEXIST,
        errno.ENAMETOOLONG,
    }
)


_CLOSED_ON_EXEC: int = getattr(os, "O_CLOEXEC", 0)
_WAY_OUT = "Nothing was changed there; free space, or give another path"


class OutputError(SubstrateError):
    """The system refuses to write; what was there before is still there."""


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A fresh path to write a file or folder to; it takes ``path``'s place when the block ends well.

    Where the block fails, what was at ``path`` stays and nothing else is left. Where the process is
    killed, its scratch folder stays until :func:`clear_leftovers` or the next replacement of ``path``.
    After the block no loss of power takes the new one away; before, none takes the old one. A device or pipe
    keeps its place: it gets the bytes.

    Raises:
        OutputError: the disk is full, the system refuses to write there, or a file would take the place of a
            folder that is not empty.
    """
    if _is_device(path):
        with naming(path), tempfile.TemporaryDirectory() as scratch:
            fresh = Path(scratch) / path.name
            yield fresh
            with fresh.open("rb") as written, path.open("wb") as device:
                shutil.copyfileobj(written, device)
        return
    with naming(path):
        make_folders(path.parent)
        clear_leftovers(path)
        with _scratch(path) as scratch:
            fresh = scratch / path.name
            yield fresh
            _sync_all(fresh)
            if path.is_dir() and not fresh.is_dir() and any(path.iterdir()):
                hint = "Nothing was changed there; give the path of a file"
                raise OutputError("is a folder with files in it", where=(path,), hint=hint)
            if path.is_dir():
                sync(path.parent)  # the scratch folder is there before the old one is in it alone
                path.rename(scratch / "old")
            fresh.replace(path)
            sync(path.parent)


def _is_device(path: Path) -> bool:
    """Tell whether a path is there and neither a file nor a folder, such as `/dev/stdout`."""
    return path.exists() and not path.is_file() and not path.is_dir()


def require_other(out: Path, inputs: Iterable[Path]) -> None:
    """Refuse to write where a command reads.

    Raises:
        OutputError: the path is one of the inputs.
    """
    if out.resolve() in (path.resolve() for path in inputs):
        hint = "Nothing was changed there; give another path"
        raise OutputError("is read by this command", where=(out,), hint=hint)


@contextmanager
def filling(folder: Path) -> Iterator[Path]:
    """A fresh folder; its files go into ``folder``, beside what is there, when the block ends well.

    Where the block fails nothing is left, and ``folder`` is as it was; errors as :func:`replacing`.
    """
    folder = folder.absolute()
    with naming(folder):
        make_folders(folder.parent)
        clear_leftovers(folder)
        with _scratch(folder) as scratch:
            fresh = scratch / folder.name
            fresh.mkdir()
            yield fresh
            _sync_all(fresh)
            if not folder.exists():
                fresh.rename(folder)
            else:
                for file in sorted(path for path in fresh.rglob("*") if path.is_file()):
                    target = folder / file.relative_to(fresh)
                    target.parent.mkdir(parents=True, exist_ok=True)
                    file.replace(target)
            _sync_all(folder, files=False)
            sync(folder.parent)


def sync(path: Path) -> None:
    """Wait until the bytes of a file, or the names in a folder, outlive a loss of power."""
    if fcntl is None and path.is_dir():
        return  # there a folder cannot be opened
    # Windows syncs no file that is open to be read alone
    descriptor = os.open(path, (os.O_RDONLY if fcntl else os.O_RDWR) | _CLOSED_ON_EXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def make_folders(path: Path) -> None:
    """Make a folder and those above it that are not there, so that they outlive a loss of power."""
    if not path.is_dir():
        make_folders(path.parent)
        path.mkdir(exist_ok=True)
        sync(path.parent)


def _sync_all(path: Path, files: bool = True) -> None:
    """Sync a file, or a folder with all that is in it."""
    for entry in (*(path.rglob("*") if path.is_dir() else ()), path):
        if files or entry.is_dir():
            sync(entry)


@contextmanager
def naming(path: Path, hint: str = _WAY_OUT) -> Iterator[None]:
    """Say which path it is that the system refuses to write.

    Args:
        path: the path that the user knows.
        hint: the way out.

    Raises:
        OutputError: it refuses.
    """
    try:
        yield
    except (OSError, SubstrateError) as error:
        # What is written inside of a scratch folder says so of a path that the user does not know.
        ours = isinstance(error, OSError) or f".{path.name}." in str(error.where)
        refusal = error if isinstance(error, OSError) else error.__cause__
        if not (ours and isinstance(refusal, OSError) and refusal.errno in _REFUSED):
            raise
        full = refusal.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
        what = f"cannot be written ({'the disk is full: ' if full else ''}{refusal.strerror})"
        raise OutputError(what, where=(path,), hint=hint) from error


def clear_leftovers(path: Path) -> None:
    """Remove the scratch folders that killed processes left beside ``path``; those in use stay.

    A folder that was moved aside for a new one, which then never came, goes back to its place.
    """
    for scratch in sorted(path.parent.glob(f".{glob.escape(path.name)}.*.scratch")):
        with locked(scratch, wait=False) as held:
            if held:
                _clear(scratch, path)


def _clear(scratch: Path, path: Path) -> None:
    """Remove a scratch folder; the old one in it, which no new one followed, goes back to its place first."""
    if (scratch / "old").exists():
        if not path.exists():
            (scratch / "old").rename(path)
        sync(path.parent)
    # What cannot be removed is a leftover, and what was to be done is done all the same.
    shutil.rmtree(scratch, ignore_errors=True)


@contextmanager
def _scratch(path: Path) -> Iterator[Path]:
    """A folder beside ``path`` that is gone after the block; its lock, which ends with the process, says that
    it is in use.
    """
    while True:
        scratch = path.with_name(f".{path.name}.{os.urandom(4).hex()}.scratch")
        _in_use.add(scratch)  # before it is there: a process that is told to end leaves none behind
        try:
            scratch.mkdir(0o700)
            with locked(scratch) as held:
                # Another process may take a folder that is not locked yet for a leftover.
                if held:
                    try:
                        yield scratch
                    finally:
                        _clear(scratch, path)
                    return
        finally:
            _in_use.discard(scratch)


@contextmanager
def passing_folder() -> Iterator[Path]:
    """A folder of the system's for temporary files, gone after the block or with :func:`drop_scratch`."""
    with tempfile.TemporaryDirectory(prefix="substrate-") as name:
        folder = Path(name)
        _in_use.add(folder)
        try:
            yield folder
        finally:
            _in_use.discard(folder)


_in_use: set[Path] = set()
"""The scratch folders of this process."""


def drop_scratch() -> None:
    """Remove the scratch folders of this process, which is about to end; what they hold is lost."""
    for _ in range(3):
        for folder in list(_in_use):
            # Another thread may still be writing there.
            shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def locked(folder: Path, wait: bool = True) -> Iterator[bool]:
    """Hold a folder's lock for the block; false where another process holds it, or the folder is gone.

    A system without such a lock cannot tell a live process from a killed one: what either left stays.
    """
    if fcntl is None:
        yield wait and folder.exists()
        return
    try:
        descriptor = os.open(folder, os.O_RDONLY | _CLOSED_ON_EXEC)
    except FileNotFoundError:
        yield False
        return
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError:
            yield False
        else:
            yield folder.exists()
    finally:
        os.close(descriptor)


def write_json(path: Path, value: Any, *, indent: int) -> None:
    """Write a value as indented JSON with a final newline; keys stand in the order of its fields."""
    path.write_bytes(msgspec.json.format(msgspec.json.encode(value), indent=indent) + b"\n")


def sha256(path: Path, of_file: Callable[[Path], str] | None = None) -> str:
    """``sha256:…`` of a file's bytes, or of a folder's sorted names and file hashes.

    Args:
        of_file: gives the hash of a file, where somebody has read the files already.
    """
    of_file = of_file or sha256
    if path.is_dir():
        digest = hashlib.sha256()
        for file in sorted(p for p in path.rglob("*") if p.is_file()):
            digest.update(f"{file.relative_to(path).as_posix()} {of_file(file)}\n".encode())
        return f"sha256:{digest.hexdigest()}"
    with path.open("rb") as file:
        return f"sha256:{hashlib.file_digest(file, 'sha256').hexdigest()}"
