"""Parts of a report, and verdicts, that are kept by the hash of what they show: the same is not made again.

They lie in `.dagster/shown/`, outside git. A part that is damaged there is made anew.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from orchestration.benchmarks.benchmark import Benchmark
from orchestration.code import code_of
from orchestration.experiments.making import put
from orchestration.ledger.records import read_records
from orchestration.stage import Stages, needed
from orchestration.workspace.folders import Workspace
from orchestration.workspace.tables import short_key
from substrate.base.files import make_folders, sha256, write_json
from substrate.base.inputs import NOT_JSON

SHOWN = Path(".dagster", "shown")
MOST = 400
"""The number of parts that are kept, those that were used last: some reports."""
_PAGES, _SAID = "pages", "said.json"


class Kept:
    """What was made before, and makes what was not.

    Args:
        root: the project's folder.
        calls: all that parts are made by: other code, other parts.
    """

    def __init__(self, root: Path, *calls: Callable[..., Any]) -> None:
        self._folder, self._code = root / SHOWN, code_of(*calls)

    def part(self, shows: Any, make: Callable[[Path], Any], out: Path | None = None) -> Any:
        """What ``make`` gives, as JSON has it; what it writes into its folder comes into ``out``.

        Args:
            shows: all that the part is made from, as JSON takes it.
        """
        place = self._folder / short_key(self._code, shows)
        known = _read(place)
        if known is not None:
            with suppress(OSError):  # one that cannot be marked as used is forgotten sooner
                os.utime(place)
            if out:
                put(place / _PAGES, out, linked=True)
            return known[1]
        make_folders(self._folder)
        with tempfile.TemporaryDirectory(dir=self._folder) as scratch:
            fresh = Path(scratch, place.name)
            (fresh / _PAGES).mkdir(parents=True)
            said = msgspec.json.decode(msgspec.json.encode(make(fresh / _PAGES)))
            write_json(fresh / _SAID, (sha256(fresh / _PAGES), said), indent=0)
            if out:
                put(fresh / _PAGES, out, linked=True)
            shutil.rmtree(place, ignore_errors=True)
            with suppress(OSError):  # another process made the same meanwhile
                fresh.rename(place)
        return said

    def forget(self) -> None:
        """Delete what was not used for long."""
        by_use = sorted(self._folder.glob("*"), key=lambda place: -place.stat().st_mtime_ns)
        for place in by_use[MOST:]:
            shutil.rmtree(place, ignore_errors=True)


def _read(place: Path) -> tuple[str, Any] | None:
    """What was said of a part, with the hash of its pages; ``None`` where there is no whole one."""
    try:
        said = msgspec.json.decode((place / _SAID).read_bytes(), type=tuple[str, Any])
        return said if said[0] == sha256(place / _PAGES) else None
    except (OSError, *NOT_JSON):
        return None


Keep = Callable[[str, Benchmark, Path, Callable[[Path], Any], Path], Any]
"""Gives what a function says of a benchmark's part that is made from a file; takes the name of the part,
the benchmark, the file, the function and the folder that its pages come into.
"""


def keeping(workspace: Workspace, stages: Stages, kept: Kept | None) -> Keep:
    """Keeps a part under what its benchmark's answers were made from, by the ledger: parameters and outs of
    that stage and of those that it needs. It is made each time where the ledger lacks one.
    """
    records = read_records(workspace) if kept else {}

    def keep(part: str, benchmark: Benchmark, file: Path, make: Callable[[Path], Any], out: Path) -> Any:
        ways = needed(stages, [f"{benchmark.name}/answers"])
        if not kept or not ways or not records.keys() >= {*ways}:
            return make(out)
        made = {name: (records[name].parameters, records[name].outs) for name in ways}
        shows = part, benchmark.name, workspace.settings.profile, sha256(file), made
        return kept.part(shows, make, out)

    return keep
