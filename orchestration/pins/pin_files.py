"""The pins: git's record of a profile's results, sufficient to describe drift without the result files.

`pins/PROFILE.json` has for each stage the hashes of its outs, its parameters, the counts behind its scores
and the cells of its tables; `pins/PROFILE/` has the abbreviated answer rows, a few scenes per line. Pins name
results, never code: a commit that changes no result changes no pin. DVC holds the bytes.

The first line of `pins/PROFILE.json` is a hash of its other lines, which hold the hashes (seals) of the files
next to it. So a damaged pin is distinguished from a changed result. Seals guard only against accidents:
anyone who edits a pin can seal it again.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import asdict, replace

from orchestration.ledger.digests import NOTHING, OF_LINES, differing, line_digests
from orchestration.ledger.manifest import Files, changing, ledger_at, put, read_manifest
from orchestration.ledger.stage_records import ledger_of
from orchestration.ledger.stage_results import Results, ShortRow, StageResult
from orchestration.pins.paths import IN_DVC, WITHOUT_DVC, accepted_name, pin_name, rows_name
from orchestration.workspace.folders import Workspace
from substrate.base.errors import SubstrateError
from substrate.base.files import sha256
from substrate.base.inputs import NOT_JSON

# The fewest scenes whose rows share a line; the usual maximum of lines per file; and the maximum for a
# profile that is pinned only for its numbers.
_SCENES, _LINES, _FEW = 5, 100, 40


class Pin(Files, frozen=True, kw_only=True, omit_defaults=True):
    """A stage in the file of a profile's pins; its rows have a file of their own.

    Attributes:
        parameters: the values of the stage's keys of `params.yaml`.
        needs: the stages whose outs this stage reads.
        scores: correct and total by number.
        cells: by table and row: the text under each head.
        unsafe: the reason for accepting the outs although no record of a run computed them.
    """

    parameters: dict[str, Any] = msgspec.field(default_factory=dict)
    needs: list[str] = msgspec.field(default_factory=list)
    scores: dict[str, tuple[int, int]] = msgspec.field(default_factory=dict)
    cells: dict[str, dict[str, dict[str, str]]] = msgspec.field(default_factory=dict)
    unsafe: str = ""


class PinFile(msgspec.Struct, omit_defaults=True):
    """The content of `pins/PROFILE.json`.

    Attributes:
        digest: SHA-256 of the file without this field.
        sealed: SHA-256 of each file next to it, by path.
        lines: for the files with rows, digests of their lines.
        stages: the pin of each stage.
    """

    digest: str = ""
    sealed: dict[str, str] = {}
    lines: dict[str, str] = {}
    stages: dict[str, Pin] = {}

    def text(self) -> bytes:
        """Return the file's bytes, with their hash."""
        bare = _laid_out(msgspec.to_builtins(replace(self, digest="")), 4)
        digest = hashlib.sha256(bare.encode()).hexdigest()
        return f'{{"digest": "{digest}",\n{bare[2:]}\n'.encode()


def _laid_out(value: Any, depth: int) -> str:
    """Format JSON with one line per key, down to a depth; a table's cells have one line per row."""
    if not depth or not value or not isinstance(value, dict):
        return msgspec.json.encode(value, order="sorted").decode()
    texts = ((key, _laid_out(value[key], depth - (key != "cells"))) for key in sorted(value))
    pairs = (f"{msgspec.json.encode(key).decode()}: {text}" for key, text in texts)
    return "{\n" + ",\n".join(pairs) + "}"


def encode_rows(rows: Mapping[str, ShortRow], most: int = _LINES) -> bytes:
    """Encode rows in short, a few scenes per line.

    Each scene precedes its rows. Rows of a subset and log are grouped; a right answer is written once.

    A line is a flat list: scene, groups, scene, groups. A group is ``[SUBSET, LOG, ROWS]``, and a row
    ``[QUESTION, DIGEST, PREDICTED]``, followed by ``EXPECTED, CORRECT`` unless it is right.
    """
    place = attrgetter("subset", "log")
    scenes: list[Any] = []
    for scene, of_scene in groupby(rows.values(), key=attrgetter("scene")):
        groups = groupby(sorted(of_scene, key=place), key=place)
        scenes += scene, [(*where, [_brief(row) for row in group]) for where, group in groups]
    # Two items a scene.
    cut = 2 * max(_SCENES, math.ceil(len(scenes) / 2 / most))
    lines = (scenes[at : at + cut] for at in range(0, len(scenes), cut))
    return b"".join(msgspec.json.encode(line) + b"\n" for line in lines)


def _brief(row: ShortRow) -> list[Any]:
    right = row.correct is True and row.predicted == row.expected
    return [row.question, row.row, row.predicted, *(() if right else (row.expected, row.correct))]


def decode_rows(data: bytes) -> dict[str, ShortRow]:
    """Decode the rows of :func:`encode_rows`; skip unreadable lines, which the seal reveals."""
    rows: dict[str, ShortRow] = {}
    for line in data.splitlines():
        with suppress(ValueError, TypeError, LookupError, RecursionError):
            scenes = msgspec.json.decode(line)
            for scene, groups in zip(scenes[::2], scenes[1::2], strict=True):
                rows |= {row.name: row for row in _rows_of(scene, groups)}
    return rows


def _rows_of(scene: Any, groups: Any) -> Iterator[ShortRow]:
    for subset, log, rows in groups:
        for question, digest, predicted, *graded in rows:
            values = subset, scene, question, predicted, *(graded or (predicted, True)), log, digest
            yield msgspec.convert(values, ShortRow)


def rows_bytes(profile: str, made: StageResult) -> bytes:
    """Return the file of a stage's pinned rows; empty for a stage without rows, which has no file."""
    return encode_rows(made.rows, _FEW if profile in WITHOUT_DVC else _LINES) if made.rows else b""


class PinError(SubstrateError):
    """The pins cannot be read or written."""


def read_pin_file(root: Path, profile: str) -> PinFile | None:
    """Read the file of pins; a missing file reads as empty, a damaged file as ``None``."""
    try:
        data = (root / pin_name(profile)).read_bytes()
        file = msgspec.json.decode(data, type=PinFile)
    except FileNotFoundError:
        return PinFile()
    except (OSError, *NOT_JSON):
        return None
    return file if file.text() == data else None


def _readable_pin_file(root: Path, profile: str) -> PinFile:
    if (file := read_pin_file(root, profile)) is None:
        raise damage_error(root, pin_name(profile))
    return file


def damage_error(root: Path, name: str, what: str = "is damaged: it differs from its seal") -> PinError:
    """Return the error for a damaged or missing file of the record, by its path in the project."""
    path, more = root / name, "; `substrate verify --no-recompute` names all that is damaged"
    if not path.is_file():
        what, more = "is missing", ""
    elif marker := conflict_marker(path.read_bytes()):
        what = f"line {marker} is a conflict marker of a merge"
        more = "; docs/how-to-ci.md says how to merge two accepted branches"
    return PinError(what, where=(path,), hint=f"Restore it: `git checkout HEAD -- {name}`{more}")


def conflict_marker(data: bytes) -> int:
    """Return the number of the first line that git wrote into a file that it could not merge; 0 if none.

    >>> conflict_marker(b"{\\n" + 7 * b"<" + b" ours"), conflict_marker(b"{}")
    (2, 0)
    """
    marks, lines = (7 * b"<", 7 * b">"), enumerate(data.splitlines(), 1)
    return next((number for number, line in lines if line.startswith(marks)), 0)


def read_pins(root: Path, profile: str) -> Results:
    """Read the pins of a profile; unreadable rows are left out.

    Raises:
        PinError: the file of pins is damaged.
    """
    stages = _readable_pin_file(root, profile).stages
    paths = (root / "pins" / profile).glob("*.jsonl")
    files = {path.relative_to(root).as_posix(): path.read_bytes() for path in paths}
    pins = with_rows(stages, files, profile)
    # The ledger here knows the code of a run that was pinned, if it was run here; the pins name no code.
    for name, made in read_manifest(ledger_at(root, profile)).pinned.items():
        if name in pins and made.outs == pins[name].outs:
            pins[name] = replace(pins[name], code=made.code, environment=made.environment)
    return pins


def with_rows(stages: Mapping[str, Pin], files: Mapping[str, bytes], profile: str) -> Results:
    """Add the rows to pins, from the bytes of the row files by path."""
    pins: Results = {}
    for stage, pin in stages.items():
        needs = (stages[need].outs for need in pin.needs if need in stages)
        inputs = {out: digest for outs in needs for out, digest in outs.items()}
        rows = decode_rows(files.get(rows_name(profile, stage), b""))
        pins[stage] = StageResult(**asdict(pin), inputs=inputs, rows=rows)
    return pins


def pinned_outs(root: Path, profile: str) -> dict[str, str]:
    """Return the pinned SHA-256 of each path of a profile; raises errors as :func:`read_pins`."""
    stages = _readable_pin_file(root, profile).stages.values()
    return {out: digest for made in stages for out, digest in made.outs.items()}


def pinned_scores(root: Path, profile: str) -> dict[str, tuple[int, int]]:
    """Return right answers and total of each pinned number; raises errors as :func:`read_pins`."""
    stages = _readable_pin_file(root, profile).stages.values()
    return {name: counts for made in stages for name, counts in made.scores.items()}


def pinned_cells(root: Path, profile: str, table: str) -> dict[str, dict[str, str]]:
    """Return the pinned cells of a table, if any, by row and head; raises errors as :func:`read_pins`."""
    return _readable_pin_file(root, profile).stages.get(f"tables/{table}", Pin()).cells.get(table, {})


def write_pins(
    workspace: Workspace,
    measured: Results,
    unaccepted: Mapping[str, str] | None = None,
    *,
    gone: Collection[str] = (),
    usual: bool = True,
) -> None:
    """Write measurements as the pins of their stages, and seal the files next to the pins.

    The caller has verified these files, or names those that it has not.

    Args:
        measured: the stages whose pins are written; other pins stay.
        unaccepted: files that no longer match their seals, with those seals, which stay unchanged because
            nobody accepted the files.
        gone: the stages whose pins are dropped.
        usual: whether this is the default profile of `params.yaml`, for which alone DVC's files are
            committed. They are then sealed too, unless it is a profile whose files DVC never holds.
    """
    root, profile, unaccepted = workspace.root, workspace.settings.profile, unaccepted or {}
    file = _readable_pin_file(root, profile)
    for stage, made in measured.items():
        file.stages[stage] = msgspec.convert(made, Pin, from_attributes=True)
        _write_rows(root / rows_name(profile, stage), rows_bytes(profile, made))
    for stage in gone:
        del file.stages[stage]
        file.lines.pop(rows_name(profile, stage), None)
        _write_rows(root / rows_name(profile, stage), b"")
    beside = [*(IN_DVC if usual and profile not in WITHOUT_DVC else ()), accepted_name(profile)]
    _seal(root, file, [*beside, *(rows_name(profile, stage) for stage in file.stages)], unaccepted)
    put(root / pin_name(profile), file.text())
    with changing(ledger_of(workspace)) as manifest:
        manifest.pinned |= {stage: made.record for stage, made in measured.items() if made.code}


def _write_rows(path: Path, rows: bytes) -> None:
    if rows:
        put(path, rows)
    else:
        path.unlink(missing_ok=True)


def _seal(root: Path, file: PinFile, names: Collection[str], unaccepted: Mapping[str, str]) -> None:
    """Seal the files of these names that exist; an unaccepted file keeps its seal and its line digests."""
    there = {name: root / name for name in names if (root / name).is_file()}
    sealed = {name: sha256(path) for name, path in there.items()} | dict(unaccepted)
    file.sealed = {name: digest.removeprefix("sha256:") for name, digest in sealed.items()}
    of_lines = [name for name in there.keys() - unaccepted if Path(name).suffix in OF_LINES]
    file.lines |= {name: line_digests(there[name].read_bytes()) for name in of_lines}


def broken_seals(root: Path, profile: str) -> dict[str, str]:
    """Return the files of the pins that differ from their seals, each with its seal; a file of rows or of
    acceptances without a seal counts as changed.
    """
    file = read_pin_file(root, profile)
    if file is None:
        return {pin_name(profile): NOTHING}
    there = sorted(path.relative_to(root).as_posix() for path in (root / "pins" / profile).glob("*.jsonl"))
    there += [accepted_name(profile)] * (root / accepted_name(profile)).is_file()
    seals = {name: f"sha256:{was}" for name, was in sorted(file.sealed.items())}
    seals |= {name: NOTHING for name in there if name not in seals}
    return {name: seals[name] for name in differing(root, seals)}
