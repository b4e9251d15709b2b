"""Write files and folders whole or not at all, and hash them with SHA-256."""

from __future__ import annotations

import errno
import filecmp
import glob
import hashlib
import os
import shutil
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import msgspec

from substrate.base.errors import SubstrateError

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None

_REFUSALS = "ENOSPC EDQUOT EFBIG EROFS EACCES EPERM EIO ENOTDIR EISDIR EEXIST ENAMETOOLONG"
_REFUSED = frozenset(getattr(errno, name) for name in _REFUSALS.split())
_CLOSED_ON_EXEC: int = getattr(os, "O_CLOEXEC", 0)
_WAY_OUT = "Nothing was changed there; free space, or give another path"


class OutputError(SubstrateError):
    """The system refuses to write; the earlier content is still there."""


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Give a fresh path for a file or folder, which replaces ``path`` when the block succeeds.

    If the block fails, ``path`` stays unchanged and nothing else is left. If the process is killed, its
    scratch folder stays until :func:`clear_leftovers` or the next replacement of ``path``. A loss of power
    leaves either the old content or the new, and after the block always the new. A device or pipe is not
    replaced: the bytes are written to it.

    Raises:
        OutputError: the disk is full, the system refuses to write there, or a file would replace a folder
            that is not empty.
    """
    if path.exists() and not path.is_file() and not path.is_dir():  # such as `/dev/stdout`
        with naming(path), tempfile.TemporaryDirectory() as scratch:
            fresh = Path(scratch) / path.name
            yield fresh
            with fresh.open("rb") as written, path.open("wb") as device:
                shutil.copyfileobj(written, device)
        return
    with naming(path), _scratch(path) as scratch:
        fresh = scratch / path.name
        yield fresh
        _sync_all(fresh)
        if path.is_dir() and not fresh.is_dir() and any(path.iterdir()):
            hint = "Nothing was changed there; give the path of a file"
            raise OutputError("is a folder with files in it", where=(path,), hint=hint)
        if path.is_dir():
            sync(path.parent)  # the scratch folder is durable before it holds the only old copy
            path.rename(scratch / "old")
        fresh.replace(path)
        sync(path.parent)


def require_other(out: Path, inputs: Iterable[Path]) -> None:
    """Refuse to write a command's output over a folder, one of its inputs, or a file of a folder among these.

    An output of an earlier run may be replaced in an input folder: no reader of folders reads ``.jsonl``.

    Raises:
        OutputError: the path is one of these.
    """
    hint = "Nothing was changed there; give another path"
    if out.is_dir():
        raise OutputError("is a folder", where=(out,), hint="Give the path of a file")
    for path in (path.resolve() for path in inputs):
        in_folder = path in out.resolve().parents and out.exists() and ".jsonl" not in out.suffixes
        if path == out.resolve() or in_folder:
            raise OutputError("is read by this command", where=(out,), hint=hint)


@contextmanager
def filling(folder: Path) -> Iterator[Path]:
    """Give a fresh folder, whose files are added to ``folder`` when the block succeeds.

    If the block fails, nothing is left and ``folder`` is unchanged; errors as :func:`replacing`.

    Raises:
        OutputError: a file of the same name is there with other bytes.
    """
    folder = folder.absolute()
    with naming(folder), _scratch(folder) as scratch:
        fresh = scratch / folder.name
        fresh.mkdir()
        yield fresh
        _sync_all(fresh)
        if not folder.exists():
            fresh.rename(folder)
        else:
            files = sorted(path for path in fresh.rglob("*") if path.is_file())
            targets = [folder / file.relative_to(fresh) for file in files]
            for file, target in zip(files, targets, strict=True):
                if target.exists() and not filecmp.cmp(file, target, shallow=False):
                    hint = "Nothing was changed there; give a new folder, or remove the file"
                    raise OutputError("is there with other bytes", where=(target,), hint=hint)
            for file, target in zip(files, targets, strict=True):
                target.parent.mkdir(parents=True, exist_ok=True)
                file.replace(target)
        _sync_all(folder, files=False)
        sync(folder.parent)


def sync(path: Path) -> None:
    """Wait until the bytes of a file, or the names in a folder, will survive a loss of power."""
    if fcntl is None and path.is_dir():
        return  # Windows cannot open a folder
    # Windows does not sync a file that is opened only for reading
    descriptor = os.open(path, (os.O_RDONLY if fcntl else os.O_RDWR) | _CLOSED_ON_EXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def make_folders(path: Path) -> None:
    """Make a folder and its missing parents so that they survive a loss of power."""
    if not path.is_dir():
        make_folders(path.parent)
        path.mkdir(exist_ok=True)
        sync(path.parent)


def _sync_all(path: Path, files: bool = True) -> None:
    """Sync a file, or a folder and everything in it."""
    for entry in (*(path.rglob("*") if path.is_dir() else ()), path):
        if files or entry.is_dir():
            sync(entry)


@contextmanager
def naming(path: Path, hint: str = _WAY_OUT) -> Iterator[None]:
    """Turn the system's refusal to write into an error that names the user's path.

    Args:
        path: the path that the user knows.
        hint: the error's advice.

    Raises:
        OutputError: the system refuses to write.
    """
    try:
        yield
    except (OSError, SubstrateError) as error:
        # An error from inside a scratch folder names a path that the user does not know.
        ours = isinstance(error, OSError) or f".{path.name}." in str(error.where)
        refusal = error if isinstance(error, OSError) else error.__cause__
        if not (ours and isinstance(refusal, OSError) and refusal.errno in _REFUSED):
            raise
        full = refusal.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
        what = f"cannot be written ({'the disk is full: ' if full else ''}{os.strerror(refusal.errno or 0)})"
        raise OutputError(what, where=(path,), hint=hint) from error


def clear_leftovers(path: Path) -> None:
    """Remove the scratch folders that killed processes left next to ``path``; folders in use stay.

    If a replacement was cut off after the old folder was moved aside, the old folder is restored.
    """
    for scratch in sorted(path.parent.glob(f".{glob.escape(path.name)}.*.scratch")):
        with locked(scratch, wait=False) as held:
            if held:
                _clear(scratch, path)


def _clear(scratch: Path, path: Path | None) -> None:
    """Remove a scratch folder; if it holds an old folder that was never replaced, restore that first."""
    if path and (scratch / "old").exists():
        if not path.exists():
            (scratch / "old").rename(path)
        sync(path.parent)
    # A failed removal leaves a leftover, but the replacement itself is complete.
    shutil.rmtree(scratch, ignore_errors=True)


@contextmanager
def _scratch(path: Path) -> Iterator[Path]:
    """Make a folder next to ``path`` for the block; its lock, which ends with the process, marks its use."""
    if not path.name:
        raise OutputError("is a whole disk or the current folder", where=(path,), hint="Give a path below it")
    clear_leftovers(path)
    while True:
        scratch = path.with_name(f".{path.name}.{os.urandom(4).hex()}.scratch")
        try:
            with _making:
                make_folders(path.parent)
                _in_use[scratch] = path  # before it exists, as a signal may come between the two
                scratch.mkdir(0o700)
            with locked(scratch) as held:
                # Until the folder is locked, another process may mistake it for a leftover and remove it.
                if held:
                    try:
                        yield scratch
                    finally:
                        _clear(scratch, path)
                    return
        finally:
            _in_use.pop(scratch, None)


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """Make a temporary folder that the end of the block, or :func:`drop_scratch`, removes."""
    with tempfile.TemporaryDirectory(prefix="substrate-") as name:
        _in_use[folder := Path(name)] = None
        try:
            yield folder
        finally:
            _in_use.pop(folder, None)


# The scratch folders of this process, each with the path that it replaces, if any
_in_use: dict[Path, Path | None] = {}
# Held while a scratch folder is made; :func:`drop_scratch` takes it and never releases it
_making = threading.Lock()


def drop_scratch() -> None:
    """Remove this process's scratch folders with their content; call it last, just before the process ends.

    Another thread may still be working: it finds its folder gone and waits before it makes another. A folder
    that was moved aside for a new one comes back.
    """
    _making.acquire(timeout=1)  # a signal may have stopped the thread that holds it
    for scratch, path in list(_in_use.items()):
        gone = scratch.with_name(f"{scratch.stem}.ended{scratch.suffix}")
        with suppress(OSError):
            # A rename takes no time; during a removal another thread could still add files
            scratch.rename(gone)
            _clear(gone, path)


@contextmanager
def locked(folder: Path, wait: bool = True) -> Iterator[bool]:
    """Hold a folder's lock for the block; give false if another process holds it or the folder is gone.

    A system without such a lock cannot tell a live process from a killed one, so leftovers stay there.
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
        yield lock(descriptor, wait=wait) and folder.exists()
    finally:
        os.close(descriptor)


def lock(descriptor: int, *, wait: bool = False, shared: bool = False) -> bool:
    """Take the lock of an open file or folder; give false if another process holds it.

    Several processes may hold a shared lock.

    The lock ends with :func:`unlock`, or with the last process that has the file open. A system without such
    locks gives true. Every lock of the project is taken here.

    Raises:
        OSError: the file system has no locks.
    """
    if fcntl is None:
        return True
    try:
        how = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
        fcntl.flock(descriptor, how | (0 if wait else fcntl.LOCK_NB))
    except BlockingIOError:
        return False
    return True


def unlock(descriptor: int) -> None:
    """Release the lock of an open file, which a newly forked process may have open a moment longer."""
    if fcntl is not None:
        fcntl.flock(descriptor, fcntl.LOCK_UN)


def write_json(path: Path, value: Any, *, indent: int) -> None:
    """Write a value as indented JSON with a final newline; keys are in the order of the fields."""
    path.write_bytes(msgspec.json.format(msgspec.json.encode(value), indent=indent) + b"\n")


def sha256(path: Path, of_file: Callable[[Path], str] | None = None) -> str:
    """Hash a file's bytes, or a folder's sorted names and file hashes, as ``sha256:…``.

    Args:
        of_file: returns the hash of a file, for a caller that has read the files already.
    """
    of_file = of_file or sha256
    if path.is_dir():
        digest = hashlib.sha256()
        for file in sorted(p for p in path.rglob("*") if p.is_file()):
            digest.update(f"{file.relative_to(path).as_posix()} {of_file(file)}\n".encode())
        return f"sha256:{digest.hexdigest()}"
    with path.open("rb") as file:
        return f"sha256:{hashlib.file_digest(file, 'sha256').hexdigest()}"
