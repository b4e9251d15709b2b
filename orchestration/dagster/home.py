"""The folder of Dagster's records of runs: set by the environment, else inside the project."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from substrate.base.errors import ParameterError

HOME = "DAGSTER_HOME"
DATABASES = ("history", "schedules")
"""The folders of Dagster's databases; no result depends on them."""


def dagster_home(root: Path) -> Path:
    """Make the folder if needed, and return a name of it that Dagster can open.

    Raises:
        ParameterError: the environment names a relative folder.
        OSError: the folder cannot be made.
    """
    home = Path(os.environ.get(HOME) or root / ".dagster")
    if not home.is_absolute():
        hint = "Give an absolute path, or unset it to use the project's folder"
        raise ParameterError("is not an absolute path", where=(HOME, home), hint=hint)
    home.mkdir(exist_ok=True)
    if "%" in str(home):  # SQLAlchemy would read %41 as A
        link = Path.home() / ".cache/substrate" / hashlib.sha256(os.fsencode(home)).hexdigest()[:16]
        link.parent.mkdir(parents=True, exist_ok=True)
        if not link.is_symlink():
            link.symlink_to(home)
        home = link
    os.environ[HOME] = str(home)
    # This also covers a folder without settings.
    os.environ["DAGSTER_DISABLE_TELEMETRY"] = "1"
    return home


def set_aside(home: Path) -> Path:
    """Move damaged databases out of the way; return their new folder."""
    number = 1
    while (aside := home / f"damaged-{number}").exists():
        number += 1
    aside.mkdir()
    for name in DATABASES:
        if (home / name).exists():
            (home / name).rename(aside / name)
    return aside
