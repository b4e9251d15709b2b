"""The file of acceptances, `pins/accepted.jsonl`: a line for each, only ever added.

:mod:`orchestration.ledger.acceptance` adds the lines.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from orchestration.ledger.pinned import PinError, accepted_name, conflict_marker, read_pin_file
from orchestration.ledger.records import line_digests
from substrate.base.inputs import NOT_JSON

_DIGITS = len(line_digests(b"a line"))


class Acceptance(msgspec.Struct, frozen=True, omit_defaults=True):
    """Accepted new results: a line of ``pins/accepted.jsonl``.

    Attributes:
        date: the day.
        profile: the profile of the results.
        reason: why the new results are right.
        stages: a short hash of the outs of each changed stage, before and after.
        unsafe: the stages whose outs were computed by no recorded run.
        commit: the commit that brought the line; empty in the file.
    """

    date: str
    profile: str
    reason: str
    stages: dict[str, tuple[str, str]] = {}
    unsafe: list[str] = []
    commit: str = ""


def require_added_only(root: Path, profile: str) -> bytes:
    """Return the bytes of the record, which has each sealed line, in order, and else only acceptances.

    So a merge may add the lines of another branch, and an interrupted acceptance its own.

    Raises:
        PinError: a line is no acceptance, or a sealed line is missing.
    """
    path, file = root / accepted_name(profile), read_pin_file(root, profile)
    data = path.read_bytes() if path.is_file() else b""
    sealed = file.lines.get(accepted_name(profile), "") if file else ""
    known = [sealed[at : at + _DIGITS] for at in range(0, len(sealed), _DIGITS)]
    if marker := conflict_marker(data):
        hint = "Keep the lines of both branches, and delete the markers (docs/how-to-ci.md)"
        raise PinError(f"line {marker} is a conflict marker of a merge", where=(path,), hint=hint)
    for number, line in enumerate(data.splitlines(keepends=True), 1):
        try:
            msgspec.json.decode(line, type=Acceptance)
        except NOT_JSON as error:
            raise PinError(
                f"line {number} is no acceptance ({error})", where=(path,), hint=_back(path)
            ) from error
        if known[:1] == [line_digests(line)]:
            del known[0]
    if known or b"\r" in data or not data.endswith(b"\n"[: len(data)]):
        what = f"lacks {len(known)} of its sealed lines" if known else "has other line ends"
        raise PinError(what, where=(path,), hint=_back(path))
    return data


def _back(path: Path) -> str:
    return f"Restore it: `git checkout HEAD -- pins/{path.name}`"
