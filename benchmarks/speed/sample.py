"""The reproduction of the sample profile from a fresh clone: minutes, so it is measured only by name."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.speed.measure import Bench, Pair, scratch_folder
from orchestration.registry import BENCHMARKS
from orchestration.settings import find_root

_COMMAND = "from orchestration.cli.main import app; app()"


@contextmanager
def sample(size: int) -> Iterator[Pair]:
    """``substrate reproduce`` in a clone without data, beside starting the command.

    It runs for the first ``size`` benchmarks one by one, or for all at once if ``size`` is their number.
    """
    names = list(BENCHMARKS)
    with scratch_folder() as folder:
        clones = 0

        def command(root: Path, *words: str) -> None:
            call = [sys.executable, "-c", _COMMAND, *words]
            subprocess.run(call, cwd=root, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)

        def reproduce() -> None:
            nonlocal clones
            clones += 1
            clone = folder / str(clones)
            source = ["git", "clone", "--quiet", str(find_root()), str(clone)]
            subprocess.run(source, check=True, stderr=subprocess.PIPE)
            if size >= len(names):
                command(clone, "reproduce")
            for name in names[:size] if size < len(names) else ():
                command(clone, "reproduce", "--only", name)

        yield Pair(reproduce, lambda: command(find_root(), "--version"))


SAMPLE = {
    "sample": Bench(
        "the sample from a clone",
        "starting the command",
        (len(BENCHMARKS),),
        sample,
        clock="wall",
        takes_minutes=True,
    )
}
"""The bench of the sample by name."""
