"""Links from assets to their code where git keeps it, beside those to the files of this machine."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import dagster as dg

from orchestration.base.git import git
from orchestration.base.secrets_out import without_user

KEY = "dagster/code_references"
_CHECKOUT = Path(__file__).resolve().parents[2]
_SSH = re.compile(r"(?:ssh://)?git@([^:/]+)[:/](.+)")


def linked(assets: Iterable[dg.AssetsDefinition]) -> list[dg.AssetsDefinition]:
    """Assets with a link to the commit for each link to a file; as they are where no host of git is known."""
    base = source_of(_CHECKOUT)
    if base is None:
        return list(assets)
    return [asset.map_asset_specs(partial(_with_links, base=base)) for asset in assets]


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


def _with_links(spec: dg.AssetSpec, base: str) -> dg.AssetSpec:
    local: Any = spec.metadata.get(KEY)
    if local is None:
        return spec
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dg.BetaWarning)
        both = dg.CodeReferencesMetadataValue(code_references=[*local.code_references, *_links(local, base)])
    return spec.replace_attributes(metadata={**spec.metadata, KEY: both})


def _links(local: Any, base: str) -> Iterator[dg.UrlCodeReference]:
    for one in local.code_references:
        path = Path(one.file_path)
        if path.is_relative_to(_CHECKOUT):
            place = path.relative_to(_CHECKOUT).as_posix()
            yield dg.UrlCodeReference(url=f"{base}/{place}#L{one.line_number}", label=f"{one.label}, in git")
