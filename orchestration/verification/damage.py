"""Damage: the files of a profile that differ from their recorded hashes, and the repair of results."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from os.path import relpath
from pathlib import Path

import msgspec

from orchestration.drift.as_pinned import Difference, apart_from_pins, files_apart
from orchestration.dvc import dvc_files
from orchestration.ledger.digests import differing, with_details
from orchestration.ledger.manifest import MANIFEST, Files, Manifest, ledger_at, look_at
from orchestration.ledger.stage_results import Results
from orchestration.pins.paths import IN_DVC, rows_name
from orchestration.pins.pin_files import broken_seals, read_pin_file, read_pins
from orchestration.registry import SOURCES
from orchestration.stage import Stages, computable
from orchestration.verification import record_faults
from orchestration.workspace.folders import Workspace
from orchestration.workspace.official_files import absent

# The name of the record in git, in place of a stage's name.
_PINS = "pins"
_UNHARMED = "as it was written"


def find_damage(
    root: Path, profile: str, stages: Stages, *, storage: Path | None = None, results: bool = True
) -> tuple[list[Difference], Results]:
    """Compare every file of a profile with its hash; return the damage, and the undamaged pins.

    A file may have several faults, of which the first is returned. So the faults of files that prove others
    come first: the ledger, the sealed files and the pinned outs, then the record in git as a whole, then the
    records of runs, and last the files that only the ledger knows.

    Args:
        root: the project.
        profile: the profile's name.
        stages: the stages to check.
        storage: the folder of the profile's tables, if it is on this machine.
        results: whether all results must exist; otherwise results that were never made are skipped.
    """
    ledger = ledger_at(root, profile)
    manifest, is_whole = look_at(ledger)
    place = relpath(ledger / MANIFEST, root)
    file = read_pin_file(root, profile)
    unsealed = broken_seals(root, profile)
    all_pins = read_pins(root, profile) if file else Results()
    names = (name for name in all_pins if name in stages and rows_name(profile, name) not in unsealed)
    pins = {name: all_pins[name] for name in names}
    # Without the pins, no file next to them is known to be damaged.
    sealed = [(_PINS, Files(outs=unsealed, lines=file.lines))] if file and file.digest else []
    beside = [(_PINS, Files(outs=manifest.beside)), *(_tables(root, storage, manifest) if storage else ())]
    faults = [
        *([] if is_whole else [Difference("ledger", "file", place, _UNHARMED, "damaged")]),
        *_apart(root, [*sealed, *pins.items()], () if results else ("artifacts/",)),
        *_of_pins(root, profile, stages),
        *_of_records(root, profile, manifest, pins, stages, place),
        *_apart(root, beside),
    ]
    return _once_a_file(faults), pins


def _once_a_file(faults: Iterable[Difference]) -> list[Difference]:
    """Keep the first fault of each file."""
    first: dict[str, Difference] = {}
    for fault in faults:
        first.setdefault(fault.what.partition(", line ")[0], fault)
    return [*first.values()]


def _tables(root: Path, storage: Path, manifest: Manifest) -> Iterator[tuple[str, Files]]:
    """Yield the files of the tables of cases and logs, each under the name BENCHMARK/TABLE."""
    for path, digest in manifest.tables.items():
        name = "/".join(reversed(Path(path).parts[-4:-2]))
        yield name, Files(outs={relpath(storage / path, root): digest})


def _of_pins(root: Path, profile: str, stages: Stages) -> Iterator[Difference]:
    """Yield the faults of the record in git."""
    for error in record_faults.all_faults(root, profile, stages):
        yield Difference(_PINS, "file", relpath(error.where[0], root), _UNHARMED, error.what)


def _apart(root: Path, held: Iterable[tuple[str, Files]], skip: tuple[str, ...] = ()) -> Iterator[Difference]:
    """Yield the files that differ from their recorded hash, each under its stage.

    Args:
        held: the recorded hashes, by stage.
        skip: the beginnings of the paths of files that may be missing.
    """
    for stage, made in held:
        unlike = differing(root, made.outs)
        unlike = {out: pair for out, pair in unlike.items() if pair[1] or not out.startswith(skip)}
        if unlike:
            there = {out: is_ for out, (_, is_) in unlike.items() if is_}
            now = with_details(Files(outs=there), {out: root / out for out in there})
            was = Files(outs={out: made.outs[out] for out in unlike}, files=made.files, lines=made.lines)
            yield from files_apart(stage, was, now)


def _of_records(
    root: Path, profile: str, manifest: Manifest, pins: Results, stages: Stages, place: str
) -> Iterator[Difference]:
    """Yield the files that differ from the ledger, and the records that belong to another stage.

    A file with a pin is compared with the pin: DVC restores files, but not the records of runs. A stage that
    has left the profile takes its files along, so they may be missing.
    """
    for name, made in manifest.stages.items():
        declared = [out.format(profile=profile) for out in stages[name].outs] if name in stages else []
        if declared and not made.outs.keys() <= {*declared}:
            pair = ", ".join(sorted(declared)), "the record of another stage"
            yield Difference(name, "file", f"{place}, {name}", *pair)
        else:
            held = pins[name].outs if name in pins else {}
            outs = {out: held.get(out, was) for out, was in made.outs.items()}
            skip = () if name in stages else tuple(made.outs)
            yield from _apart(root, [(name, msgspec.structs.replace(made, outs=outs))], skip)


def repair_profile(workspace: Workspace, stages: Stages, compute: Callable[[list[str]], object]) -> list[str]:
    """Restore the files that differ from their pins by a DVC checkout, then by running the remaining stages.

    A damaged pin is not repaired and restores nothing; the user restores it from git.

    Args:
        workspace: the project and its profile.
        stages: all stages.
        compute: runs stages, by name, even if their outs exist.

    Returns:
        The repairs, one line each.

    Raises:
        PinError: the file of pins is damaged.
    """
    root, profile = workspace.root, workspace.settings.profile
    stages = computable(stages, absent(workspace, SOURCES.values()))
    left = lost = apart_from_pins(workspace)
    if lost and not broken_seals(root, profile).keys() & {*IN_DVC}:
        dvc_files.check_out(root, lost)
        left = apart_from_pins(workspace)
    damage, _ = find_damage(root, profile, stages, storage=workspace.storage.own_folder)
    named = {fault.stage for fault in damage}
    if again := [name for name in stages if name in named]:
        compute(again)
    restored = [f"{out}: its pinned bytes are back" for out in lost if out not in left]
    return [*restored, *(f"{name}: computed again" for name in again)]
