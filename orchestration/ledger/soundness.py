"""The check, before a run or an acceptance, that the record of results is whole: pins, seals, acceptances.

A comparison with pins that cannot be read is no comparison, and a new seal over a damaged file would hide the
damage. `pins/accepted.jsonl` has a line for each acceptance, and lines are only ever added. Damage in an
artifact's own bytes is found by :mod:`.verification`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from orchestration.base.git import git
from orchestration.ledger import dvc, manifest, pinned
from orchestration.ledger.digests import apart_at, line_digests
from orchestration.ledger.verdicts import VERDICTS, pinned_verdicts
from orchestration.stage import Stages
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
    path, file = root / pinned.accepted_name(profile), pinned.read_pin_file(root, profile)
    data = path.read_bytes() if path.is_file() else b""
    sealed = file.lines.get(pinned.accepted_name(profile), "") if file else ""
    known = [sealed[at : at + _DIGITS] for at in range(0, len(sealed), _DIGITS)]
    if marker := pinned.conflict_marker(data):
        hint = "Keep the lines of both branches, and delete the markers (docs/how-to-ci.md)"
        raise pinned.PinError(f"line {marker} is a conflict marker of a merge", where=(path,), hint=hint)
    for number, line in enumerate(data.splitlines(keepends=True), 1):
        try:
            msgspec.json.decode(line, type=Acceptance)
        except NOT_JSON as error:
            raise pinned.PinError(
                f"line {number} is no acceptance ({error})", where=(path,), hint=_back(path)
            ) from error
        if known[:1] == [line_digests(line)]:
            del known[0]
    if known or b"\r" in data or (data and not data.endswith(b"\n")):
        what = f"lacks {len(known)} of its sealed lines" if known else "has other line ends"
        raise pinned.PinError(what, where=(path,), hint=_back(path))
    return data


def _back(path: Path) -> str:
    return f"Restore it: `git checkout HEAD -- pins/{path.name}`"


_OF_NO_PROFILE = ("downloads", "claims")
"""The files of pins that belong to no profile, by their names."""


def faults(root: Path, profile: str, *, anew: bool = False) -> Iterator[pinned.PinError]:
    """Yield each fault of a profile's record: of its pins, its acceptances, and the files that the pins seal.

    Acceptances that a merge added are no fault. Without its pins no other file is known to be damaged.

    Args:
        anew: whether new pins may begin where only files outside of git show that there were others.
    """
    accepted, name = pinned.accepted_name(profile), pinned.pin_name(profile)
    of_pins = [*_of_pins(root, profile, anew=anew)]
    yield from of_pins
    try:
        require_added_only(root, profile)
    except pinned.PinError as error:
        yield error
    sealed = {} if of_pins else pinned.broken(root, profile)
    yield from (pinned.damaged(root, path) for path in sealed if path not in (accepted, name))


def of_verdicts(root: Path) -> Iterator[pinned.PinError]:
    """Yield the fault of pinned verdicts that are damaged, or missing although git's last commit has them."""
    if (root / VERDICTS).is_file():
        lost = not pinned_verdicts(root)
    else:
        lost = bool(git(root, "ls-tree", "HEAD", "--", VERDICTS))
    if lost:
        yield pinned.damaged(root, VERDICTS)


def _of_pins(root: Path, profile: str, *, anew: bool = False) -> Iterator[pinned.PinError]:
    """Yield the fault of a file of pins that is damaged, or missing although results were pinned."""
    name = pinned.pin_name(profile)
    if pinned.read_pin_file(root, profile) is None:
        yield pinned.damaged(root, name)
    elif not (root / name).is_file():
        if git(root, "ls-tree", "HEAD", "--", name):
            yield pinned.damaged(root, name)
        elif not anew and (witness := next(_witnesses(root, profile), "")):
            what = f"is missing, but {witness} has pinned results"
            hint = "Restore it, or pin the present results: `substrate accept REASON`"
            yield pinned.PinError(what, where=(root / name,), hint=hint)


def _witnesses(root: Path, profile: str) -> Iterator[str]:
    """Yield the records beside git that show that a profile without a file of pins had one."""
    if any((root / "pins" / profile).glob("*.jsonl")):
        yield f"pins/{profile}/"
    if manifest.read_manifest(manifest.ledger_at(root, profile)).pinned:
        yield "the ledger of runs"
    lock = root / pinned.IN_DVC[1]
    if lock.is_file() and f" artifacts/{profile}/".encode() in lock.read_bytes():
        yield lock.name


def all_faults(root: Path, profile: str, stages: Stages) -> Iterator[pinned.PinError]:
    """Yield each fault of the record: of this profile, of the others, whose pins a report shows too, of the
    verdicts and of `dvc.yaml`; arguments as for :func:`of_graph`.
    """
    for name in (profile, *others_pinned(root, profile)):
        yield from faults(root, name)
    yield from of_verdicts(root)
    yield from of_graph(root, profile, stages)


def of_graph(root: Path, profile: str, stages: Stages) -> Iterator[pinned.PinError]:
    """Yield the fault of a `dvc.yaml` that is not what the graph gives, if DVC holds the profile.

    A checkout without the package beyond the paper has fewer stages than its `dvc.yaml`, and is not compared.

    Args:
        root: the project.
        profile: the profile of a run.
        stages: every stage, from which `dvc.yaml` follows.
    """
    if profile not in pinned.WITHOUT_DVC and (texts := dvc.differing_graph(root, stages)):
        at = apart_at(*map(line_digests, texts)) if texts[1] else ""
        what = f"is not what the asset graph says{at}" if texts[1] else "is missing"
        hint = "Write it from the graph: `substrate dvc sync`"
        yield pinned.PinError(what, where=(root / dvc.DVC_YAML,), hint=hint)


def require_sound(found: Iterable[pinned.PinError]) -> None:
    """Refuse a record with faults.

    Raises:
        PinError: the first fault, with the number of the others.
    """
    first, *others = [*found] or [None]
    if first and others:
        more = f"{first.what}, and {len(others)} more files of the record are damaged"
        raise pinned.PinError(more, where=first.where, hint=first.hint)
    if first:
        raise first


def require_pins(root: Path, profile: str) -> None:
    """Refuse a file of pins that is damaged, or missing although results were pinned.

    Raises:
        PinError: the file is.
    """
    require_sound(_of_pins(root, profile))


def others_pinned(root: Path, profile: str) -> list[str]:
    """Return the names of the other profiles that have pins, here or in git's last commit."""
    listed = (git(root, "ls-tree", "--name-only", "HEAD", "pins/") or b"").decode().splitlines()
    paths = [*map(Path, listed), *(root / "pins").glob("*.json")]
    return sorted({path.stem for path in paths if path.suffix == ".json"} - {profile, *_OF_NO_PROFILE})
