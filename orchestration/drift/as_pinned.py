"""The decision whether results are as pinned, or have drifted from their pins: by digest, and item by item.

:func:`unlike_pins` and :func:`apart_from_pins` compare digests: a run and its checks say "as pinned" by them.
:func:`differences` compares two measurements cell by cell, score by score and row by row, as `verify` does;
`Report.fits` in :mod:`orchestration.verification.verify` says what else must hold there.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import msgspec

from orchestration.ledger.digests import NOTHING, apart_at, differing
from orchestration.ledger.manifest import Files, changed
from orchestration.ledger.stage_results import Results, ShortRow, StageResult
from orchestration.pins.pin_files import pinned_outs
from orchestration.scoring.formatting import counted
from orchestration.workspace.folders import Workspace

GRADES = {True: "right", False: "wrong", None: "without gold"}


def unlike_pins(pins: Mapping[str, str], outs: Mapping[str, str]) -> list[str]:
    """Return the outs whose digest differs from their pin; an out without a pin is compared with nothing.

    >>> unlike_pins({"a": "00", "b": "11"}, {"a": "00", "b": "22", "c": "33"})
    ['b']
    """
    return [out for out, digest in outs.items() if pins.get(out, digest) != digest]


def apart_from_pins(workspace: Workspace) -> dict[str, str]:
    """Return the pinned paths that differ from their pins, each ``modified`` or ``deleted``."""
    pins = sorted(pinned_outs(workspace.root, workspace.settings.profile).items())
    unlike = differing(workspace.root, dict(pins)).items()
    return {out: "modified" if present else "deleted" for out, (_, present) in unlike}


def modified(apart: Mapping[str, str]) -> dict[str, str]:
    """Return those of the paths of :func:`apart_from_pins` that exist."""
    return {path: how for path, how in apart.items() if how == "modified"}


class Difference(msgspec.Struct, frozen=True, omit_defaults=True):
    """A changed table cell, score, answer row, verdict on a claim, or file without further detail.

    Attributes:
        stage: the stage that made the item.
        kind: the item's kind.
        what: the item's name: number/column, number, scene/question, or path.
        old: the former value.
        new: the present value.
        here: True if the file here differs from a recomputation; else the recomputation differs from the pin.
    """

    stage: str
    kind: Literal["cell", "score", "row", "input", "file", "verdict"]
    what: str
    old: str
    new: str
    here: bool = False

    def __str__(self) -> str:
        here = " (here -> recomputed)" if self.here else ""
        return f"{self.stage}: {self.what}: {self.old} -> {self.new}{here}"


def differences(old: Results, new: Results, *, here: bool = False) -> list[Difference]:
    """Return every difference between two measurements, in the order of the new stages.

    Items in only one measurement are ignored. A file is named only if none of its parts can be.
    """
    apart: list[Difference] = []
    for stage in (name for name in new if name in old):
        texts = changed(_texts(old[stage]), _texts(new[stage]))
        details = [
            Difference(stage, kind, what, was or f"no {kind}", is_ or f"no {kind}", here)
            for (kind, what), (was, is_) in texts.items()
        ]
        apart += details or files_apart(stage, old[stage], new[stage], here)
    return apart


def _texts(made: StageResult) -> dict[tuple[Literal["cell", "score", "row"], str], str]:
    """Return the readable items of a stage's outs as text, by kind and name."""
    lines = ((row, cells) for table in made.cells.values() for row, cells in table.items())
    return {
        **{("cell", f"{row}, {head}"): text or '""' for row, cells in lines for head, text in cells.items()},
        **{("score", number): counted(*counts) for number, counts in made.scores.items()},
        **{("row", name): _row(row) for name, row in made.rows.items()},
    }


def _row(row: ShortRow) -> str:
    gold = "" if row.expected is None else f', expected "{row.expected}"'
    return f'"{row.predicted}" {GRADES[row.correct]}{gold}, log {row.log or "unknown"}, bytes {row.row}'


def files_apart(stage: str, old: Files, new: Files, here: bool = False) -> list[Difference]:
    """Return the files of a stage's outs that differ, each with its differing lines."""
    apart: list[Difference] = []
    inner = sorted(changed(old.files, new.files))
    for out, pair in changed(old.outs, new.outs).items():
        kind = "input" if out.startswith("data/") else "file"
        within = [name for name in inner if name.startswith(f"{out}/")] if None not in pair else []
        for name in within or [out]:
            was, is_ = ({**made.outs, **made.files}.get(name, NOTHING) for made in (old, new))
            at = apart_at(old.lines.get(name), new.lines.get(name))
            apart.append(Difference(stage, kind, name + at, short(was), short(is_), here))
    return apart


def short(digest: str) -> str:
    """Shorten a digest; return any other text unchanged."""
    return digest[:15] if digest.startswith("sha256:") else digest
