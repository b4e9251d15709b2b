"""Deliberate acceptance of new results: the changes in numbers, as a line of `pins/accepted.jsonl`; and a
check that every change of the pins since a commit has such a line.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from orchestration.base.git import git
from orchestration.ledger.drift import Difference, differences
from orchestration.ledger.manifest import Pins, changed
from orchestration.ledger.pinned import accepted_name, decode_pins, pin_name, row_change
from orchestration.ledger.records import version_of
from orchestration.scoring.formatting import counted
from substrate.base.errors import ParameterError
from substrate.base.inputs import NOT_JSON

Counts = tuple[int, int]
"""Correct and total."""
_SHORT = 12
_COMMIT = 7


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


def changes(old: Pins, new: Pins) -> Acceptance:
    """The differences of two measurements, in numbers, without a reason; what only one has is no change."""
    numbers: dict[str, tuple[Counts, Counts]] = {}
    rows: dict[str, dict[str, int]] = {}
    stages: dict[str, tuple[str, str]] = {}
    for name in sorted(old.keys() & new.keys()):
        was, is_ = old[name], new[name]
        if all(is_.outs.get(out, digest) == digest for out, digest in was.outs.items()):
            continue
        stages[name] = version_of(was.outs)[:_SHORT], version_of(is_.outs)[:_SHORT]
        pairs = sorted(changed(was.scores, is_.scores).items())
        numbers |= {number: (old_, new_) for number, (old_, new_) in pairs if old_ and new_}
        if ways := Counter(row_change(*pair) for pair in changed(was.rows, is_.rows).values()):
            rows[name] = dict(ways.most_common())
    return Acceptance("", "", "", numbers=numbers, rows=rows, stages=stages)


def told(acceptance: Acceptance) -> list[str]:
    """The changes, a line a number and a stage of answers."""
    lines = _numbers(acceptance.numbers)
    lines += [f"{stage}: {_ways(ways)}" for stage, ways in acceptance.rows.items()]
    return [*lines, *told_beside(acceptance)]


def told_beside(acceptance: Acceptance) -> list[str]:
    """The changes other than numbers and rows."""
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


def since(
    root: Path, profile: str, pinned: Pins, commit: str
) -> tuple[list[Acceptance], list[Difference], list[str]]:
    """The acceptances since a commit, and the changes of the pins that nobody accepted.

    A stage's change is accepted if a chain of acceptances leads from its outs at the commit to its present
    outs.

    Raises:
        ParameterError: there is no such commit, or its pins have a form that is no longer read.
    """
    names = _git(root, "ls-tree", "-r", "--name-only", commit, "--", "pins").decode().splitlines()
    record = accepted_name(profile)
    ours = (f"pins/{profile}/", pin_name(profile), record)
    files = {name: _git(root, "show", f"{commit}:{name}") for name in names if name.startswith(ours)}
    if any(name.startswith(ours[0]) for name in files) and ours[1] not in files:
        hint = f"Name a commit that has {ours[1]}; an older program can read that one"
        raise ParameterError(f"the pins of {commit} have an earlier form", where=("--since",), hint=hint)
    before = decode_pins(files, profile)
    accepted = list(_accepted(root, profile, files.get(record, b"").splitlines()))
    return accepted, differences(before, pinned), list(_unrecorded(changes(before, pinned), accepted))


def _accepted(root: Path, profile: str, known: Collection[bytes]) -> Iterator[Acceptance]:
    """Yield a profile's lines that are not known, each with the commit that added it. Unreadable lines are
    skipped: the seal of the pins reports a damaged file.
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
        if _leads([entry.stages[stage] for entry in accepted if stage in entry.stages], old, new):
            continue
        own = {name: of for name, of in change.numbers.items() if stage == f"{name.partition('/')[0]}/scores"}
        ways = change.rows.get(stage)
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


def require_commit(root: Path, commit: str) -> None:
    """Hold that a clone has a commit.

    Raises:
        ParameterError: it has not, or the project is no checkout.
    """
    _git(root, "rev-parse", "--verify", f"{commit}^{{commit}}")


def _git(root: Path, *arguments: str) -> bytes:
    if (output := git(root, *arguments)) is None:
        hint = "Name a commit that this clone has"
        raise ParameterError(f"git {arguments[0]} failed", where=("--since",), hint=hint)
    return output
