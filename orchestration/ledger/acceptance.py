"""New results taken over on purpose: what changed, in numbers, as a line of `pins/accepted.jsonl` and as the
trailers of a commit message; and whether every change of the pins since a commit has such a record.
"""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from orchestration.base.git import git
from orchestration.ledger.drift import Difference, differences
from orchestration.ledger.manifest import Pins, changed
from orchestration.ledger.pinned import ACCEPTED, decode_pins, pin_name, row_change
from orchestration.ledger.records import version_of
from orchestration.scoring.formatting import counted
from substrate.base.errors import ParameterError
from substrate.base.inputs import NOT_JSON

Counts = tuple[int, int]
"""Correct and total."""
_SHORT = 12
_SUBJECT = 72
"""The width of a commit message's first line."""


class Acceptance(msgspec.Struct, frozen=True, omit_defaults=True):
    """New results that somebody took over: a line of ``pins/accepted.jsonl``, and the trailers of a commit.

    Attributes:
        date: the day.
        profile: whose results.
        reason: why they are right.
        changed: the outs whose bytes changed, by path.
        numbers: correct and total of each number that changed, before and after.
        rows: by stage of answers, how many rows changed in which way.
        stages: a short hash of the outs of each stage whose outs changed, before and after.
        unsafe: the stages whose outs no record of a run says to have been computed.
        commit: the commit whose message has it; empty in the file.
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
    lines = [f"{name}: {counted(*old)} -> {counted(*new)}" for name, (old, new) in acceptance.numbers.items()]
    lines += [f"{stage}: {_ways(ways)}" for stage, ways in acceptance.rows.items()]
    return [*lines, *told_beside(acceptance)]


def told_beside(acceptance: Acceptance) -> list[str]:
    """The changes that are neither numbers nor rows."""
    other = [name for name in acceptance.stages if name not in acceptance.rows]
    lines = [f"outputs of {', '.join(other)}"] if other else []
    if acceptance.unsafe:
        lines.append(f"no record of a run computed {', '.join(acceptance.unsafe)}")
    return lines


def _ways(ways: Mapping[str, int]) -> str:
    total = sum(ways.values())
    return f"{total:,} rows changed ({', '.join(f'{count:,} {way}' for way, count in ways.items())})"


def trailers(acceptance: Acceptance) -> list[str]:
    """The trailers of a commit's message that hold an acceptance, as `git interpret-trailers` knows them: for
    a reader, and last all of it as JSON.
    """
    lines = [
        f"Accepted-Reason: {' '.join(acceptance.reason.split())}",
        f"Accepted-Profile: {acceptance.profile}",
    ]
    for name, (old, new) in acceptance.numbers.items():
        lines.append(f"Accepted-Number: {name} {old[0]}/{old[1]} -> {new[0]}/{new[1]}")
    for stage, ways in acceptance.rows.items():
        lines.append(f"Accepted-Rows: {stage} {', '.join(f'{count} {way}' for way, count in ways.items())}")
    lines += [f"Accepted-Unsafe: {name}" for name in acceptance.unsafe]
    return [*lines, f"{_RECORD}: {msgspec.json.encode(acceptance).decode()}"]


_RECORD = "Accepted-Record"


def commit_message(acceptance: Acceptance) -> str:
    """A message for `git commit -F`: the reason, what changed in words, and the trailers."""
    reason = " ".join(acceptance.reason.split())
    subject = textwrap.shorten(reason, _SUBJECT, placeholder=" …")
    parts = [subject, *([textwrap.fill(reason, _SUBJECT)] if subject != reason else [])]
    if lines := told(acceptance):
        parts.append("\n".join(f"- {line}" for line in lines))
    return "\n\n".join([*parts, "\n".join(trailers(acceptance))]) + "\n"


class Since(NamedTuple):
    """The record since a commit: what was accepted, where the pins differ, and what nobody accepted."""

    accepted: list[Acceptance]
    accepted_differences: list[Difference]
    unrecorded: list[str]


def since(root: Path, profile: str, pinned: Pins, commit: str) -> Since:
    """The changes accepted since a commit, and the changes of pins that were not.

    An acceptance is in the trailers of a commit's message, or in ``pins/accepted.jsonl``. A stage is
    accounted for where acceptances lead, one after the other, from its outs at the commit to those of now; a
    number is where they lead from its counts then to those of now.

    Raises:
        ParameterError: there is no such commit, or its pins have a form that is read no more.
    """
    names = _git(root, "ls-tree", "-r", "--name-only", commit, "--", "pins").decode().splitlines()
    ours = (f"pins/{profile}/", pin_name(profile), ACCEPTED)
    files = {name: _git(root, "show", f"{commit}:{name}") for name in names if name.startswith(ours)}
    if any(name.startswith(ours[0]) for name in files) and ours[1] not in files:
        hint = f"Name a commit that has {ours[1]}; an older program can read that one"
        raise ParameterError(f"the pins of {commit} have an earlier form", where=("--since",), hint=hint)
    before = decode_pins(files, profile)
    accepted = _accepted(root, commit, files.get(ACCEPTED, b"").splitlines())
    accepted = [one for one in accepted if one.profile == profile]
    unrecorded = list(_unrecorded(changes(before, pinned), accepted))
    return Since(accepted, differences(before, pinned), unrecorded)


def _accepted(root: Path, commit: str, known: Sequence[bytes]) -> list[Acceptance]:
    """The lines of the file that were not known, each with the commit whose message has it; then what is in
    messages alone. A line that cannot be read is none: the seal of the pins says so of the file.
    """
    kept = root / ACCEPTED
    lines = kept.read_bytes().splitlines() if kept.is_file() else []
    found = {line: "" for line in lines if line not in known}
    format_ = f"--format=%h %(trailers:key={_RECORD},valueonly,unfold,separator=%x20)"
    for entry in _git(root, "log", "--reverse", format_, f"{commit}..HEAD").splitlines():
        short, _, record = entry.partition(b" ")
        if record:
            found[record] = short.decode()
    return [one for line, short in found.items() if (one := _read(line, short))]


def _read(line: bytes, commit: str) -> Acceptance | None:
    try:
        return msgspec.structs.replace(msgspec.json.decode(line, type=Acceptance), commit=commit)
    except NOT_JSON:
        return None


def _unrecorded(found: Acceptance, accepted: Sequence[Acceptance]) -> Iterator[str]:
    """The changes that were not accepted, a line a number, and a stage where none of its numbers is one."""
    named = set[str]()
    for number, (old, new) in found.numbers.items():
        if not _leads([one.numbers[number] for one in accepted if number in one.numbers], old, new):
            named.add(f"{number.partition('/')[0]}/scores")
            yield f"{number}: {counted(*old)} -> {counted(*new)}"
    for stage, (old, new) in found.stages.items():
        edges = [one.stages[stage] for one in accepted if stage in one.stages]
        if stage not in named and not _leads(edges, old, new):
            ways = found.rows.get(stage)
            yield f"{stage}: {_ways(ways) if ways else 'its outputs'}"


def _leads(edges: Iterable[tuple[Any, Any]], old: Any, new: Any) -> bool:
    """Tell whether steps, in any order, lead from one state to another.

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
    if (said := git(root, *arguments)) is None:
        hint = "Name a commit that this clone has"
        raise ParameterError(f"git {arguments[0]} failed", where=("--since",), hint=hint)
    return said
