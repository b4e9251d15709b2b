"""A look at what stood after the last run, by which the next one finds in a moment that all stands.

All that a run reads and writes was looked at then, and is kept by size, times and SHA-256, as git and DVC
keep theirs: a file whose size and times are the same is not read again; one that was touched, copied or
checked out anew is read and compared. Anything that changed, appeared or went (a file of code, a parameter,
an out, a pin) and the graph is run, which skips stage by stage by the ledger.

Nothing heavy is imported here: neither Dagster, nor Spark, nor the stages.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import msgspec

from substrate.base.files import OutputError, replacing, sha256

_RACY = 50_000_000
"""Nanoseconds within which a file may change twice and show the same time."""
_SEAL = hashlib.sha256().digest_size
_CHECKOUT = Path(__file__).resolve().parents[2]
_OF_CODE = "code:"
"""The prefix of names of files in the checkout that runs, wherever the project is."""
_ELSEWHERE = ("SUBSTRATE_MODEL_URL", "DVC_EXP_BASELINE_REV")
"""Variables of the environment that let a run do what no file shows: ask a model, be an experiment."""
_KEPT = ".look.msgpack"


class File(msgspec.Struct, frozen=True, array_like=True):
    """A file as it was seen; times in nanoseconds."""

    size: int
    modified: int
    changed: int
    sha256: str


class Reproduction(msgspec.Struct, frozen=True, kw_only=True):
    """The outcome of a reproduction.

    Attributes:
        profile: the profile.
        stages: the stages that it takes, in order.
        ran: whether the graph was run; ``False`` where nothing was to be done.
        seconds: how long it took.
        tables: in Markdown, as they are printed.
        report: where the report lies, if the whole was reproduced; in the project, where it is kept.
        checks: what checks said that stopped nothing.
        drifted: by path, how it differs from its pin.
        experiment: its name, where the run was one.
        computed: the stages that were computed; the others were reused.
    """

    profile: str
    stages: Sequence[str]
    ran: bool = True
    seconds: float = 0.0
    tables: Sequence[str] = ()
    report: str | None = None
    checks: Sequence[str] = ()
    drifted: Mapping[str, str] = {}
    experiment: str | None = None
    computed: Sequence[str] = ()

    def line(self) -> str:
        """The one line that ends it."""
        count, computed = len(self.stages), len(self.computed)
        rest = f"; {len(self.drifted)} outputs differ from their pins" if self.drifted else ""
        if not self.ran:
            return f"Nothing to do: all {count} stages of profile {self.profile} stand as they were{rest}."
        made = f"experiment {self.experiment} beside profile" if self.experiment else "profile"
        took = f"{computed} computed, {count - computed} reused, in {self.seconds:,.0f} s"
        return f"Done: {count} stages of {made} {self.profile}: {took}{rest}."


class Look(msgspec.Struct, frozen=True):
    """The state after a run of a profile.

    Attributes:
        seen: when it was looked at, in nanoseconds.
        files: by path, in the project or the checkout, or absolute.
        outside: the paths outside the project that it read.
        runs: each run whose outcome stands, by what `--only` names, the whole under the empty name.
    """

    seen: int
    files: Mapping[str, File]
    outside: Sequence[str]
    runs: Mapping[str, Reproduction]


def is_of(stage: str, benchmark: str) -> bool:
    """Tell whether a stage is one of a benchmark's own, or its table.

    >>> [is_of(stage, "babi") for stage in ("babi/scores", "tables/babi", "robustness/babi")]
    [True, True, False]
    """
    return stage.startswith(f"{benchmark}/") or stage == f"tables/{benchmark}"


def look_path(root: Path, profile: str) -> Path:
    """The file that keeps it, beside the ledger."""
    return root / "artifacts" / profile / _KEPT


def sources() -> list[str]:
    """What no run writes: the code and the parameters."""
    return [*(f"{_OF_CODE}{room}" for room in ("orchestration", "substrate", "tboxes")), "params.yaml"]


def _paths(profile: str, outside: Iterable[str]) -> set[str]:
    """All that a run reads and writes."""
    of_profile = (f"pins/{profile}.json", f"pins/{profile}", f"artifacts/{profile}", f"data/{profile}")
    return {*sources(), "dvc.yaml", "dvc.lock", "data.dvc", "transcripts", *of_profile, *outside}


def read_look(root: Path, profile: str) -> Look | None:
    """The kept state; ``None`` where there is nothing, or it is damaged or of an older form."""
    try:
        data = look_path(root, profile).read_bytes()
        return msgspec.msgpack.decode(data[_SEAL:], type=Look) if _sealed(data) else None
    except (OSError, msgspec.DecodeError):
        return None


def keep(root: Path, profile: str, outside: Sequence[str], runs: Mapping[str, Reproduction]) -> None:
    """Look at all that a run read and wrote, and keep what stands after it."""
    seen = time.time_ns()
    _write(root, profile, Look(seen, look(root, _paths(profile, outside)), outside, runs))


def _write(root: Path, profile: str, seen: Look) -> None:
    """Keep a look behind the SHA-256 of its bytes."""
    data = msgspec.msgpack.encode(seen)
    with replacing(look_path(root, profile)) as fresh:
        fresh.write_bytes(hashlib.sha256(data).digest() + data)


def is_damaged(path: Path) -> bool:
    """Tell whether the bytes that were kept are others than were written."""
    return not _sealed(path.read_bytes())


def _sealed(data: bytes) -> bool:
    return data[:_SEAL] == hashlib.sha256(data[_SEAL:]).digest()


def stands(root: Path, profile: str, only: str | None) -> Reproduction | None:
    """What a run would say, where nothing that it reads or wrote has changed since the last one."""
    kept = None if any(os.environ.get(name) for name in _ELSEWHERE) else read_look(root, profile)
    run = kept.runs.get(only or "") if kept else None
    # Where drift is an error it is the graph's checks that say so.
    if kept is None or run is None or (run.drifted and os.environ.get("CI")):
        return None
    begun = time.time_ns()
    files = _unchanged(root, _paths(profile, kept.outside), kept)
    if files is None:
        return None
    if files != kept.files:
        with suppress(OutputError):
            _write(root, profile, msgspec.structs.replace(kept, files=files, seen=begun))
    return run


def _unchanged(root: Path, paths: Iterable[str], kept: Look) -> Mapping[str, File] | None:
    """The files as they are, where some paths have those that were seen; else ``None``."""
    now = dict(_files(root, paths))
    if now.keys() != kept.files.keys():
        return None
    found = dict(kept.files)
    for name, state in now.items():
        before = kept.files[name]
        times = state.st_mtime_ns, state.st_ctime_ns
        settled = max(before.modified, before.changed) < kept.seen - _RACY
        if state.st_size != before.size:
            return None
        if not settled or times != (before.modified, before.changed):
            if sha256(_place(root, name)) != before.sha256:
                return None
            found[name] = File(before.size, *times, before.sha256)
    return found


def look(root: Path, paths: Iterable[str]) -> dict[str, File]:
    """The files of some paths as they are; of a folder all that are in it."""
    return {
        name: File(state.st_size, state.st_mtime_ns, state.st_ctime_ns, sha256(_place(root, name)))
        for name, state in _files(root, paths)
    }


def _place(root: Path, name: str) -> Path:
    return _CHECKOUT / name.removeprefix(_OF_CODE) if name.startswith(_OF_CODE) else root / name


def _files(root: Path, paths: Iterable[str]) -> Iterator[tuple[str, os.stat_result]]:
    for name in sorted(paths):
        place = _place(root, name)
        if not place.is_dir():
            with suppress(FileNotFoundError):
                yield name, os.stat(place)
            continue
        for folder, inner, files in os.walk(place):
            inner[:] = sorted(one for one in inner if one != "__pycache__")
            for file in sorted(files):
                path = os.path.join(folder, file)
                if file != _KEPT:
                    yield os.path.join(name, os.path.relpath(path, place)), os.stat(path)
