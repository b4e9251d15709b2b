"""Drift: in which cells, scores, rows and files two measurements of the results differ, and what changed that
they come from.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal

import msgspec

from orchestration.base.git import git
from orchestration.ledger.manifest import Made, PinnedRow, Pins
from orchestration.ledger.pinned import NOTHING, pin_path
from orchestration.ledger.records import LOCK, lines_apart
from orchestration.scoring.formatting import counted
from orchestration.settings import flattened


class Difference(msgspec.Struct, frozen=True, omit_defaults=True):
    """A thing that is not what it was: a table's cell, a score, a row of answers, or a file of which no
    more is known.
    """

    stage: str
    kind: Literal["cell", "score", "row", "input", "file"]
    what: str
    """The name of the thing: number and column, number, scene and question, or path."""
    old: str
    new: str
    here: bool = False
    """True if the file here differs from a recomputation; else the recomputation differs from the pin.
    """

    def __str__(self) -> str:
        return f"{self.stage}: {self.what}: {self.old} -> {self.new}" + (
            " (here -> recomputed)" if self.here else ""
        )


class Cause(msgspec.Struct, frozen=True, omit_defaults=True):
    """Something that changed and on which stages whose outs differ depend."""

    kind: Literal["code", "parameter", "input", "environment", "unknown"]
    what: str
    stages: tuple[str, ...]
    old: str = ""
    new: str = ""

    def __str__(self) -> str:
        change = f" {self.old} -> {self.new}" if self.old or self.new else ""
        stages = ", ".join(self.stages[:_LISTED])
        if len(self.stages) > _LISTED:
            stages += f" and {len(self.stages) - _LISTED} more stages"
        return _CAUSES[self.kind].format(what=self.what, change=change, stages=stages)


_CAUSES = {
    "code": "code of {stages} changed: {what}",
    "parameter": "parameter {what}{change} ({stages})",
    "input": "input {what} changed ({stages})",
    "environment": "{what} changed, and nothing that {stages} declares",
    "unknown": "nothing that {stages} declares has changed: {what}",
}


def differences(old: Pins, new: Pins, *, here: bool = False) -> list[Difference]:
    """Every difference between two measurements, in the new one's order of stages; what only one of them has
    is none.

    A file is named where nothing in it can be.
    """
    found: list[Difference] = []
    for stage in (name for name in new if name in old):
        was, is_ = _parts(old[stage]), _parts(new[stage])
        apart = [name for name in {**was, **is_} if was.get(name) != is_.get(name)]
        details = [
            Difference(stage, kind, what, *_told(kind, was.get((kind, what)), is_.get((kind, what))), here)
            for kind, what in sorted(apart, key=lambda name: _KINDS.index(name[0]))
        ]
        found += details or file_differences(stage, old[stage], new[stage], here)
    return found


_Kind = Literal["cell", "score", "row"]
_KINDS = ("cell", "score", "row")


def _parts(one: Made) -> dict[tuple[_Kind, str], Any]:
    """The cells, scores and rows of a stage, by kind and name."""
    found: dict[tuple[_Kind, str], Any] = {}
    for table in one.cells.values():
        found |= {("cell", f"{row}, {head}"): text for row, of in table.items() for head, text in of.items()}
    found |= {("score", name): counts for name, counts in one.scores.items()}
    found |= {("row", name): row for name, row in one.rows.items()}
    return found


def _told(kind: _Kind, was: Any, is_: Any) -> tuple[str, str]:
    """A part before and after, in words; each row says whatever the two do not share."""
    if kind == "row" and was and is_:
        unchanged = ", log unchanged" if was.log == is_.log else ""
        return _beside(was, is_), _beside(is_, was) + unchanged
    before, after = (f"no {kind}" if one is None else _SAID[kind](one) for one in (was, is_))
    return before, after


_GRADES = {True: "right", False: "wrong", None: "without gold"}


def _alone(row: PinnedRow) -> str:
    return f'"{row.predicted}" {_GRADES[row.correct]}'


_SAID: Mapping[str, Callable[[Any], str]] = {"cell": str, "score": lambda of: counted(*of), "row": _alone}


def _beside(row: PinnedRow, other: PinnedRow) -> str:
    """A row in words, with what another has differently."""
    parts = [_alone(row)]
    if row.expected != other.expected:
        parts.append(f'expected "{row.expected}"')
    if row.log != other.log:
        parts.append(f"log {row.log}")
    if msgspec.structs.replace(row, row="") == msgspec.structs.replace(other, row=""):
        parts.append(f"row {row.row}, in its options or supporting facts")
    return ", ".join(parts)


def file_differences(stage: str, old: Made, new: Made, here: bool = False) -> list[Difference]:
    """The files of a stage's outs that differ, each with its lines that do."""
    found: list[Difference] = []
    for out in (out for out in {**old.outs, **new.outs} if old.outs.get(out) != new.outs.get(out)):
        kind = "input" if out.startswith("data/") else "file"
        inner = [name for name in _keys(old.files, new.files) if name.startswith(f"{out}/")]
        for name in (out in old.outs and out in new.outs and inner) or [out]:
            was, is_ = ({**made.outs, **made.files}.get(name, NOTHING) for made in (old, new))
            at = apart_at(old.lines.get(name), new.lines.get(name))
            found.append(Difference(stage, kind, name + at, short(was), short(is_), here))
    return found


_LISTED = 5


def short(digest: str) -> str:
    """The beginning of a digest, or what stands for one, as it is."""
    return digest[:15] if digest.startswith("sha256:") else digest


def apart_at(old: str | None, new: str | None) -> str:
    """In words, at which lines a file differs; empty where its lines are not pinned.

    >>> apart_at("aaaabbbb", "aaaacccc")
    ', line 2'
    """
    if old is None or new is None or not (apart := lines_apart(old, new)):
        return ""
    listed = ", ".join(map(str, apart[:_LISTED]))
    more = f" and {len(apart) - _LISTED} more" if len(apart) > _LISTED else ""
    after = " and what follows" if len(old) != len(new) else ""
    return f", line {listed}{more}{after}"


def causes(old: Pins, new: Pins) -> list[Cause]:
    """The changes in what the stages whose outs differ depend on; a cause that stages share is named
    once.
    """
    return _changes(old, new, differ=True)


def unaccepted(old: Pins, new: Pins) -> list[Cause]:
    """The changes in what the other stages depend on: their outs are what was pinned, and nobody has
    shown that they still follow.
    """
    return _changes(old, new, differ=False)


def _changes(old: Pins, new: Pins, differ: bool) -> list[Cause]:
    shared: dict[tuple[Any, ...], list[str]] = defaultdict(list)
    for stage in (name for name in new if name in old):
        if (old[stage].outs != new[stage].outs) == differ:
            for cause in _changes_of(old[stage], new[stage], differ):
                shared[cause].append(stage)
    return [
        Cause(kind, what, tuple(stages), before, after)
        for (kind, what, before, after), stages in shared.items()
    ]


def _changes_of(was: Made, is_: Made, differ: bool) -> list[tuple[Any, ...]]:
    recorded = was.code and is_.code
    direct = [("code", file, "", "") for file in _keys(was.code, is_.code) if recorded]
    flat = flattened(was.parameters), flattened(is_.parameters)
    direct += [("parameter", key, _text(flat[0], key), _text(flat[1], key)) for key in _keys(*flat)]
    changed = _keys(was.inputs, is_.inputs)
    data = [("input", path, "", "") for path in changed if path.startswith("data/")]
    locked = recorded and was.environment != is_.environment
    environment: tuple[Any, ...] = ("environment", LOCK, "", "")
    if not differ:
        # The stage that makes a changed input is named for it already.
        return direct + [environment] * bool(locked)
    if not (direct or changed):
        direct = [("input", path, "", "") for path in is_.outs if path.startswith("data/")]
        unknown = "unknown", "code that it does not declare, or a result that does not repeat", "", ""
        direct = direct or [environment if locked else unknown]
    return direct + data


def explained(root: Path, profile: str, pins: Pins, now: Pins) -> Pins:
    """Pins with the code that made them. Where no ledger says so, as in a clone, it is that of the commit
    that changed the pins last: what git says has changed since then is another there.
    """
    unknown = {name: now[name] for name in pins if name in now and now[name].code and not pins[name].code}
    changed = _changed_since_pinned(root, profile) if unknown else None
    if changed is None:
        return pins
    found = dict(pins)
    for name, made in unknown.items():
        code = {file: "" if file in changed else digest for file, digest in made.code.items()}
        lock = "" if LOCK in changed else made.environment
        found[name] = msgspec.structs.replace(pins[name], code=code, environment=lock)
    return found


def _changed_since_pinned(root: Path, profile: str) -> set[str] | None:
    """The files that changed since the commit that changed the pins last; ``None`` where git does not say."""
    path = pin_path(root, profile).relative_to(root).as_posix()
    base = git(root, "log", "-1", "--format=%H", "--", path)
    changed = git(root, "diff", "--name-only", "-z", base.decode().strip()) if base else None
    return set(changed.decode().split("\0")) if changed is not None else None


def _keys(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    return [key for key in sorted({**old, **new}) if key not in old or key not in new or old[key] != new[key]]


def _text(flat: Mapping[str, Any], key: str) -> str:
    return msgspec.json.encode(flat[key]).decode() if key in flat else "not set"
