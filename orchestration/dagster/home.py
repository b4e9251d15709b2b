"""The folder of Dagster's records of runs: set by the environment, else inside the project."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import dagster as dg
import yaml
from dagster_shared.check import CheckError

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
    home.mkdir(parents=True, exist_ok=True)
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


def open_instance(home: Path) -> dg.DagsterInstance:
    """Open Dagster's records, with every class that `dagster.yaml` names.

    Raises:
        ParameterError: the file is not YAML, or names what does not exist or is not installed.
    """
    try:
        instance = dg.DagsterInstance.get()
        # Dagster imports these only where it needs them: too late for a message before the run.
        _ = instance.run_launcher, instance.run_coordinator, instance.scheduler, instance.compute_log_manager
    except (yaml.YAMLError, UnicodeError, dg.DagsterError, CheckError) as error:
        what = " ".join(str(error).removeprefix("Failure condition: ").split())
        hint = "Correct the file, or install what it names"
        raise ParameterError(what, where=(home / "dagster.yaml",), hint=hint) from error
    return instance


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
