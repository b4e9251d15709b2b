"""A cache of the parts of a report, keyed by the hash of their inputs.

The cache is in `.dagster/shown/`, outside git. A damaged part is made again. :meth:`PartCache.part` keeps a
part under the inputs that its caller names, :func:`cached_parts` a benchmark's parts under the records of
its answers.
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
from orchestration.experiments.experiment import copy_to
from orchestration.ledger.stage_records import read_records
from orchestration.stage import Stages, needed
from orchestration.workspace.folders import Workspace
from orchestration.workspace.tables import short_key
from substrate.base.files import make_folders, sha256, write_json
from substrate.base.inputs import NOT_JSON

SHOWN = Path(".dagster", "shown")
# The number of most recently used parts to keep, enough for several reports.
_MOST = 400
_PAGES, _SAID = "pages", "said.json"


class PartCache:
    """The cached parts; a missing part is made on demand.

    Args:
        root: the project's folder.
        calls: the code that makes parts; changed code makes new parts.
    """

    def __init__(self, root: Path, *calls: Callable[..., Any]) -> None:
        self._folder, self._code = root / SHOWN, code_of(*calls)

    def part(self, shows: Any, make: Callable[[Path], Any], out: Path) -> Any:
        """Return the result of ``make`` as JSON; put the files that it writes into ``out``.

        Args:
            shows: all inputs of the part, serializable as JSON.
        """
        place = self._folder / short_key(self._code, shows)
        known = _read(place)
        if known is not None:
            with suppress(OSError):  # a part that cannot be marked as used is only deleted sooner
                os.utime(place)
            copy_to(place / _PAGES, out, linked=True)
            return known[1]
        make_folders(self._folder)
        with tempfile.TemporaryDirectory(dir=self._folder) as scratch:
            fresh = Path(scratch, place.name)
            (fresh / _PAGES).mkdir(parents=True)
            said = msgspec.json.decode(msgspec.json.encode(make(fresh / _PAGES)))
            write_json(fresh / _SAID, (sha256(fresh / _PAGES), said), indent=0)
            copy_to(fresh / _PAGES, out, linked=True)
            shutil.rmtree(place, ignore_errors=True)
            with suppress(OSError):  # another process made the same part meanwhile
                fresh.rename(place)
        return said

    def forget(self) -> None:
        """Delete the least recently used parts."""
        by_use = sorted(self._folder.glob("*"), key=lambda place: -place.stat().st_mtime_ns)
        for place in by_use[_MOST:]:
            shutil.rmtree(place, ignore_errors=True)


def _read(place: Path) -> tuple[str, Any] | None:
    """Read a part's result and the hash of its pages; ``None`` if the part is missing or damaged."""
    try:
        said = msgspec.json.decode((place / _SAID).read_bytes(), type=tuple[str, Any])
        return said if said[0] == sha256(place / _PAGES) else None
    except (OSError, *NOT_JSON):
        return None


Keep = Callable[[str, Benchmark, Callable[[Path], Any]], Any]


def cached_parts(workspace: Workspace, stages: Stages, cache: PartCache, out: Path) -> Keep:
    """Cache parts under the inputs of their benchmark's answers, as the ledger records them.

    The key holds the parameters and outs of the answers' stage and of the stages that it needs. If the ledger
    lacks one of them, the part is made each time.

    Args:
        out: the folder for the pages of all parts.

    Returns:
        A function that returns a part about a benchmark's answers, cached or made. It takes the name of the
        part, the benchmark, and the function that makes the part in a folder.
    """
    records = read_records(workspace)

    def keep(part: str, benchmark: Benchmark, make: Callable[[Path], Any]) -> Any:
        ways = needed(stages, [f"{benchmark.name}/answers"])
        if not ways or not records.keys() >= {*ways}:
            return make(out)
        made = {name: (records[name].parameters, records[name].outs) for name in ways}
        answers = sha256(workspace.answers(benchmark.name))
        shows = part, benchmark.name, workspace.settings.profile, answers, made
        return cache.part(shows, make, out)

    return keep
