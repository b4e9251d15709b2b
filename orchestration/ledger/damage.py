"""Damage: the files of a profile whose bytes are not those that were pinned, sealed or recorded, and a way
back for them: their bytes from DVC's cache or a remote, else computed again.

Every file is held against a hash before anything in it is read, so that no damage hides another. It needs no
settings: where `params.yaml` is itself damaged the others are still looked at.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import msgspec

from orchestration.ledger import dvc
from orchestration.ledger.drift import Difference, apart_at, file_differences, short
from orchestration.ledger.manifest import HEAD, Made, Pins, ledger_at, read_what_is_left, sound_manifest
from orchestration.ledger.pinned import NOTHING, broken, pinned_outs, read_pin_file, read_pins, rows_name
from orchestration.ledger.records import Digests, line_digests, with_details
from orchestration.stage import Stages
from orchestration.workspace.folders import Workspace
from substrate.base.errors import SubstrateError
from substrate.base.files import replacing, sha256
from substrate.base.inputs import NOT_JSON

SEALED = "pins"
"""The name in a stage's place where a pin is damaged."""


class Damage(NamedTuple):
    """The damage, and the pins that have none."""

    found: list[Difference]
    pins: Pins


def find_damage(
    root: Path,
    profile: str,
    stages: Stages,
    digest: Digests,
    *,
    storage: Path | None = None,
    results: bool = True,
) -> Damage:
    """Hold every file of a profile against its hash.

    Args:
        root: the project.
        profile: the profile's name.
        stages: every stage there is.
        digest: the digests of files that are known.
        storage: the folder of its tables, where it is on this machine.
        results: whether all results must be there; else those that were never made are left out.
    """
    file, bad = read_pin_file(root, profile), broken(root, profile)
    pins = read_pins(root, profile) if file else {}
    trusted = {name: pinned for name, pinned in pins.items() if rows_name(profile, name) not in bad}
    found = dict[str, Difference]()

    def note(*differences: Difference) -> None:
        for difference in differences:
            found.setdefault(difference.what.partition(", line ")[0], difference)

    lines = file.lines if file else {}
    for name, (was, is_) in bad.items():
        here = with_details(Made(), {name: root / name}, digest).lines.get(name) if name in lines else None
        note(Difference(SEALED, "file", name + apart_at(lines.get(name), here), short(was), short(is_)))
    for stage, pinned in trusted.items():
        left_out = () if results else {out for out in pinned.outs if out.startswith("artifacts/")}
        note(*_outs(root, stage, pinned, digest, left_out))
    note(*_ledger(root, profile, stages, digest), *_dvc(root, profile, stages, bad))
    manifest = read_what_is_left(ledger_at(root, profile))
    note(*_outs(root, SEALED, Made(outs=manifest.beside), digest))
    for path, was in (manifest.tables if storage else {}).items():
        stage, table = "/".join(reversed(Path(path).parts[-4:-2])), _shown(root, (storage or root) / path)
        note(*_outs(root, stage, Made(outs={table: was}), digest))
    return Damage(list(found.values()), trusted)


def _outs(
    root: Path, stage: str, made: Made, digest: Digests, left_out: Collection[str] = ()
) -> list[Difference]:
    """The files of a stage's outs that are not what was pinned or recorded."""
    paths = {out: root / out for out in made.outs}
    now = digest.of(paths)
    held = {out: was for out, was in made.outs.items() if out in now or out not in left_out}
    apart = {out: was for out, was in held.items() if now.get(out) != was}
    if not apart:
        return []
    there = {out: is_ for out, is_ in now.items() if out in apart}
    found = with_details(Made(outs=there), {out: paths[out] for out in there}, digest)
    return file_differences(stage, msgspec.structs.replace(made, outs=apart), found)


def _ledger(root: Path, profile: str, stages: Stages, digest: Digests) -> Iterator[Difference]:
    """The damage of the ledger, and the files that are not as it has them."""
    folder = ledger_at(root, profile)
    if sound_manifest(folder) is None:
        there = [path for path in (*sorted(folder.glob("*.jsonl")), folder / HEAD) if path.exists()]
        for path in there:
            yield Difference("ledger", "file", _shown(root, path), "as it was written", "damaged")
    for stage, made in read_what_is_left(folder).stages.items():
        declared = {out.format(profile=profile) for out in stages[stage].outs} if stage in stages else set()
        if not made.outs.keys() <= declared and declared:
            what = f"{_shown(root, folder / HEAD)}, {stage}"
            yield Difference(stage, "file", what, ", ".join(declared), "the record of another stage")
        else:
            yield from _outs(root, stage, made, digest)


def _dvc(root: Path, profile: str, stages: Stages, bad: Mapping[str, object]) -> Iterator[Difference]:
    """The words of DVC's files that the graph and the files do not bear out."""
    path = root / dvc.DVC_YAML
    there = path.read_bytes() if path.is_file() else b""
    if there != (text := dvc.render_dvc_yaml(stages).encode()) and (there or (root / "dvc.lock").is_file()):
        what = dvc.DVC_YAML + (apart_at(line_digests(text), line_digests(there)) if there else "")
        yield Difference("dvc", "file", what, "as the graph has it", "another" if there else NOTHING)
    for file in dvc.PINNING:
        pinned = dvc.pinned_md5(root, file)
        if pinned is None:
            yield Difference("dvc", "file", file, "DVC's pins", "not readable")
        elif file not in bad:
            for out, was in pinned.items():
                ours = dvc.exported(out, profile) and (root / out).exists()
                if ours and (is_ := dvc.md5(root / out)) != was:
                    yield Difference("dvc", "file", out, f"md5:{was[:8]}", f"md5:{is_[:8]}")


def _shown(root: Path, path: Path) -> str:
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else str(path)


class Repaired(NamedTuple):
    """The outs whose bytes came back, and the stages that were computed again."""

    restored: list[str]
    computed: list[str]

    def lines(self) -> list[str]:
        """The work that was done, a line each."""
        return [
            *(f"{out}: its pinned bytes are back" for out in self.restored),
            *(f"{name}: computed again" for name in self.computed),
        ]


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
    root, profile, restored = workspace.root, workspace.settings.profile, list[str]()
    pinned = pinned_outs(root, profile)
    for from_remote in (False, True):
        apart = dvc.drift(workspace)
        if from_remote and apart:
            dvc.fetch_cached(root, apart)
        restored += [out for out in apart if _restore(root, out, pinned[out])]
    damage = find_damage(root, profile, stages, Digests(), storage=workspace.storage.local, results=False)
    named, apart = {found.stage for found in damage.found}, dvc.drift(workspace).keys()
    again = [
        name for name, stage in stages.items() if name in named or workspace.paths(stage.outs).keys() & apart
    ]
    if again:
        compute(again)
    return Repaired(restored, again)


class _File(msgspec.Struct):
    md5: str
    relpath: str


def _restore(root: Path, out: str, digest: str) -> bool:
    """Copy an out from the cache, where the cache has the bytes that were pinned."""
    known: dict[str, str] = {}
    for name in dvc.PINNING:
        known |= dvc.pinned_md5(root, name) or {}
    named = known.get(out, "")
    path = dvc.cached(root, named)
    if not named or not path.is_file() or dvc.md5(path) != named.removesuffix(".dir"):
        return False
    try:
        with replacing(root / out) as fresh:
            if named.endswith(".dir"):
                for file in msgspec.json.decode(path.read_bytes(), type=list[_File]):
                    target = fresh / file.relpath
                    if not target.resolve().is_relative_to(fresh.resolve()):
                        raise _OtherError("a path leads out of the folder")
                    target.parent.mkdir(parents=True, exist_ok=True)
                    shutil.copyfile(dvc.cached(root, file.md5), target)
            else:
                shutil.copyfile(path, fresh)
            if sha256(fresh) != digest:
                raise _OtherError("not what was pinned")
    except (_OtherError, OSError, *NOT_JSON):
        return False
    return True


class _OtherError(SubstrateError):
    """The cache has other bytes."""
