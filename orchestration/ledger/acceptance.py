"""Deliberate acceptance of new results: each acceptance is a line of `pins/accepted.jsonl` with the changed
numbers; a check finds changes of the pins since a commit that lack such a line.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from orchestration.base.git import git
from orchestration.ledger import dvc
from orchestration.ledger.drift import Difference, differences, row_change
from orchestration.ledger.manifest import Made, Pins, changed, changing, put, version_of
from orchestration.ledger.moved import Moved, moved
from orchestration.ledger.pinned import (
    PinFile,
    accepted_name,
    drift,
    measure,
    pin_name,
    read_pins,
    with_rows,
    write_pins,
)
from orchestration.ledger.records import ledger_of, read_records
from orchestration.scoring.formatting import counted
from orchestration.settings import PARAMETERS_FILE
from orchestration.stage import Stages
from orchestration.workspace.folders import Workspace
from substrate.base.errors import ParameterError
from substrate.base.files import sha256
from substrate.base.inputs import NOT_JSON

Counts = tuple[int, int]
"""Correct and total."""
_SHORT, _COMMIT = 12, 7


class Acceptance(msgspec.Struct, frozen=True, omit_defaults=True):
    """Accepted new results: a line of ``pins/accepted.jsonl``.

    Attributes:
        date: the day.
        profile: the profile of the results.
        reason: why the new results are right.
        changed: the outs whose bytes changed, by path.
        numbers: correct and total of each changed number, before and after.
        rows: for each stage of answers, the number of rows per kind of change.
        stages: a short hash of the outs of each changed stage, before and after.
        unsafe: the stages whose outs were computed by no recorded run.
        commit: the commit that brought the line; empty in the file.
    """

    date: str
    profile: str
    reason: str
    changed: list[str] = []
    numbers: dict[str, tuple[Counts, Counts]] = {}
    rows: dict[str, dict[str, int]] = {}
    stages: dict[str, tuple[str, str]] = {}
    unsafe: list[str] = []
    commit: str = ""


def _changes(old: Pins, new: Pins) -> Acceptance:
    """Return the changed numbers between two measurements, without a reason; ignore stages in only one."""
    change = Acceptance("", "", "", numbers={}, rows={}, stages={})
    for name in sorted(old.keys() & new.keys()):
        was, is_ = old[name], new[name]
        if any(is_.outs.get(out, digest) != digest for out, digest in was.outs.items()):
            change.stages[name] = version_of(was.outs)[:_SHORT], version_of(is_.outs)[:_SHORT]
            for number, (before, after) in sorted(changed(was.scores, is_.scores).items()):
                if before and after:
                    change.numbers[number] = before, after
            if ways := Counter(row_change(*pair) for pair in changed(was.rows, is_.rows).values()):
                change.rows[name] = dict(ways.most_common())
    return change


def told(acceptance: Acceptance) -> list[str]:
    """Describe the changes, one line per number and per stage of answers."""
    ways = [f"{stage}: {_ways(ways)}" for stage, ways in acceptance.rows.items()]
    return [*_numbers(acceptance.numbers), *ways, *told_beside(acceptance)]


def told_beside(acceptance: Acceptance) -> list[str]:
    """Describe the changes other than numbers and rows."""
    other = [name for name in acceptance.stages if name not in acceptance.rows]
    lines = [f"outputs of {', '.join(other)}"] if other else []
    if acceptance.unsafe:
        lines.append(f"no record of a run computed {', '.join(acceptance.unsafe)}")
    return lines


def _numbers(numbers: Mapping[str, tuple[Counts, Counts]]) -> list[str]:
    return [f"{name}: {counted(*old)} -> {counted(*new)}" for name, (old, new) in numbers.items()]


def _ways(ways: Mapping[str, int]) -> str:
    total = sum(ways.values())
    return f"{total:,} rows changed ({', '.join(f'{count:,} {way}' for way, count in ways.items())})"


def proposed(
    workspace: Workspace, stages: Stages, reason: str, *, unsafe: bool = False
) -> tuple[Acceptance, Moved]:
    """Return the proposed acceptance, and the numbers and answers that it changes.

    Args:
        workspace: the project and its profile.
        stages: all stages.
        reason: why the new results are right.
        unsafe: also accept outs without a record of a run, and note it in the pins.

    Raises:
        ParameterError: there is no reason, or no record of a run computed the present outs.
    """
    if not reason.strip():
        raise ParameterError("no reason given", where=("REASON",), hint="Say why the new results are right")
    profile, pinned = workspace.settings.profile, read_pins(workspace.root, workspace.settings.profile)
    now = measure(workspace, stages, known=pinned)
    forged = _not_computed(read_records(workspace), pinned, now)
    if forged and not unsafe:
        named = ", ".join(workspace.root.joinpath(out).as_posix() for out in next(iter(forged.values())))
        more = f", and outs of {len(forged) - 1} more stages" if len(forged) > 1 else ""
        hint = "Compute it: `substrate reproduce`; or take it over with --unsafe, which the pins say for good"
        raise ParameterError(f"no record of a run computed this{more}", where=(named,), hint=hint)
    acceptance = msgspec.structs.replace(
        _changes(pinned, now),
        date=datetime.now(UTC).date().isoformat(),
        profile=profile,
        reason=reason,
        changed=sorted(drift(workspace)),
        unsafe=list(forged),
    )
    return acceptance, moved(pinned, now)


def _not_computed(records: Mapping[str, Made], pinned: Pins, now: Pins) -> dict[str, list[str]]:
    """Return, by stage, the outs that differ from their pins and that no run computed from present inputs."""
    made = {out: digest for record in records.values() for out, digest in record.outs.items()}
    foreign: dict[str, list[str]] = {}
    for stage, measured in now.items():
        record, known = records.get(stage, Made()), pinned.get(stage, Made()).outs
        follows = all(made.get(path, digest) == digest for path, digest in record.inputs.items())
        computed = record.outs if follows else {}
        outs = measured.outs.items()
        if forged := [out for out, is_ in outs if is_ not in (known.get(out), computed.get(out))]:
            foreign[stage] = forged
    return foreign


def accept_results(
    workspace: Workspace, stages: Stages, acceptance: Acceptance, *, usual: bool = True
) -> None:
    """Pin the present results, and append the acceptance to ``pins/accepted.jsonl``.

    Args:
        usual: whether the profile is that of `params.yaml`, whose files DVC holds.
    """
    root, profile = workspace.root, workspace.settings.profile
    if usual:
        dvc.keep_code(workspace, stages)
        dvc.commit(root)
    record = root / accepted_name(profile)
    before = record.read_bytes() if record.is_file() else b""
    put(record, before + msgspec.json.encode(acceptance) + b"\n")
    measured = measure(workspace, stages, known=read_pins(root, profile))
    for stage in acceptance.unsafe:
        measured[stage] = msgspec.structs.replace(measured[stage], unsafe=acceptance.reason, code={})
    write_pins(workspace, measured)
    with changing(ledger_of(workspace)) as manifest:
        manifest.beside[PARAMETERS_FILE] = sha256(root / PARAMETERS_FILE)


def since(
    root: Path, profile: str, pinned: Pins, commit: str
) -> tuple[list[Acceptance], list[Difference], list[str]]:
    """Return the acceptances since a commit, and the changes of the pins that nobody accepted.

    A stage's change is accepted if a chain of acceptances leads from its outs at the commit to its present
    outs.

    Raises:
        ParameterError: there is no such commit, or its pins have an unsupported earlier form.
    """
    names = _git(root, "ls-tree", "-r", "--name-only", commit, "--", "pins").decode().splitlines()
    folder, whole, record = f"pins/{profile}/", pin_name(profile), accepted_name(profile)
    ours = [name for name in names if name.startswith((folder, whole, record))]
    files = {name: _git(root, "show", f"{commit}:{name}") for name in ours}
    if whole not in files and any(name.startswith(folder) for name in files):
        hint = f"Name a commit that has {whole}; an older program can read that one"
        raise ParameterError(f"the pins of {commit} have an earlier form", where=("--since",), hint=hint)
    stages = msgspec.json.decode(files[whole], type=PinFile).stages if whole in files else {}
    before = with_rows(stages, files, profile)
    accepted = list(_accepted(root, profile, files.get(record, b"").splitlines()))
    return accepted, differences(before, pinned), list(_unrecorded(_changes(before, pinned), accepted))


def _accepted(root: Path, profile: str, known: Collection[bytes]) -> Iterator[Acceptance]:
    """Yield a profile's unknown lines, each with the commit that added it.

    Unreadable lines are skipped, because the seal of the pins reports a damaged file.
    """
    record = accepted_name(profile)
    path = root / record
    lines = path.read_bytes().splitlines() if path.is_file() else []
    brought = (git(root, "blame", "-s", "-l", "--", record) or b"").splitlines()
    for place, line in enumerate(lines):
        commit = brought[place].lstrip(b"^")[:_COMMIT].decode() if place < len(brought) else ""
        try:
            read = msgspec.json.decode(line, type=Acceptance)
        except NOT_JSON:
            continue
        if line not in known and read.profile == profile:
            yield msgspec.structs.replace(read, commit=commit.strip("0") and commit)


def _unrecorded(change: Acceptance, accepted: Sequence[Acceptance]) -> Iterator[str]:
    """Describe the stages whose change was not accepted: a line per number, or a single line without."""
    for stage, (old, new) in change.stages.items():
        if not _leads([entry.stages[stage] for entry in accepted if stage in entry.stages], old, new):
            numbers, ways = change.numbers.items(), change.rows.get(stage)
            own = {name: of for name, of in numbers if stage == f"{name.partition('/')[0]}/scores"}
            yield from _numbers(own) or [f"{stage}: {_ways(ways) if ways else 'its outputs'}"]


def _leads(edges: Iterable[tuple[Any, Any]], old: Any, new: Any) -> bool:
    """Tell whether steps, in any order, lead from one state to the other.

    >>> _leads([("b", "c"), ("a", "b")], "a", "c"), _leads([("b", "c")], "a", "c")
    (True, False)
    """
    steps, reached = list(edges), {old}
    while more := {after for before, after in steps if before in reached} - reached:
        reached |= more
    return new in reached


def _git(root: Path, *arguments: str) -> bytes:
    if (output := git(root, *arguments)) is None:
        hint = "Name a commit that this clone has"
        raise ParameterError(f"git {arguments[0]} failed", where=("--since",), hint=hint)
    return output
