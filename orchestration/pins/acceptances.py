"""The record of acceptances: its lines, and the changes of the pins that no line accepts.

`pins/accepted.jsonl` has a line for each acceptance, and is only ever added to. The pins hold the numbers,
and git holds the earlier pins, so no line repeats them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from orchestration.base.git import GitError, git, git_output
from orchestration.ledger.digests import line_digests
from orchestration.ledger.manifest import Files, changed, version_of
from orchestration.ledger.stage_results import Results, short_digest
from orchestration.pins.paths import accepted_name, pin_name
from orchestration.pins.pin_files import PinFile, damage_error, read_pin_file, with_rows
from substrate.base.errors import ParameterError
from substrate.base.inputs import NOT_JSON

# The digits of a commit, of a hash in a line, and of a line's digest in the seals.
_COMMIT, _SHORT, _DIGITS = 7, 12, len(line_digests(b"a line"))
# A short hash of each changed out of a stage, before and after.
Step = dict[str, tuple[str, str]]


class Acceptance(msgspec.Struct, frozen=True, omit_defaults=True):
    """Accepted new results: a line of ``pins/accepted.jsonl``.

    Attributes:
        date: the day.
        profile: the profile of the results.
        reason: why the new results are right.
        stages: the changed outs of each stage; in lines of an earlier program, a hash of all outs of the
            stage, before and after.
        unsafe: the stages whose outs were computed by no recorded run.
        commit: the commit that brought the line; empty in the file.
    """

    date: str
    profile: str
    reason: str
    stages: Mapping[str, Step | tuple[str, str]] = {}
    unsafe: list[str] = []
    commit: str = ""


def require_added_only(root: Path, profile: str) -> bytes:
    """Return the bytes of the record, which has each sealed line, in order, and else only acceptances.

    So a merge may add the lines of another branch, and an interrupted acceptance its own.

    Raises:
        PinError: a line is no acceptance, or a sealed line is missing.
    """
    name, file = accepted_name(profile), read_pin_file(root, profile)
    data = (root / name).read_bytes() if (root / name).is_file() else b""
    sealed = file.lines.get(name, "") if file else ""
    known = [sealed[at : at + _DIGITS] for at in range(0, len(sealed), _DIGITS)]
    for number, line in enumerate(data.splitlines(keepends=True), 1):
        try:
            msgspec.json.decode(line, type=Acceptance)
        except NOT_JSON as error:
            raise damage_error(root, name, f"line {number} is no acceptance ({error})") from error
        if known[:1] == [line_digests(line)]:
            del known[0]
    if known:
        raise damage_error(root, name, f"lacks {len(known)} of its sealed lines")
    if b"\r" in data or (data and not data.endswith(b"\n")):
        raise damage_error(root, name, "has other line ends")
    return data


def read_accepted(root: Path, profile: str, known: Collection[bytes]) -> Iterator[Acceptance]:
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


def changed_outs(old: Results, new: Results) -> dict[str, Step]:
    """Return, by stage, a short hash of each out that changed between two measurements, before and after.

    Stages and outs in only one of them are no change.
    """
    changes: dict[str, Step] = {}
    for stage in sorted(old.keys() & new.keys()):
        for out, (was, is_) in changed(old[stage].outs, new[stage].outs).items():
            if was and is_:
                changes.setdefault(stage, {})[out] = short_digest(was, _SHORT), short_digest(is_, _SHORT)
    return changes


def changes_since(
    root: Path, profile: str, pins: Results, commit: str
) -> tuple[list[Acceptance], Results, list[str]]:
    """Return the acceptances since a commit, its pins, and the stages whose change nobody accepted.

    A stage's change is accepted if, for each of its outs, a chain of acceptances leads from the bytes at the
    commit to the present bytes.

    Raises:
        ParameterError: there is no such commit, or its pins have an unsupported earlier form.
    """
    folder, whole, record = f"pins/{profile}/", pin_name(profile), accepted_name(profile)
    try:
        listed = git_output(root, "ls-tree", "-r", "--name-only", commit, "--", folder, whole, record)
        files = {name: git_output(root, "show", f"{commit}:{name}") for name in listed.decode().splitlines()}
    except GitError as error:
        hint = "Name a commit that this clone has, and let git read the clone"
        raise ParameterError(error.what, where=("--since", *error.where), hint=hint) from error
    if whole not in files and any(name.startswith(folder) for name in files):
        hint = f"Name a commit that has {whole}; an older program can read that one"
        raise ParameterError(f"the pins of {commit} have an earlier form", where=("--since",), hint=hint)
    stages = msgspec.json.decode(files[whole], type=PinFile).stages if whole in files else {}
    before = with_rows(stages, files, profile)
    accepted = list(read_accepted(root, profile, files.get(record, b"").splitlines()))
    steps = {stage: [of.stages[stage] for of in accepted if stage in of.stages] for stage in pins}
    changes = changed_outs(before, pins).items()
    known = {stage: _are_accepted(outs, steps[stage], before[stage], pins[stage]) for stage, outs in changes}
    unaccepted = [stage for stage, is_known in known.items() if not is_known]
    return accepted, before, unaccepted


def _are_accepted(outs: Step, steps: Iterable[Step | tuple[str, str]], old: Files, new: Files) -> bool:
    """Tell whether steps lead to a stage's changed outs, or from its old version to its new version.

    An earlier program recorded only versions, and a version also changes if the stage gains or loses an out.
    """
    edges: dict[str, list[tuple[str, str]]] = {}
    for step in steps:
        for out, edge in (step if isinstance(step, dict) else {"": step}).items():
            edges.setdefault(out, []).append(edge)
    by_out = (_leads(edges.get(out, ()), *pair) for out, pair in outs.items())
    return all(by_out) or _leads(edges.get("", ()), *(version_of(side.outs)[:_SHORT] for side in (old, new)))


def _leads(edges: Iterable[tuple[Any, Any]], old: Any, new: Any) -> bool:
    """Tell whether steps, in any order, lead from one state to the other.

    >>> _leads([("b", "c"), ("a", "b")], "a", "c"), _leads([("b", "c")], "a", "c")
    (True, False)
    """
    steps, reached = list(edges), {old}
    while more := {after for before, after in steps if before in reached} - reached:
        reached |= more
    return new in reached
