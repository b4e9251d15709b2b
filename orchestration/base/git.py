"""Queries to git about a project."""

from __future__ import annotations

import os
import subprocess
from functools import cache
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


@cache
def _of_a_repository() -> frozenset[str]:
    """The variables by which a git hook names the checkout that it runs in, as git lists them.

    Variables of its configuration are the caller's word, such as GIT_CONFIG_COUNT, by which CI allows git to
    read a checkout.
    """
    listing = subprocess.run(["git", "rev-parse", "--local-env-vars"], capture_output=True, check=False)
    return frozenset(name for name in listing.stdout.decode().split() if not name.startswith("GIT_CONFIG"))


def _output(root: Path, *arguments: str) -> bytes:
    try:
        environment = {key: value for key, value in os.environ.items() if key not in _of_a_repository()}
        done = subprocess.run(
            ["git", *arguments], cwd=root, env=environment, capture_output=True, check=False
        )
    except OSError as error:
        raise GitError(f"git does not start ({error.strerror})", where=(root,)) from error
    if done.returncode:
        words = " ".join(os.fsdecode(done.stderr).split()) or f"it ended with {done.returncode}"
        raise GitError(f"git {arguments[0]}: {words}", where=(root,))
    return done.stdout
