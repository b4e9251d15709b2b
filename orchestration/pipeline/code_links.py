"""Links from assets to their code: to the files of this machine, and to where git keeps them."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterable
from functools import cache, partial
from inspect import isfunction
from pathlib import Path
from typing import Any

import dagster as dg

from orchestration.base.git import git
from orchestration.base.secrets_out import without_user
from orchestration.code import ROOT

_SSH = re.compile(r"(?:ssh://)?git@([^:/]+)[:/](.+)")


def code_references(calls: Iterable[Callable[..., Any]]) -> dict[str, dg.CodeReferencesMetadataValue]:
    """Functions of an asset by file and line, which the UI opens in an editor; then the same at their commit,
    where a host of git is known.
    """
    local: list[dg.LocalFileCodeReference] = []
    links: list[dg.UrlCodeReference] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dg.BetaWarning)
        for call in filter(isfunction, map(_function, calls)):
            file, line, name = call.__code__.co_filename, call.__code__.co_firstlineno, call.__qualname__
            local.append(dg.LocalFileCodeReference(file_path=file, line_number=line, label=name))
            if (base := source_of(ROOT)) and Path(file).is_relative_to(ROOT):
                place = Path(file).relative_to(ROOT).as_posix()
                links.append(dg.UrlCodeReference(url=f"{base}/{place}#L{line}", label=f"{name}, in git"))
        return {"dagster/code_references": dg.CodeReferencesMetadataValue(code_references=[*local, *links])}


def _function(call: Any) -> Any:
    """The function that a partial application calls in the end."""
    return _function(call.func) if isinstance(call, partial) else call


@cache
def source_of(checkout: Path) -> str | None:
    """The address below which the files of a checkout's commit are shown, where its remote shows any."""
    remote, commit = git(checkout, "remote", "get-url", "origin"), git(checkout, "rev-parse", "HEAD")
    return base_of(remote.decode().strip(), commit.decode().strip()) if remote and commit else None


def base_of(remote: str, commit: str) -> str | None:
    """The address of a commit's files at a host of git, without who may read them.

    >>> base_of("git@github.com:some/where.git", "12ab")
    'https://github.com/some/where/blob/12ab'
    >>> base_of("https://me:secret@gitlab.example.org/some/where.git", "12ab")
    'https://gitlab.example.org/some/where/-/blob/12ab'
    >>> base_of("../where", "12ab")
    """
    address = without_user(_SSH.sub(r"https://\1/\2", remote)).removesuffix(".git")
    if not address.startswith("https://") or not ("github" in address or "gitlab" in address):
        return None
    return f"{address}/{'-/' if 'gitlab' in address else ''}blob/{commit}"
