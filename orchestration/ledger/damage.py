"""Damage: the files of a profile whose bytes are not those that were pinned, sealed or recorded, and a way
back for them: their bytes as DVC has them, else computed again.

Every file is held against a hash before anything in it is read, so that no damage hides another. It needs no
settings: where `params.yaml` is itself damaged the others are still looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from pathlib import Path

import msgspec

from orchestration.ledger import dvc
from orchestration.ledger.drift import Difference, file_differences
from orchestration.ledger.manifest import MANIFEST, Made, Manifest, Pins, ledger_at, look_at
from orchestration.ledger.pinned import (
    NOTHING,
    WITHOUT_DVC,
    broken,
    drift,
    pin_name,
    read_pin_file,
    read_pins,
    rows_name,
)
from orchestration.ledger.records import Digests, apart_at, line_digests, with_details
from orchestration.stage import Stages
from orchestration.workspace.folders import Workspace

SEALED = "pins"
"""The name in a stage's place where a pin is damaged."""
_MARRED = "as it was written", "damaged"


def find_damage(
    root: Path,
    profile: str,
    stages: Stages,
    digest: Digests,
    *,
    storage: Path | None = None,
    results: bool = True,
    only: Collection[str] | None = None,
) -> tuple[list[Difference], Pins]:
    """Hold every file of a profile against its hash: the damage, and the pins that have none.

    Args:
        root: the project.
        profile: the profile's name.
        stages: every stage there is.
        digest: the digests of files that are known.
        storage: the folder of its tables, where it is on this machine.
        results: whether all results must be there; else those that were never made are left out.
        only: the stages whose pins count; all unless given.
    """
    file, folder = read_pin_file(root, profile), ledger_at(root, profile)
    pins, bad = read_pins(root, profile) if file else {}, broken(root, profile, digest)
    pins = {name: pinned for name, pinned in pins.items() if rows_name(profile, name) not in bad}
    pins = {name: pinned for name, pinned in pins.items() if only is None or name in only}
    manifest, sound = look_at(folder)
    sealed, marred = [(SEALED, Made(outs=bad, lines=file.lines))] if file else [], []
    if not file:
        marred.append(Difference(SEALED, "file", pin_name(profile), *_MARRED))
    if not sound:
        marred.append(Difference("ledger", "file", _shown(root, folder / MANIFEST), *_MARRED))
    beside = [(SEALED, Made(outs=manifest.beside))]
    for path, was in (manifest.tables if storage else {}).items():
        stage, table = "/".join(reversed(Path(path).parts[-4:-2])), _shown(root, (storage or root) / path)
        beside.append((stage, Made(outs={table: was})))
    faults = [
        *marred,
        *_apart(root, [*sealed, *pins.items()], digest, () if results else "artifacts/"),
        *_records(root, profile, manifest, stages, digest),
        *(_graph(root, stages) if profile not in WITHOUT_DVC else ()),
        *_apart(root, beside, digest),
    ]
    named: dict[str, Difference] = {}
    for fault in faults:
        named.setdefault(fault.what.partition(", line ")[0], fault)
    return [*named.values()], pins


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
    place = _shown(root, ledger_at(root, profile) / MANIFEST)
    for stage, made in manifest.stages.items():
        declared = {out.format(profile=profile) for out in stages[stage].outs} if stage in stages else set()
        if declared and not made.outs.keys() <= declared:
            pair = ", ".join(sorted(declared)), "the record of another stage"
            yield Difference(stage, "file", f"{place}, {stage}", *pair)
        else:
            yield from _apart(root, [(stage, made)], digest)


def _graph(root: Path, stages: Stages) -> Iterator[Difference]:
    """The text of DVC's pipeline, where it is not that of the graph."""
    path, text = root / dvc.DVC_YAML, dvc.render_dvc_yaml(stages).encode()
    there = path.read_bytes() if path.is_file() else b""
    if there != text and (there or (root / "dvc.lock").is_file()):
        what = dvc.DVC_YAML + (apart_at(line_digests(text), line_digests(there)) if there else "")
        yield Difference("dvc", "file", what, "as the graph has it", "another" if there else NOTHING)


def _shown(root: Path, path: Path) -> str:
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else str(path)


def repair(workspace: Workspace, stages: Stages, compute: Callable[[list[str]], object]) -> list[str]:
    """Bring back what is not as it was pinned, by a checkout of DVC; what DVC has not is computed again. A
    pin that is damaged is left for who restores it from git, and nothing is checked out by it.

    Args:
        workspace: the project and its profile.
        stages: every stage there is.
        compute: runs stages, by name, whatever is there already.

    Returns:
        The work that was done, a line each.

    Raises:
        PinError: the file of pins is damaged.
    """
    root, profile = workspace.root, workspace.settings.profile
    apart = drift(workspace)
    if apart and not broken(root, profile).keys() & set(dvc.PINNING):
        dvc.check_out(root, apart)
    left = drift(workspace) if apart else apart
    damage, _ = find_damage(root, profile, stages, Digests(), storage=workspace.storage.local, results=False)
    named = {fault.stage for fault in damage}
    again = [
        name for name, stage in stages.items() if name in named or workspace.paths(stage.outs).keys() & left
    ]
    if again:
        compute(again)
    restored = [f"{out}: its pinned bytes are back" for out in apart if out not in left]
    return [*restored, *(f"{name}: computed again" for name in again)]
