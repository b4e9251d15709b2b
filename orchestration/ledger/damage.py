"""Damage: the files of a profile whose bytes are not those that were pinned, sealed or recorded.

Every file is held against a hash before anything in it is read, so that no damage hides another. It needs no
settings: where `params.yaml` is itself damaged the others are still looked at.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import msgspec

from orchestration.ledger.drift import Difference, apart_at, file_differences, short
from orchestration.ledger.dvc import DVC_YAML, exported, md5, pinned_md5, render_dvc_yaml
from orchestration.ledger.manifest import HEAD, Made, Pins, ledger_at, read_what_is_left, sound_manifest
from orchestration.ledger.pinned import NOTHING, broken, read_pin_file, read_pins, rows_name
from orchestration.ledger.records import Digest, line_digests, with_details
from orchestration.stage import Stages

SEALED = "pins"
"""What stands for a stage where a pin is damaged."""


class Damage(NamedTuple):
    """What is damaged, and the pins that are not."""

    found: list[Difference]
    pins: Pins


def find_damage(
    root: Path,
    profile: str,
    stages: Stages,
    digest: Digest,
    *,
    storage: Path | None = None,
    results: bool = True,
) -> Damage:
    """Hold every file of a profile against its hash.

    Args:
        root: the project.
        profile: the profile's name.
        stages: every stage there is.
        digest: gives the SHA-256 of a path.
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
    root: Path, stage: str, made: Made, digest: Digest, left_out: Collection[str] = ()
) -> list[Difference]:
    """The files of a stage's outs that are not what was pinned or recorded."""
    there = {out: root / out for out in made.outs if (root / out).exists()}
    now = {out: digest(path) for out, path in there.items()}
    apart = {
        out: was
        for out, was in made.outs.items()
        if now.get(out) != was and (out in now or out not in left_out)
    }
    if not apart:
        return []
    found = Made(outs={out: now[out] for out in apart if out in now})
    found = with_details(found, {out: there[out] for out in found.outs}, digest)
    return file_differences(stage, msgspec.structs.replace(made, outs=apart), found)


def _ledger(root: Path, profile: str, stages: Stages, digest: Digest) -> Iterator[Difference]:
    """What is wrong with the ledger, and the files that are not as it has them."""
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
    """What DVC's files say that the graph and the files do not."""
    path = root / DVC_YAML
    there = path.read_bytes() if path.is_file() else b""
    if there != (text := render_dvc_yaml(stages).encode()) and (there or (root / "dvc.lock").is_file()):
        at = apart_at(line_digests(text), line_digests(there)) if there else ""
        yield Difference("dvc", "file", DVC_YAML + at, "as the graph has it", "another" if there else NOTHING)
    for file in ("data.dvc", "dvc.lock"):
        pinned = pinned_md5(root, file)
        if pinned is None:
            yield Difference("dvc", "file", file, "DVC's pins", "not readable")
        elif file not in bad:
            for out, was in pinned.items():
                ours = exported(out, profile) and (root / out).exists()
                if ours and (is_ := md5(root / out)) != was:
                    yield Difference("dvc", "file", out, f"md5:{was[:8]}", f"md5:{is_[:8]}")


def _shown(root: Path, path: Path) -> str:
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else str(path)
