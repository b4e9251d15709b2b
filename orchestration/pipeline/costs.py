"""The time and memory that each computed stage took, and on which machine: beside the results, never in them.

`costs/PROFILE.js` is the record and, as a script, what the report's page `run.html` may load from disk. The
report's own bytes follow from the results, so nothing of a run's times stands in them.
"""

from __future__ import annotations

import os
import platform
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import msgspec
import psutil

from orchestration.workspace.folders import Workspace
from substrate.base.files import OutputError, locked, make_folders, replacing
from substrate.base.inputs import NOT_JSON

COSTS = "costs/{profile}.js"
"""Beside the folders of data and artifacts, where each file is a result that is held against its hash."""
_CALL, _END = b"costs(", b")\n"
_EACH = 1.0
"""The seconds between two looks at the memory."""


class Cost(msgspec.Struct, frozen=True):
    """The cost of a stage when it was last computed.

    Attributes:
        seconds: how long it took, by the wall.
        megabytes: the most resident memory that this process and all that it started had together, looked at
            each second; a page that two of them share counts in each.
        machine: its kind, its processors and its memory; not its name.
    """

    seconds: float
    megabytes: int
    machine: str


@contextmanager
def measuring(workspace: Workspace, stage: str) -> Iterator[dict[str, float]]:
    """Measure what runs inside the block, and keep its cost where it ends well.

    Gives a dictionary that has ``seconds`` and ``megabytes`` after the block.
    """
    figures, most, ended = dict[str, float](), [_resident()], threading.Event()

    def look() -> None:
        while not ended.wait(_EACH):
            most[0] = max(most[0], _resident())

    watcher, start = threading.Thread(target=look, daemon=True), time.monotonic()
    watcher.start()
    try:
        yield figures
    finally:
        seconds = round(time.monotonic() - start, 1)
        ended.set()
        watcher.join()
    figures |= {"seconds": seconds, "megabytes": max(most[0], _resident()) // 2**20}
    # A recomputation beside the artifacts is not recorded; no run stops where the record cannot be written.
    if not workspace.scratch:
        with suppress(OSError, OutputError):
            _keep(workspace.path(COSTS), stage, Cost(seconds, int(figures["megabytes"]), _machine()))


def _resident() -> int:
    total, here = 0, psutil.Process()
    for process in (here, *here.children(recursive=True)):
        with suppress(psutil.Error):  # it has ended since
            total += process.memory_info().rss
    return total


def _machine() -> str:
    memory = psutil.virtual_memory().total / 2**30
    kind = f"{platform.system()} on {platform.machine()}"
    return f"{kind}, {os.cpu_count()} processors, {memory:.0f} GiB, Python {platform.python_version()}"


def _keep(path: Path, stage: str, cost: Cost) -> None:
    """Write what a stage cost into the record; processes that do so at once do it one after the other."""
    make_folders(path.parent)
    with locked(path.parent):
        known: dict[str, Cost] = {}
        with suppress(FileNotFoundError, *NOT_JSON):  # none is there, or one of another form
            data = path.read_bytes().removeprefix(_CALL).removesuffix(_END)
            known = msgspec.json.decode(data, type=dict[str, Cost])
        with replacing(path) as fresh:
            fresh.write_bytes(_CALL + msgspec.json.encode(known | {stage: cost}) + _END)
