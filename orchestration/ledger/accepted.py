"""The record of acceptances: a file with a line for each, which is only ever added to."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

import msgspec

from orchestration.base.git import git
from orchestration.ledger import pinned
from orchestration.ledger.digests import line_digests
from substrate.base.inputs import NOT_JSON

_COMMIT, _DIGITS = 7, len(line_digests(b"a line"))
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
    name, file = pinned.accepted_name(profile), pinned.read_pin_file(root, profile)
    data = (root / name).read_bytes() if (root / name).is_file() else b""
    sealed = file.lines.get(name, "") if file else ""
    known = [sealed[at : at + _DIGITS] for at in range(0, len(sealed), _DIGITS)]
    for number, line in enumerate(data.splitlines(keepends=True), 1):
        try:
            msgspec.json.decode(line, type=Acceptance)
        except NOT_JSON as error:
            raise pinned.damaged(root, name, f"line {number} is no acceptance ({error})") from error
        if known[:1] == [line_digests(line)]:
            del known[0]
    if known:
        raise pinned.damaged(root, name, f"lacks {len(known)} of its sealed lines")
    if b"\r" in data or (data and not data.endswith(b"\n")):
        raise pinned.damaged(root, name, "has other line ends")
    return data


def read_accepted(root: Path, profile: str, known: Collection[bytes]) -> Iterator[Acceptance]:
    """Yield a profile's unknown lines, each with the commit that added it.

    Unreadable lines are skipped, because the seal of the pins reports a damaged file.
    """
    record = pinned.accepted_name(profile)
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
