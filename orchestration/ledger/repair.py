"""A way back for results that were damaged: their bytes from DVC's cache or a remote, else computed again."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from orchestration.ledger.damage import find_damage
from orchestration.ledger.dvc import fetch_cached, md5, pinned_md5
from orchestration.ledger.pinned import pinned_outs
from orchestration.ledger.records import Digests
from orchestration.stage import Stages
from orchestration.workspace.folders import Workspace
from substrate.base.errors import SubstrateError
from substrate.base.files import replacing, sha256
from substrate.base.inputs import NOT_JSON

CACHE = ".dvc/cache/files/md5"


class Repaired(NamedTuple):
    """The outs whose bytes came back, and the stages that were computed again."""

    restored: list[str]
    computed: list[str]


def repair(workspace: Workspace, stages: Stages, compute: Callable[[list[str]], object]) -> Repaired:
    """Bring back what is not as it was pinned. Nothing is put in place that does not fit its pin, and a pin
    that is damaged is left for who restores it from git.

    Args:
        workspace: the project and its profile.
        stages: every stage there is.
        compute: runs stages, by name, whatever is there already.

    Raises:
        PinError: the file of pins is damaged.
    """
    root, restored = workspace.root, list[str]()
    for from_remote in (False, True):
        if from_remote and _apart(workspace):
            fetch_cached(root, _apart(workspace))
        restored += [out for out in _apart(workspace) if _restore(root, out, pinned(workspace)[out])]
    damage = find_damage(
        root, workspace.settings.profile, stages, Digests(), storage=workspace.storage.local, results=False
    )
    apart = set(_apart(workspace))
    again = [
        name
        for name, stage in stages.items()
        if any(found.stage == name for found in damage.found)
        or any(out.format(profile=workspace.settings.profile) in apart for out in stage.outs)
    ]
    if again:
        compute(again)
    return Repaired(restored, again)


def pinned(workspace: Workspace) -> dict[str, str]:
    """The SHA-256 at which each path of the profile is pinned."""
    return pinned_outs(workspace.root, workspace.settings.profile)


def _apart(workspace: Workspace) -> list[str]:
    return [
        out
        for out, digest in sorted(pinned(workspace).items())
        if not (path := workspace.root / out).exists() or sha256(path) != digest
    ]


class _File(msgspec.Struct):
    md5: str
    relpath: str


def _restore(root: Path, out: str, digest: str) -> bool:
    """Copy an out from the cache, where the cache has the bytes that were pinned."""
    known: dict[str, str] = {}
    for name in ("data.dvc", "dvc.lock"):
        known |= pinned_md5(root, name) or {}
    named = known.get(out, "")
    path = _cached(root, named)
    if not named or not path.is_file() or md5(path) != named.removesuffix(".dir"):
        return False
    try:
        with replacing(root / out) as fresh:
            if named.endswith(".dir"):
                for file in msgspec.json.decode(path.read_bytes(), type=list[_File]):
                    target = fresh / file.relpath
                    if not target.resolve().is_relative_to(fresh.resolve()):
                        raise _OtherError("a path leads out of the folder")
                    target.parent.mkdir(parents=True, exist_ok=True)
                    _copy(_cached(root, file.md5), target, file.md5)
            else:
                _copy(path, fresh, named)
            if sha256(fresh) != digest:
                raise _OtherError("not what was pinned")
    except (_OtherError, OSError, *NOT_JSON):
        return False
    return True


class _OtherError(SubstrateError):
    """The cache has other bytes."""


def _cached(root: Path, name: str) -> Path:
    return root / CACHE / name[:2] / name[2:]


def _copy(source: Path, target: Path, name: str) -> None:
    shutil.copyfile(source, target)
    if md5(target) != name:
        raise _OtherError("damaged in the cache")


def told(done: Repaired) -> Sequence[str]:
    """Say what was done, a line each."""
    return [
        *(f"{out}: its pinned bytes are back" for out in done.restored),
        *(f"{name}: computed again" for name in done.computed),
    ]
