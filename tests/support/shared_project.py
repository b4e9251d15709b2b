"""A reproduced project as its owner has it: in Git, with DVC's cache and every pin."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from commands import invoke
from projects import ONE_WORKER, ROOT

_IDENTITY = {f"GIT_{role}_NAME": "Ada" for role in ("AUTHOR", "COMMITTER")}
_IDENTITY |= {f"GIT_{role}_EMAIL": "ada@example.org" for role in ("AUTHOR", "COMMITTER")}


def run(folder: Path, *command: str, check: bool = True) -> subprocess.CompletedProcess[str]:
    """Run a command in a folder: ``dvc`` from this environment, ``substrate`` in this process, where the
    platform is loaded already.
    """
    environment = _IDENTITY | ONE_WORKER | {"PYTHONPATH": str(ROOT), "DVC_NO_ANALYTICS": "1"}
    if command[0] == "substrate":
        done = _substrate(folder, command, environment)
    else:
        program = [sys.executable, "-m", "dvc"] if command[0] == "dvc" else [command[0]]
        words, variables = [*program, *command[1:]], os.environ | environment
        done = subprocess.run(words, cwd=folder, env=variables, capture_output=True, text=True, check=False)
    assert not check or done.returncode == 0, done.stdout + done.stderr
    return done


def _substrate(
    folder: Path, command: tuple[str, ...], environment: dict[str, str]
) -> subprocess.CompletedProcess[str]:
    with pytest.MonkeyPatch.context() as patch, contextlib.chdir(folder):
        for name, value in environment.items():
            patch.setenv(name, value)
        done = invoke(*command[1:], code=None)
    return subprocess.CompletedProcess(command, done.exit_code, done.stdout, done.stderr)


def put_in_git(project: Path, *, accepts: bool = True) -> None:
    """Commit a reproduced project, with its data pinned and the project's own settings of Git and DVC.

    Args:
        accepts: whether the pins seal the new list of data too; false if `dvc.yaml` is not that of the graph.
    """
    shutil.copy(ROOT / ".gitignore", project)
    shutil.copy(ROOT / ".dvc/config", project / ".dvc/config")
    # What `dvc.yaml` runs is the environment's own command, on this checkout.
    (project / ".venv").symlink_to(sys.prefix)
    run(project, "git", "init", "--quiet")
    (project / ".git/info/exclude").write_text(".venv\n", "utf-8")
    pinned = yaml.safe_load((ROOT / "data.dvc").read_text("utf-8"))
    paths = [{"path": out["path"], "hash": "md5"} for out in pinned["outs"]]
    (project / "data.dvc").write_text(yaml.safe_dump({"outs": paths}), "utf-8")
    run(project, "dvc", "commit", "--force", "--quiet", *(["data.dvc"] if accepts else []))
    if accepts:  # and records the other files
        run(project, "substrate", "accept", "the data of every benchmark")
    run(project, "git", "add", "--all")
    run(project, "git", "commit", "--quiet", "--message", "Reproduced")
