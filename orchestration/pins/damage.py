"""Damage: the files of a profile whose bytes are not those that were pinned, sealed or recorded.

Every file is held against a hash before anything in it is read, so that no damage hides another. It needs no
settings: where `params.yaml` is itself damaged the others are still looked at.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import msgspec

from orchestration.pins.drift import NOTHING, Difference, apart_at, short
from orchestration.pins.dvc import LOCKS, md5, pinned_md5
from orchestration.pins.pinned import Pin, Pins, pinned_lines, read_pins
from orchestration.pins.records import Digests, Record, line_digests, named_files, whole_record
from orchestration.pins.seal import broken
from orchestration.pins.standing import is_damaged, standing_path
from orchestration.workspace.tables import Manifest, index_key, shard_name

SEALED = "pins"
"""What stands for a stage where a pin is damaged."""


class Damage(NamedTuple):
    """What is damaged, and the pins that are not."""

    found: list[Difference]
    pins: Pins


def find_damage(
    root: Path, profile: str, digest: Digests, *, storage: Path | None = None, results: bool = True
) -> Damage:
    """Hold every file of a profile against its hash.

    Args:
        root: the project.
        profile: the profile's name.
        digest: gives the SHA-256 of a path.
        storage: the folder of its tables, where it is on this machine.
        results: whether all results must be there; else those that were never made are left out.
    """
    unreadable: list[str] = []
    pins = read_pins(root, profile, unreadable)
    bad = broken(root)
    suspect = {name for name in pins if _pin_path(profile, name) & {*bad, *map(_file, unreadable)}}
    trusted = {name: pinned for name, pinned in pins.items() if name not in suspect}
    found = dict[str, Difference]()

    def note(difference: Difference) -> None:
        found.setdefault(_file(difference.what), difference)

    for name, (was, is_) in bad.items():
        note(Difference(SEALED, "file", name + _pin_lines(root, name, pins), short(was), short(is_)))
    for name in unreadable:
        note(Difference(SEALED, "file", name, "a pin", "not readable"))
    for stage, pinned in trusted.items():
        for difference in _outs(root, stage, pinned.pin, digest, results):
            note(difference)
    for difference in _records(root, profile, digest, trusted):
        note(difference)
    for difference in _locked(root, profile, set(bad)):
        note(difference)
    if storage:
        for difference in _tables(root, profile, storage, digest):
            note(difference)
    return Damage(list(found.values()), trusted)


def _file(what: str) -> str:
    return what.partition(", line ")[0]


def _pin_path(profile: str, stage: str) -> set[str]:
    path = f"pins/{profile}/{stage.replace('/', '.')}.json"
    return {path, f"{path}l"}


def _pin_lines(root: Path, name: str, pins: Pins) -> str:
    """At which lines a damaged file of pinned rows is not what its artifact gives."""
    stage = Path(name).name.removesuffix(".jsonl").replace(".", "/", 1)
    if not name.endswith(".jsonl") or stage not in pins or not (root / name).is_file():
        return ""
    expected = pinned_lines(root, pins[stage].pin)
    return apart_at(expected, line_digests((root / name).read_bytes())) if expected else ""


def _outs(root: Path, stage: str, pin: Pin, digest: Digests, results: bool) -> Iterator[Difference]:
    """The files of a stage's outs that are not what was pinned."""
    for out, was in pin.outs.items():
        path = root / out
        if not path.exists() and not results and out.startswith("artifacts/"):
            continue
        is_ = digest(path) if path.exists() else NOTHING
        if was == is_:
            continue
        if not pin.files or not path.is_dir():
            yield Difference(stage, "file", out + _lines(pin.lines, out, path), short(was), short(is_))
            continue
        there = named_files(out, path)
        pinned = {f"{out}/{name}": digits for name, digits in pin.files.items()}
        named = False
        for name in sorted({**pinned, **there}):
            before = pinned.get(name, NOTHING)
            after = digest(there[name]).removeprefix("sha256:") if name in there else NOTHING
            if not after.startswith(before):
                named = True
                what = name + _lines(pin.lines, name, root / name)
                yield Difference(stage, "input", what, before, after[:8])
        if not named:
            yield Difference(stage, "input", out, short(was), short(is_))


def _lines(lines: dict[str, str], name: str, path: Path) -> str:
    """At which lines a file differs from its pinned or recorded lines."""
    if name not in lines or not path.is_file():
        return ""
    try:
        return apart_at(lines[name], line_digests(path.read_bytes()))
    except OSError:
        return ""


def _records(root: Path, profile: str, digest: Digests, pins: Pins) -> Iterator[Difference]:
    """The records of the runs here that are damaged, and the files that are not as the others say."""
    folder = root / "artifacts" / profile / ".stages"
    paths = {path.stem.replace(".", "/", 1): path for path in sorted(folder.glob("*.json"))}
    for stage in pins:
        path = folder / f"{stage.replace('/', '.')}.json"
        if paths and stage not in paths:
            yield Difference(stage, "file", path.relative_to(root).as_posix(), "a record", NOTHING)
    for stage, path in paths.items():
        name = path.relative_to(root).as_posix()
        try:
            record = whole_record(path.read_bytes())
        except OSError as error:
            record = None
            yield Difference(stage, "file", name, "a record", f"not readable ({error.strerror})")
        if record is None:
            yield Difference(stage, "file", name, "as it was written", "damaged, or of an older form")
            continue
        yield from _recorded(root, stage, record, digest)
    standing = standing_path(root, profile)
    if standing.is_file() and is_damaged(standing):
        name = standing.relative_to(root).as_posix()
        yield Difference("records", "file", name, "as it was written", "damaged; the next run makes it anew")


def _recorded(root: Path, stage: str, record: Record, digest: Digests) -> Iterator[Difference]:
    there: dict[str, Path] = {}
    for out in record.outs:
        there |= named_files(out, root / out)
    for name in sorted({**record.files, **there}):
        was = record.files.get(name, NOTHING)
        is_ = digest(there[name]) if name in there else NOTHING
        if was != is_:
            what = name + _lines(record.lines, name, root / name)
            yield Difference(stage, "file", what, short(was), short(is_))


def _locked(root: Path, profile: str, bad: set[str]) -> Iterator[Difference]:
    """The paths that DVC pins at another hash, where nothing else tells."""
    for file in LOCKS:
        pinned = pinned_md5(root, file)
        if pinned is None:
            yield Difference("dvc", "file", file, "DVC's pins", "not readable")
        elif file not in bad:
            for path, was in pinned.items():
                ours = path.startswith((f"data/{profile}/", f"artifacts/{profile}/"))
                if ours and (root / path).exists() and (is_ := md5(root / path)) != was:
                    yield Difference("dvc", "file", path, f"md5:{was[:8]}", f"md5:{is_[:8]}")


def _tables(root: Path, profile: str, storage: Path, digest: Digests) -> Iterator[Difference]:
    """The tables of cases and of logs on this machine that are not as they were written."""
    for index in sorted((root / "artifacts" / profile).glob("*/logs/index.jsonl")):
        benchmark = index.parent.parent.name
        folder = storage / profile / "logs" / benchmark
        rows = len(index.read_bytes().splitlines())
        named = index_key(index)
        if (folder / named).is_file():
            yield from _table(root, storage, folder / named, f"{benchmark}/logs", digest, rows)
    for manifest in sorted((storage / profile / "cases").glob("*/*/table.json")):
        yield from _table(root, storage, manifest, f"{manifest.parts[-3]}/dataset", digest)


def _table(
    root: Path, storage: Path, path: Path, stage: str, digest: Digests, rows: int | None = None
) -> Iterator[Difference]:
    try:
        manifest = msgspec.json.decode(path.read_bytes(), type=Manifest)
    except (msgspec.DecodeError, UnicodeDecodeError):
        manifest = None
    if manifest is None or not manifest.whole or rows not in (None, manifest.rows):
        yield Difference(stage, "file", _shown(root, path), "a table's manifest", "damaged")
        return
    for number, was in enumerate(manifest.sums):
        shard = storage / manifest.folder / shard_name(number)
        is_ = digest(shard) if shard.is_file() else NOTHING
        if was != is_:
            yield Difference(stage, "file", _shown(root, shard), short(was), short(is_))


def _shown(root: Path, path: Path) -> str:
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else str(path)
