"""The seal of the pins: `pins/SHA256SUMS` lists the bytes of every pin, so that a pin that was damaged is
told from a result that changed.

Its lines are those of `sha256sum`, which checks them too: ``sha256sum --check pins/SHA256SUMS``. The last
line is the hash of those above, so that the seal guards itself. It lies in git with the pins; no git is
needed to check it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection
from pathlib import Path
from typing import NamedTuple

from orchestration.settings import PARAMETERS_FILE
from substrate.base.files import replacing, sha256

SEAL = "pins/SHA256SUMS"
_BESIDE = (PARAMETERS_FILE, "data.dvc", "dvc.lock")
"""What is sealed beside the pins."""
_UNSEALED = (SEAL, "pins/downloads.json")
"""What is not: the seal, and the pins of downloads, which each download is held against."""
_LAST = "# sha256 of the lines above: "


class Seal(NamedTuple):
    """What a seal says."""

    sums: dict[str, str]
    """SHA-256 by path."""
    whole: bool
    """Whether all of its bytes are as they were written."""


def read_seal(root: Path) -> Seal | None:
    """The seal of a project's pins; ``None`` where there is none."""
    path = root / SEAL
    if not path.is_file():
        return None
    lines = path.read_bytes().decode("utf-8", "replace").split("\n")
    sums: dict[str, str] = {}
    for line in lines:
        digest, two_spaces, name = line.partition("  ")
        if two_spaces and not line.startswith("#"):
            sums[name] = f"sha256:{digest}"
    return Seal(sums, path.read_bytes() == _text(sums))


def sealed_files(root: Path) -> list[str]:
    """The files that a seal covers, by path in the project, sorted."""
    found = [path for path in (root / "pins").rglob("*") if path.is_file()]
    names = [path.relative_to(root).as_posix() for path in found] + [
        name for name in _BESIDE if (root / name).is_file()
    ]
    return sorted(name for name in names if name not in _UNSEALED and ".scratch/" not in name)


def broken(root: Path) -> dict[str, tuple[str, str]]:
    """The files that are not as they were sealed: what they were, and what they are.

    The seal is among them where it is itself damaged or missing.
    """
    seal = read_seal(root)
    if seal is None:
        return {SEAL: ("the seal of the pins", "nothing")}
    found = {} if seal.whole else {SEAL: ("as it was written", "damaged")}
    for name in sorted({*seal.sums, *sealed_files(root)}):
        was = seal.sums.get(name, "nothing")
        try:
            is_ = sha256(root / name) if (root / name).is_file() else "nothing"
        except (OSError, ValueError) as error:  # a damaged name may hold a NUL
            is_ = f"not readable ({error})"
        if was != is_:
            found[name] = (was, is_)
    return found


def seal_pins(root: Path, kept: Collection[str] = ()) -> None:
    """Seal what is there now.

    Args:
        root: the project.
        kept: paths whose lines stay as they are: they were not as sealed before, and nobody accepted them.
    """
    if SEAL in kept and (root / SEAL).is_file():
        return
    old = read_seal(root)
    sums = {name: sha256(root / name) for name in sealed_files(root) if name not in kept}
    sums |= {name: old.sums[name] for name in kept if old and name in old.sums}
    with replacing(root / SEAL) as fresh:
        fresh.write_bytes(_text(sums))


def _text(sums: dict[str, str]) -> bytes:
    lines = "".join(f"{sums[name].removeprefix('sha256:')}  {name}\n" for name in sorted(sums))
    return f"{lines}{_LAST}{hashlib.sha256(lines.encode()).hexdigest()}\n".encode()
