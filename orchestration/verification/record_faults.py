"""The check, before a run or an acceptance, that the record of results is whole: pins, seals, acceptances.

A comparison with pins that cannot be read is no comparison, and a new seal over a damaged file would hide the
damage. Damage of results and of the ledger is found by :mod:`.damage`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from orchestration.base.git import git
from orchestration.drift.claim_verdicts import pinned_verdicts
from orchestration.dvc import dvc_files
from orchestration.ledger.digests import apart_at, line_digests
from orchestration.pins.acceptances import require_added_only
from orchestration.pins.paths import IN_DVC, VERDICTS, WITHOUT_DVC, accepted_name, pin_name
from orchestration.pins.pin_files import PinError, broken_seals, damage_error, read_pin_file
from orchestration.registry import ABSENT
from orchestration.stage import Stages


def profile_faults(root: Path, profile: str) -> Iterator[PinError]:
    """Yield each fault of a profile's record: of its pins, its acceptances, and the files that the pins seal.

    Acceptances that a merge added are no fault. Without its pins no other file is known to be damaged.
    """
    accepted, name = accepted_name(profile), pin_name(profile)
    lost = [*pin_faults(root, profile)]
    yield from lost
    try:
        require_added_only(root, profile)
    except PinError as error:
        yield error
    sealed = {} if lost else broken_seals(root, profile)
    yield from (damage_error(root, path) for path in sealed if path not in (accepted, name))


def pin_faults(root: Path, profile: str) -> Iterator[PinError]:
    """Yield the fault of a profile's file of pins."""
    yield from _fault(root, pin_name(profile), read_pin_file(root, profile) is not None)


def verdict_faults(root: Path) -> Iterator[PinError]:
    """Yield the fault of pinned verdicts."""
    yield from _fault(root, VERDICTS, bool(pinned_verdicts(root)))


def _fault(root: Path, name: str, readable: bool) -> Iterator[PinError]:
    """Yield the fault of a file that is damaged, or missing although git's last commit has it."""
    lost = not (root / name).is_file() and git(root, "ls-tree", "HEAD", "--", name)
    if lost or ((root / name).is_file() and not readable):
        yield damage_error(root, name)


def all_faults(root: Path, profile: str, stages: Stages) -> Iterator[PinError]:
    """Yield each fault of the record: of this profile, of the others, whose pins a report shows too, of the
    verdicts and of `dvc.yaml`; arguments as for :func:`dvc_yaml_faults`.
    """
    for name in (profile, *others_pinned(root, profile)):
        yield from profile_faults(root, name)
    yield from verdict_faults(root)
    yield from dvc_yaml_faults(root, profile, stages)


def dvc_yaml_faults(root: Path, profile: str, stages: Stages) -> Iterator[PinError]:
    """Yield the fault of a `dvc.yaml` that is not what the graph gives, if DVC holds the profile.

    A checkout without the package beyond the paper has fewer stages than its `dvc.yaml`, and is not compared.

    Args:
        root: the project.
        profile: the profile of a run.
        stages: every stage, from which `dvc.yaml` follows.
    """
    if profile in WITHOUT_DVC or ABSENT:
        return
    path, text = root / dvc_files.DVC_YAML, dvc_files.render_dvc_yaml(stages).encode()
    there = path.read_bytes() if path.is_file() else b""
    if there != text and (there or (root / IN_DVC[1]).is_file()):
        at = apart_at(line_digests(text), line_digests(there))
        what = f"is not what the asset graph says{at}" if there else "is missing"
        yield PinError(what, where=(path,), hint="Write it from the graph: `substrate dvc sync`")


def require_sound(found: Iterable[PinError]) -> None:
    """Refuse a record with faults.

    Raises:
        PinError: the first fault, with the number of the others.
    """
    if errors := [*found]:
        first, more = errors[0], f", and {len(errors) - 1} more files of the record are damaged"
        raise PinError(first.what + (more if errors[1:] else ""), where=first.where, hint=first.hint)


def others_pinned(root: Path, profile: str) -> list[str]:
    """Return the names of the other profiles that have pins, here or in git's last commit."""
    listed = (git(root, "ls-tree", "--name-only", "HEAD", "pins/") or b"").decode().splitlines()
    paths = [*map(Path, listed), *(root / "pins").glob("*.json")]
    # Two files of pins belong to no profile.
    return sorted({path.stem for path in paths if path.suffix == ".json"} - {profile, "downloads", "claims"})
