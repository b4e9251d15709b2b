"""A look at what stood after the last run, by which the next one finds in a moment that all stands.

A stage stands where the ledger's record of it is that of its code, parameters, inputs and outs, and its
checks let the run pass. What was looked at to say so is kept by size, times and SHA-256, as git and DVC keep
theirs: a file whose size and times are the same is not read again; one that was touched, copied or checked
out anew is read and compared. Anything else that changed, appeared or went (a file of code, a parameter, an
out, a pin) and the graph is run, which skips stage by stage by the ledger.

Nothing heavy is imported here: neither Dagster, nor Spark, nor the stages.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Iterable, Iterator, Mapping
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


class File(msgspec.Struct, frozen=True, array_like=True):
    """A file as it was seen; times in nanoseconds."""

    size: int
    modified: int
    changed: int
    sha256: str


class SeenStage(msgspec.Struct, frozen=True):
    """A stage of the graph as it was seen.

    Attributes:
        needs: the stages that it reads.
        stands: whether it need not run again; how it came out otherwise is not kept.
        paths: its inputs and outs.
        said: what its checks said that stopped nothing.
        drifted: its outs that are not what was pinned, with how.
    """

    needs: tuple[str, ...]
    stands: bool = False
    paths: tuple[str, ...] = ()
    said: tuple[str, ...] = ()
    drifted: Mapping[str, str] = {}


class Look(msgspec.Struct, frozen=True):
    """The state after a run of a profile.

    Attributes:
        seen: when it was looked at, in nanoseconds.
        files: by path, in the project or the checkout, or absolute.
        stages: every stage, in the order of the graph.
        tables: what a run prints, by what `--only` names, the whole under the empty name.
        report: the report's path in the project.
    """

    seen: int
    files: Mapping[str, File]
    stages: Mapping[str, SeenStage]
    tables: Mapping[str, list[str]]
    report: str = ""

    def wanted(self, only: str | None) -> list[str]:
        """The stages of a benchmark and all they need, or all."""
        names = {name for name in self.stages if only is None or is_of(name, only)}
        for name in reversed(list(self.stages)):
            if name in names:
                names.update(self.stages[name].needs)
        return [name for name in self.stages if name in names]


def is_of(stage: str, benchmark: str) -> bool:
    """Tell whether a stage is one of a benchmark's own, or its table.

    >>> [is_of(stage, "babi") for stage in ("babi/scores", "tables/babi", "robustness/babi")]
    [True, True, False]
    """
    return stage.startswith(f"{benchmark}/") or stage == f"tables/{benchmark}"


def look_path(root: Path, profile: str) -> Path:
    """The file that keeps it, beside the ledger."""
    return root / "artifacts" / profile / ".look.msgpack"


def shared_paths(profile: str) -> list[str]:
    """The inputs of every stage: the code, the parameters, the pins, the ledger, transcripts of models."""
    of_code = [f"{_OF_CODE}{room}" for room in ("orchestration", "substrate", "tboxes")]
    of_dvc = ["dvc.yaml", "dvc.lock", "data.dvc"]
    of_profile = [f"pins/{profile}.json", f"pins/{profile}", f"artifacts/{profile}/.ledger"]
    return [*of_code, "params.yaml", *of_dvc, "transcripts", *of_profile]


def is_source(name: str) -> bool:
    """Tell whether a path that was looked at is of the code or the parameters, which no run writes."""
    return name.startswith(_OF_CODE) or name == "params.yaml"


def read_look(root: Path, profile: str) -> Look | None:
    """The kept state; ``None`` where there is nothing, or it is damaged or of an older form."""
    try:
        data = look_path(root, profile).read_bytes()
        return msgspec.msgpack.decode(data[_SEAL:], type=Look) if _sealed(data) else None
    except (OSError, msgspec.DecodeError):
        return None


def write_look(root: Path, profile: str, seen: Look) -> None:
    """Keep what stands, behind the SHA-256 of its bytes."""
    data = msgspec.msgpack.encode(seen)
    with replacing(look_path(root, profile)) as fresh:
        fresh.write_bytes(hashlib.sha256(data).digest() + data)


def is_damaged(path: Path) -> bool:
    """Tell whether the bytes that were kept are others than were written."""
    return not _sealed(path.read_bytes())


def _sealed(data: bytes) -> bool:
    return data[:_SEAL] == hashlib.sha256(data[_SEAL:]).digest()


def stands(root: Path, profile: str, only: str | None) -> Look | None:
    """The kept state where all that a run of a benchmark, or of all, would do still stands; else ``None``."""
    if any(os.environ.get(name) for name in _ELSEWHERE):
        return None
    kept = read_look(root, profile)
    if kept is None or (only or "") not in kept.tables:
        return None
    stages = [kept.stages[name] for name in kept.wanted(only)]
    # Where drift is an error it is the graph's checks that say so.
    if not all(stage.stands and not (stage.drifted and os.environ.get("CI")) for stage in stages):
        return None
    begun = time.time_ns()
    files = _unchanged(
        root, {*shared_paths(profile), *(path for stage in stages for path in stage.paths)}, kept
    )
    if files is None:
        return None
    if files != kept.files:
        with suppress(OutputError):
            write_look(root, profile, msgspec.structs.replace(kept, files=files, seen=begun))
    return kept


def _unchanged(root: Path, paths: set[str], kept: Look) -> Mapping[str, File] | None:
    """The files as they are, where some paths have those that were seen; else ``None``."""
    now = dict(_files(root, paths))
    if now.keys() != {name for name in kept.files if _inside(name, paths)}:
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


def _inside(name: str, paths: set[str]) -> bool:
    return name in paths or any(str(parent) in paths for parent in Path(name).parents)


def look(root: Path, paths: Iterable[str]) -> dict[str, File]:
    """The files of some paths as they are; of a folder all that are in it."""
    return {
        name: File(state.st_size, state.st_mtime_ns, state.st_ctime_ns, sha256(_place(root, name)))
        for name, state in _files(root, set(paths))
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
                yield os.path.join(name, os.path.relpath(path, place)), os.stat(path)
