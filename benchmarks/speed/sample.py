"""The reproduction of a sample from a fresh clone; it takes minutes, so it is measured when asked for."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.speed.measure import Bench, Pair
from orchestration.registry import BENCHMARKS
from orchestration.settings import find_root

_COMMAND = "from orchestration.cli.main import app; app()"


@contextmanager
def sample(size: int) -> Iterator[Pair]:
    """The cost of ``substrate reproduce`` in a clone without data, for so many benchmarks, each by itself, or
    for all at once where ``size`` is their number; beside starting the command.
    """
    names = list(BENCHMARKS)
    with tempfile.TemporaryDirectory(prefix="substrate-bench-") as folder:
        clones = 0

        def command(root: Path, *words: str) -> None:
            done = [sys.executable, "-c", _COMMAND, *words]
            subprocess.run(done, cwd=root, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)

        def reproduce() -> None:
            nonlocal clones
            clones += 1
            clone = Path(folder, str(clones))
            source = ["git", "clone", "--quiet", str(find_root()), str(clone)]
            subprocess.run(source, check=True, stderr=subprocess.PIPE)
            if size >= len(names):
                command(clone, "reproduce")
            for name in names[:size] if size < len(names) else ():
                command(clone, "reproduce", "--only", name)

        yield Pair(reproduce, lambda: command(find_root(), "--version"))


SAMPLE = {
    "sample": Bench(
        "the sample from a clone", "starting the command", None, (len(BENCHMARKS),), sample, "wall", True
    )
}
"""The bench of the sample by name."""
