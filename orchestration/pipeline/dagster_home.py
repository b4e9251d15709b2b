"""The folder of Dagster's record of runs: the environment's, else the project's."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from substrate.base.errors import ParameterError

HOME = "DAGSTER_HOME"
DATABASES = ("history", "schedules")
"""The folders of Dagster's databases, on which no result depends."""


def dagster_home(root: Path) -> Path:
    """The folder, made where it is not there, under the name by which Dagster can open it.

    Raises:
        ParameterError: the environment names it relative to a folder that may change.
        OSError: it cannot be made.
    """
    home = Path(os.environ.get(HOME) or root / ".dagster")
    if not home.is_absolute():
        hint = "Give the whole path, or unset it for the project's own"
        raise ParameterError("is no absolute path", where=(HOME, home), hint=hint)
    home.mkdir(exist_ok=True)
    if "%" in str(home):  # SQLAlchemy would open A for %41
        link = Path.home() / ".cache/substrate" / hashlib.sha256(os.fsencode(home)).hexdigest()[:16]
        link.parent.mkdir(parents=True, exist_ok=True)
        if not link.is_symlink():
            link.symlink_to(home)
        home = link
    os.environ[HOME] = str(home)
    # Also where the folder has no settings of its own.
    os.environ["DAGSTER_DISABLE_TELEMETRY"] = "1"
    return home


def set_aside(home: Path) -> Path:
    """Put damaged databases out of the way; gives the folder that they are in then."""
    number = 1
    while (aside := home / f"damaged-{number}").exists():
        number += 1
    aside.mkdir()
    for name in DATABASES:
        if (home / name).exists():
            (home / name).rename(aside / name)
    return aside
