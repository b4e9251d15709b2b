"""The project's Dagster instance, which the commands and the UI share: where its records lie, how they open.

The folder of Dagster's records of runs is set by the environment, else it lies in the project.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any

import dagster as dg
import yaml
from dagster_shared.check import CheckError

from orchestration.base.project_lock import open_lock
from orchestration.dagster import own_runs
from substrate.base.errors import ParameterError
from substrate.base.files import OutputError

HOME = "DAGSTER_HOME"
# The folders of Dagster's databases; no result depends on them.
DATABASES = ("history", "schedules")


def instance(root: Path) -> dg.DagsterInstance:
    """The project's persistent Dagster instance, which the command and the UI share.

    Raises:
        OutputError: the project or the record of runs is not writable, or a shared record is damaged.
        ParameterError: the folder of Dagster's records is a relative path, or its `dagster.yaml` is unusable.
    """
    from sqlalchemy.exc import DatabaseError, OperationalError

    from substrate.cli.console import note

    open_lock(root).close()
    with writing_records(home_of_records(root)):
        home = _openable(root)
        try:
            return _opened(root, home)
        except OperationalError:
            raise
        except DatabaseError as error:
            if not own_runs.is_private(root, home):
                what = f"the record of runs is damaged ({error.orig})"
                hint = "Other projects may share it; restore it, or name another DAGSTER_HOME"
                raise OutputError(what, where=(home,), hint=hint) from error
            note(
                f"{_set_aside(home)}: the damaged record of runs lies there ({error.orig}); a new one begins"
            )
            return _opened(root, home)


def home_of_records(root: Path) -> Path:
    """The folder of Dagster's records, as the environment names it; by default in the project."""
    return Path(os.environ.get(HOME) or root / ".dagster")


def _openable(root: Path) -> Path:
    """Make the folder if needed, and return a name of it that Dagster can open.

    Raises:
        ParameterError: the environment names a relative folder.
        OSError: the folder cannot be made.
    """
    home = home_of_records(root)
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


def _opened(root: Path, home: Path) -> dg.DagsterInstance:
    """Open Dagster's records, with every class that `dagster.yaml` names.

    Interrupted runs are closed, and old ones forgotten.

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
    own_runs.close_interrupted(instance, root)
    own_runs.forget_old(instance, root)
    return instance


def _set_aside(home: Path) -> Path:
    """Move damaged databases out of the way; return their new folder."""
    aside = Path(tempfile.mkdtemp(prefix="damaged-", dir=home))
    for name in DATABASES:
        if (home / name).exists():
            (home / name).rename(aside / name)
    return aside


@contextmanager
def writing_records(home: Path) -> Iterator[None]:
    """Name the folder if Dagster's database cannot be written."""
    from sqlalchemy.exc import OperationalError

    try:
        yield
    except (OSError, OperationalError) as error:
        reason = error.orig if isinstance(error, OperationalError) else error.strerror
        hint = "Free space, or make it writable; finished results are kept"
        what = f"the record of runs cannot be written ({reason})"
        raise OutputError(what, where=(home,), hint=hint) from error


@contextmanager
def held_open(instance: dg.DagsterInstance | None) -> Iterator[None]:
    """Hold the shared databases of Dagster's records open, so that an event does not wait for the disk.

    Dagster opens and closes a database for each event. SQLite empties the journal when the last connection
    closes, and waits for the disk. The record of a single run is not held open: a page that shows the run
    watches its file.
    """
    from sqlalchemy import Engine, event  # slow, and definitions alone do without

    def relax(connection: Any, _: Any) -> None:
        if isinstance(connection, sqlite3.Connection):
            connection.execute("PRAGMA synchronous=NORMAL")

    history = Path(instance.root_directory, "history") if instance else Path()
    with ExitStack() as stack:
        for path in filter(Path.is_file, (history / "runs.db", history / "runs/index.db")):
            held = stack.enter_context(closing(sqlite3.connect(path, check_same_thread=False)))
            held.execute("SELECT 1 FROM sqlite_master").fetchone()
        event.listen(Engine, "connect", relax)
        stack.callback(event.remove, Engine, "connect", relax)
        yield
