"""Files and folders that appear whole or not at all, and their SHA-256."""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A fresh path to write a file or folder to; it takes ``path``'s place when the block ends well.

    Where the block fails, what was at ``path`` stays and nothing else is left.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    scratch = Path(tempfile.mkdtemp(prefix=f".{path.name}.", dir=path.parent))
    try:
        fresh = scratch / path.name
        yield fresh
        if path.is_dir():
            path.rename(scratch / "old")
        fresh.replace(path)
    finally:
        shutil.rmtree(scratch)


def sha256(path: Path) -> str:
    """``sha256:…`` of a file's bytes, or of a folder's sorted names and file hashes."""
    if path.is_dir():
        digest = hashlib.sha256()
        for file in sorted(p for p in path.rglob("*") if p.is_file()):
            digest.update(f"{file.relative_to(path).as_posix()} {sha256(file)}\n".encode())
        return f"sha256:{digest.hexdigest()}"
    with path.open("rb") as file:
        return f"sha256:{hashlib.file_digest(file, 'sha256').hexdigest()}"
