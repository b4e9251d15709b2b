"""Queries to git about a project."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from substrate.base.errors import SubstrateError


class GitError(SubstrateError):
    """Git refuses a query, or the project is not a checkout."""


def git(root: Path, *arguments: str) -> bytes | None:
    """Return the output of a git command; ``None`` if it fails, as :func:`git_output` says."""
    try:
        return git_output(root, *arguments)
    except GitError:
        return None


def git_output(root: Path, *arguments: str) -> bytes:
    """Return the output of a git command.

    Raises:
        GitError: git refuses the command, with its own words. Or the project is not itself a checkout: inside
            another checkout it must not report that checkout's commits.
    """
    top = Path(os.fsdecode(_output(root, "rev-parse", "--show-toplevel").removesuffix(b"\n")))
    if not top.samefile(root):
        raise GitError(f"this folder is not a checkout, but {top} is", where=(root,))
    return _output(root, *arguments)


def _output(root: Path, *arguments: str) -> bytes:
    # A git hook names its checkout in variables. Those of git's configuration are the caller's word, such as
    # GIT_CONFIG_COUNT, by which CI allows git to read a checkout.
    named = (name for name in os.environ if name.startswith("GIT_CONFIG") or not name.startswith("GIT_"))
    variables = {name: os.environ[name] for name in named}
    try:
        done = subprocess.run(["git", *arguments], cwd=root, env=variables, capture_output=True, check=False)
    except OSError as error:
        raise GitError(f"git does not start ({error.strerror})", where=(root,)) from error
    if done.returncode:
        words = " ".join(os.fsdecode(done.stderr).split()) or f"it ended with {done.returncode}"
        raise GitError(f"git {arguments[0]}: {words}", where=(root,))
    return done.stdout
