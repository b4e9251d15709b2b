"""The scratch files of runs, in a folder of the project, so that a run can delete what a killed run left."""

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
    """Put temporary files of this process and its children into a folder of the project.

    Folders of dead processes are removed. Only the holder of the project's lock may call it.

    Args:
        root: the project.
    """
    before, named = tempfile.gettempdir(), os.environ.get("TMPDIR")
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
        tempfile.tempdir = before
        if named is None:
            del os.environ["TMPDIR"]
        else:
            os.environ["TMPDIR"] = named


def _remove(own: Path) -> None:
    shutil.rmtree(own, ignore_errors=True)
    with suppress(OSError):  # another process has a folder there
        own.parent.rmdir()
