"""What stood after the last run, kept so that the next one finds in a moment that nothing is to be done.

A stage stands where its record is that of its code, parameters, inputs and outs, its checks let the run pass
and none of its outs drifted from its pin. What was looked at to say so is kept by size, times and SHA-256, as
git and DVC keep theirs: a file whose size and times are the same is not read again, one that was touched is
read and compared. Anything else that changed, appeared or went (a file of code, a parameter, an out, a pin)
and the graph is run, which skips stage by stage by what the files hold.

Nothing heavy is imported here: neither Dagster, nor Spark, nor the stages.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import msgspec

from substrate.base.files import replacing, sha256

_RACY = 50_000_000
"""Nanoseconds within which a file may change twice and show the same time."""
_SEAL = hashlib.sha256().digest_size
_CODE = Path(__file__).resolve().parents[1]
_ELSEWHERE = ("SUBSTRATE_MODEL_URL", "DVC_EXP_BASELINE_REV")
"""Variables of the environment that let a run do what no file shows: ask a model, be an experiment."""


class File(msgspec.Struct, frozen=True, array_like=True):
    """A file as it was seen; times in nanoseconds."""

    size: int
    modified: int
    changed: int
    sha256: str


class StandingStage(msgspec.Struct, frozen=True):
    """A stage of the graph as it stood.

    Attributes:
        needs: the stages that it reads.
        stands: whether it need not run again; how it came out otherwise is not kept.
        paths: its inputs and outs.
        said: what its checks said that stopped nothing.
    """

    needs: tuple[str, ...]
    stands: bool = False
    paths: tuple[str, ...] = ()
    said: tuple[str, ...] = ()


class Standing(msgspec.Struct, frozen=True):
    """What stood after a run of a profile.

    Attributes:
        seen: when it was looked at, in nanoseconds.
        files: by path, in the project or absolute.
        stages: every stage, in the order of the graph.
        tables: what a run prints, by what `--only` names, the whole under the empty name.
        report: the report's path in the project.
    """

    seen: int
    files: Mapping[str, File]
    stages: Mapping[str, StandingStage]
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
    """Whether a stage is one of a benchmark's own, or its table.

    >>> [is_of(stage, "babi") for stage in ("babi/scores", "tables/babi", "robustness/babi")]
    [True, True, False]
    """
    return stage.startswith(f"{benchmark}/") or stage == f"tables/{benchmark}"


def standing_path(root: Path, profile: str) -> Path:
    """Where it is kept, beside the records of the stages."""
    return root / "artifacts" / profile / ".stages" / "standing.msgpack"


def shared_paths(root: Path, profile: str) -> list[str]:
    """What every stage depends on: the code, the parameters, the pins and the transcripts of models."""
    of_project = ["params.yaml", "dvc.yaml", "dvc.lock", "data.dvc", "transcripts", f"pins/{profile}"]
    return [str(_CODE), str(_CODE.parent / "substrate"), *of_project]


def read_standing(root: Path, profile: str) -> Standing | None:
    """What was kept; ``None`` where there is nothing, or it is damaged or of an older form."""
    try:
        data = standing_path(root, profile).read_bytes()
        return msgspec.msgpack.decode(data[_SEAL:], type=Standing) if _sealed(data) else None
    except (OSError, msgspec.DecodeError):
        return None


def write_standing(root: Path, profile: str, standing: Standing) -> None:
    """Keep what stands, behind the SHA-256 of its bytes."""
    data = msgspec.msgpack.encode(standing)
    with replacing(standing_path(root, profile)) as fresh:
        fresh.write_bytes(hashlib.sha256(data).digest() + data)


def is_damaged(path: Path) -> bool:
    """Whether the bytes that were kept are others than were written."""
    return not _sealed(path.read_bytes())


def _sealed(data: bytes) -> bool:
    return data[:_SEAL] == hashlib.sha256(data[_SEAL:]).digest()


def standing_now(root: Path, profile: str, only: str | None) -> Standing | None:
    """What was kept, where all that a run of a benchmark, or of all, would do still stands; else ``None``."""
    if any(os.environ.get(name) for name in _ELSEWHERE):
        return None
    kept = read_standing(root, profile)
    if kept is None or (only or "") not in kept.tables:
        return None
    stages = [kept.stages[name] for name in kept.wanted(only)]
    if not all(stage.stands for stage in stages):
        return None
    paths = {*shared_paths(root, profile), *(path for stage in stages for path in stage.paths)}
    return kept if unchanged(root, paths, kept) else None


def unchanged(root: Path, paths: Iterable[str], kept: Standing) -> bool:
    """Whether the files of some paths are those that were seen."""
    paths = set(paths)
    now = dict(_files(root, paths))
    before = {name for name in kept.files if _inside(name, paths)}
    return now.keys() == before and all(
        _same(root / name, state, kept.files[name], kept.seen) for name, state in now.items()
    )


def _inside(name: str, paths: set[str]) -> bool:
    parents = (str(parent) for parent in Path(name).parents)
    return name in paths or any(parent in paths for parent in parents)


def _same(path: Path, state: os.stat_result, before: File, seen: int) -> bool:
    if state.st_size != before.size:
        return False
    settled = max(before.modified, before.changed) < seen - _RACY
    if settled and (state.st_mtime_ns, state.st_ctime_ns) == (before.modified, before.changed):
        return True
    return sha256(path) == before.sha256


def look(root: Path, paths: Iterable[str]) -> dict[str, File]:
    """The files of some paths as they are; of a folder all that are in it."""
    return {
        name: File(state.st_size, state.st_mtime_ns, state.st_ctime_ns, sha256(root / name))
        for name, state in _files(root, set(paths))
    }


def _files(root: Path, paths: Iterable[str]) -> Iterator[tuple[str, os.stat_result]]:
    for name in sorted(paths):
        try:
            state = os.stat(root / name)
        except FileNotFoundError:
            continue
        if not os.path.isdir(root / name):
            yield name, state
            continue
        for folder, inner, files in os.walk(root / name):
            inner[:] = sorted(one for one in inner if one != "__pycache__")
            for file in sorted(files):
                path = os.path.join(folder, file)
                yield os.path.join(name, os.path.relpath(path, root / name)), os.stat(path)
