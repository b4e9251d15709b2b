"""Damage: the files of a profile whose bytes are not those that were pinned, sealed or recorded, and a way
back for them: their bytes from DVC's cache or a remote, else computed again.

Every file is held against a hash before anything in it is read, so that no damage hides another. It needs no
settings: where `params.yaml` is itself damaged the others are still looked at.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import msgspec

from orchestration.ledger import dvc
from orchestration.ledger.drift import Difference, file_differences
from orchestration.ledger.manifest import HEAD, Made, Manifest, Pins, ledger_at, look_at
from orchestration.ledger.pinned import NOTHING, broken, pinned_outs, read_pin_file, read_pins, rows_name
from orchestration.ledger.records import Digests, apart_at, line_digests, with_details
from orchestration.stage import Stages
from orchestration.workspace.folders import Workspace
from substrate.base.errors import SubstrateError
from substrate.base.files import replacing, sha256
from substrate.base.inputs import NOT_JSON

SEALED = "pins"
"""The name in a stage's place where a pin is damaged."""
_MARRED = "as it was written", "damaged"


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
    file, folder = read_pin_file(root, profile), ledger_at(root, profile)
    pins, bad = read_pins(root, profile) if file else {}, broken(root, profile, digest)
    pins = {name: pinned for name, pinned in pins.items() if rows_name(profile, name) not in bad}
    manifest, sound = look_at(folder)
    sealed = [(SEALED, Made(outs=bad, lines=file.lines))] if file else []
    marred = (*sorted(folder.glob("*.jsonl")), folder / HEAD) if not sound else ()
    beside = [(SEALED, Made(outs=manifest.beside))]
    for path, was in (manifest.tables if storage else {}).items():
        stage, table = "/".join(reversed(Path(path).parts[-4:-2])), _shown(root, (storage or root) / path)
        beside.append((stage, Made(outs={table: was})))
    found = [
        *(Difference(SEALED, "file", name, *_MARRED) for name in bad if not file),
        *_apart(root, [*sealed, *pins.items()], digest, () if results else "artifacts/"),
        *(Difference("ledger", "file", _shown(root, path), *_MARRED) for path in marred if path.exists()),
        *_records(root, profile, manifest, stages, digest),
        *_dvc(root, profile, stages, bad),
        *_apart(root, beside, digest),
    ]
    named: dict[str, Difference] = {}
    for one in found:
        named.setdefault(one.what.partition(", line ")[0], one)
    return Damage([*named.values()], pins)


def _apart(
    root: Path, held: Iterable[tuple[str, Made]], digest: Digests, left_out: str | tuple[str, ...] = ()
) -> Iterator[Difference]:
    """The files that do not have the hash that something holds them to, each with the stage it is of; those
    that are not there and begin so are left out.
    """
    for stage, made in held:
        apart = digest.apart(root, made.outs)
        apart = {out: pair for out, pair in apart.items() if pair[1] or not out.startswith(left_out)}
        if apart:
            there = {out: is_ for out, (_, is_) in apart.items() if is_}
            now = with_details(Made(outs=there), {out: root / out for out in there}, digest)
            was = msgspec.structs.replace(made, outs={out: made.outs[out] for out in apart})
            yield from file_differences(stage, was, now)


def _records(
    root: Path, profile: str, manifest: Manifest, stages: Stages, digest: Digests
) -> Iterator[Difference]:
    """The files that are not as the ledger has them, and the records that are of another stage."""
    head = _shown(root, ledger_at(root, profile) / HEAD)
    for stage, made in manifest.stages.items():
        declared = {out.format(profile=profile) for out in stages[stage].outs} if stage in stages else set()
        if declared and not made.outs.keys() <= declared:
            said = ", ".join(sorted(declared)), "the record of another stage"
            yield Difference(stage, "file", f"{head}, {stage}", *said)
        else:
            yield from _apart(root, [(stage, made)], digest)


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
        for out, was in (pinned or {}).items() if file not in bad else ():
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
