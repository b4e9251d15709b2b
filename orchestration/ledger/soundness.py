"""The check, before a run or an acceptance, that the record of results is whole.

A comparison with pins that cannot be read is no comparison, and a new seal over a damaged file would hide the
damage.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from orchestration.base.git import git
from orchestration.ledger.accepted import require_added_only
from orchestration.ledger.dvc import DVC_YAML, differing_graph
from orchestration.ledger.manifest import ledger_at, read_manifest
from orchestration.ledger.pinned import (
    IN_DVC,
    WITHOUT_DVC,
    PinError,
    accepted_name,
    broken,
    damaged,
    pin_name,
    read_pin_file,
)
from orchestration.ledger.verdicts import PINNED as VERDICTS
from orchestration.ledger.verdicts import pinned_verdicts
from orchestration.stage import Stages

_OF_NO_PROFILE = ("downloads", "claims")
"""The files of pins that belong to no profile, by their names."""


def require_pins(root: Path, profile: str, *, anew: bool = False) -> bool:
    """Tell whether a profile has pins.

    Args:
        anew: whether new pins may begin where only files outside of git show that there were others.

    Raises:
        PinError: the file of pins is damaged, or missing although results were pinned.
    """
    name = pin_name(profile)
    if (file := read_pin_file(root, profile)) is None:
        raise damaged(root, name)
    if (root / name).is_file():
        return bool(file.stages)
    if git(root, "ls-tree", "HEAD", "--", name):
        raise damaged(root, name)
    if not anew and (witness := next(_witnesses(root, profile), "")):
        hint = "Restore it, or pin the present results: `substrate accept REASON`"
        raise PinError(f"is missing, but {witness} has pinned results", where=(root / name,), hint=hint)
    return False


def _witnesses(root: Path, profile: str) -> Iterator[str]:
    """Yield the records beside git that show that a profile without a file of pins had one."""
    if any((root / "pins" / profile).glob("*.jsonl")):
        yield f"pins/{profile}/"
    if read_manifest(ledger_at(root, profile)).pinned:
        yield "the ledger of runs"
    lock = root / IN_DVC[1]
    if lock.is_file() and f" artifacts/{profile}/".encode() in lock.read_bytes():
        yield lock.name


def require_seals(root: Path, profile: str) -> bool:
    """Tell whether a profile has pins, after a check of the files that they seal, so that they may be shown.

    Acceptances that a merge added are no damage.

    Raises:
        PinError: a file is missing or damaged; it is named with the remedy.
    """
    has_pins = require_pins(root, profile)
    require_added_only(root, profile)
    if bad := [name for name in broken(root, profile) if name != accepted_name(profile)]:
        raise damaged(root, bad[0], len(bad) - 1)
    return has_pins


def require_sound(root: Path, profile: str, stages: Stages) -> bool:
    """Tell whether a profile has pins, after a check of all profiles' seals: reports show other pins too.

    Args:
        stages: every stage, from which `dvc.yaml` follows.

    Raises:
        PinError: a file of the record is missing or damaged; it is named with the remedy.
    """
    has_pins = require_seals(root, profile)
    for other in others_pinned(root, profile):
        require_seals(root, other)
    require_verdicts(root)
    require_graph(root, profile, stages)
    return has_pins


def require_verdicts(root: Path) -> None:
    """Refuse pinned verdicts that are damaged, or missing although git's last commit has them.

    Raises:
        PinError: the file is missing or damaged.
    """
    there = (root / VERDICTS).is_file()
    if not pinned_verdicts(root) if there else git(root, "ls-tree", "HEAD", "--", VERDICTS):
        raise damaged(root, VERDICTS)


def require_graph(root: Path, profile: str, stages: Stages) -> None:
    """Refuse a `dvc.yaml` that is not what the graph gives; a project without DVC has none.

    A checkout without the package beyond the paper has fewer stages than its `dvc.yaml`, and is not compared.

    Raises:
        PinError: the file is missing or differs.
    """
    if profile not in WITHOUT_DVC and (texts := differing_graph(root, stages)):
        what = "is not what the asset graph says" if texts[1] else "is missing"
        raise PinError(what, where=(root / DVC_YAML,), hint="Write it from the graph: `substrate dvc sync`")


def others_pinned(root: Path, profile: str) -> list[str]:
    """Return the names of the other profiles that have pins, here or in git's last commit."""
    listed = (git(root, "ls-tree", "--name-only", "HEAD", "pins/") or b"").decode().splitlines()
    paths = [*map(Path, listed), *(root / "pins").glob("*.json")]
    return sorted({path.stem for path in paths if path.suffix == ".json"} - {profile, *_OF_NO_PROFILE})
