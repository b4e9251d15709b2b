"""Queries to git about a project."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path


def git(root: Path, *arguments: str) -> bytes | None:
    """The output of a git command; ``None`` if it fails, or if the project is not itself a checkout.

    A project that is unpacked inside another checkout must not report that checkout's commits.
    """
    top = _output(root, "rev-parse", "--show-toplevel")
    if top is None or not Path(os.fsdecode(top.removesuffix(b"\n"))).samefile(root):
        return None
    return _output(root, *arguments)


def _output(root: Path, *arguments: str) -> bytes | None:
    # A git hook passes the checkout that it runs in through the environment.
    environment = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    try:
        return subprocess.run(
            ["git", *arguments], cwd=root, env=environment, capture_output=True, check=True
        ).stdout
    except (OSError, subprocess.CalledProcessError):
        return None
