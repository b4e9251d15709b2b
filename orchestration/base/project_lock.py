"""A lock that allows one run per project; it names its holder and ends with the holder's process.

A run's scratch files lie in a temporary folder of this project's own, so that the next run can delete those
of a killed run.
"""

from __future__ import annotations

import atexit
import hashlib
import os
import shutil
import socket
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from io import FileIO
from pathlib import Path

import psutil

from substrate.base.errors import SubstrateError
from substrate.base.files import lock, naming

LOCK_FILE = Path(".dagster") / "run.lock"
# The projects that this process has locked.
_held: set[Path] = set()


class BusyError(SubstrateError):
    """Another run of this project is in progress."""


def project_name(root: Path) -> str:
    """Name a project in stores that hold other projects' things too; two projects never share the name."""
    return f"{socket.gethostname()}:{root.resolve()}"


@contextmanager
def project_lock(root: Path, doing: str = "") -> Iterator[None]:
    """Lock a project for the block; a process that already holds the lock may enter again.

    Args:
        root: the project.
        doing: a description of the run for other processes; by default the command line.

    Raises:
        BusyError: another process holds it.
        OutputError: the project is not writable.
    """
    root = root.resolve()
    if root in _held:
        yield
        return
    doing = doing or " ".join([Path(sys.argv[0]).name, *sys.argv[1:]])
    with open_lock(root) as file:
        if not lock(file.fileno()):
            file.seek(0)
            holder = file.read(1000).decode("utf-8", "replace").strip() or "another process"
            hint = "Wait until it has ended; each of the two would write what the other reads"
            raise BusyError(f"a run is under way: {holder}", where=(root,), hint=hint)
        since = datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
        with naming(root / LOCK_FILE, "Nothing was changed; free space"):
            file.truncate(0)
            file.write(f"process {os.getpid()} ({doing}), since {since}\n".encode())
        _held.add(root)
        try:
            with scratch_of(root):
                yield
        finally:
            _held.remove(root)
            file.truncate(0)


def is_free(root: Path) -> bool:
    """Tell whether no other process holds a project's lock.

    Raises:
        OutputError: the project is not writable.
    """
    if root.resolve() in _held:
        return True
    with open_lock(root) as file:
        return lock(file.fileno(), shared=True)


def open_lock(root: Path) -> FileIO:
    """Open the lock's file, made if missing.

    Raises:
        OutputError: the project is not writable.
    """
    path = root / LOCK_FILE
    with naming(path, "A run writes into its project; make it writable, or run in a copy of it"):
        path.parent.mkdir(exist_ok=True)
        return path.open("a+b", buffering=0)


@contextmanager
def scratch_of(root: Path) -> Iterator[None]:
    """Put files of this process and its children into a temporary folder of this project's own.

    Folders of dead processes are removed. Only the holder of the project's lock may call it.

    Args:
        root: the project.
    """
    before = tempfile.gettempdir()
    digest = hashlib.sha256(os.fsencode(root)).hexdigest()[:12]
    folder = Path(before) / f"substrate-{os.getuid()}-{digest}"
    folder.mkdir(mode=0o700, exist_ok=True)
    # In a folder that all users share, anyone may have made it.
    if folder.is_symlink() or folder.stat().st_uid != os.getuid():
        yield
        return
    for left in folder.iterdir():
        if not (left.name.isdecimal() and psutil.pid_exists(int(left.name))):
            shutil.rmtree(left, ignore_errors=True)
    own = folder / str(os.getpid())
    own.mkdir(exist_ok=True)
    # Spark may use the folder until this process ends.
    atexit.register(_remove, own)
    tempfile.tempdir = os.environ["TMPDIR"] = str(own)
    try:
        yield
    finally:
        tempfile.tempdir = os.environ["TMPDIR"] = before


def _remove(own: Path) -> None:
    shutil.rmtree(own, ignore_errors=True)
    with suppress(OSError):  # another process has a folder there
        own.parent.rmdir()
