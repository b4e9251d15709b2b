"""The scratch files of runs: in a folder of the project's, so that a run clears what a killed one left."""

from __future__ import annotations

import atexit
import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil


@contextmanager
def scratch_of(root: Path) -> Iterator[None]:
    """Let what this process and those that it starts write for a while lie in a folder of the project's.

    Folders of processes that are gone are removed. Who holds the project's lock may do so.

    Args:
        root: the project.
    """
    before, named = tempfile.gettempdir(), os.environ.get("TMPDIR")
    digest = hashlib.sha256(os.fsencode(root)).hexdigest()[:12]
    folder = Path(before) / f"substrate-{os.getuid()}-{digest}"
    folder.mkdir(mode=0o700, exist_ok=True)
    # In a folder for all anyone may have made it.
    if folder.is_symlink() or folder.stat().st_uid != os.getuid():
        yield
        return
    for left in folder.iterdir():
        if not (left.name.isdecimal() and psutil.pid_exists(int(left.name))):
            shutil.rmtree(left, ignore_errors=True)
    own = folder / str(os.getpid())
    own.mkdir(exist_ok=True)
    # Spark may use it until this process ends.
    atexit.register(_remove, own)
    tempfile.tempdir = os.environ["TMPDIR"] = str(own)
    try:
        yield
    finally:
        tempfile.tempdir = before
        if named is None:
            del os.environ["TMPDIR"]
        else:
            os.environ["TMPDIR"] = named


def _remove(own: Path) -> None:
    shutil.rmtree(own, ignore_errors=True)
    with suppress(OSError):  # another process has its own there
        own.parent.rmdir()
