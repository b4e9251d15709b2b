"""The official files of a profile, by their names in one folder that the user has.

Each is held against the SHA-256 that `params.yaml` has for it before anything in it is read. A profile whose
files are not there is not wrong: what they would give stays as it is pinned.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from orchestration.benchmarks.benchmark import Source
from orchestration.settings import PARAMETERS_FILE
from orchestration.workspace.folders import Workspace
from substrate.base.errors import FormatError, ParameterError
from substrate.base.files import sha256

REAL = "SUBSTRATE_REAL"
"""The variable that names the folder of official files, before `real.folder` does."""
USUAL = "downloads/real"
"""The folder where neither is given."""


def folder_of(workspace: Workspace) -> Path:
    """The folder of official files; a relative one begins in the project."""
    return workspace.root / (os.environ.get(REAL) or workspace.settings.real.folder or USUAL)


def is_real(workspace: Workspace) -> bool:
    """Tell whether the profile in force is of official files in that folder."""
    profile = workspace.settings.profiles[workspace.settings.profile]
    return any(getattr(profile, name).source == "real" for name in profile.__struct_fields__)


def names_of(workspace: Workspace, source: Source) -> dict[str, str]:
    """The names of a source's official files in the folder, by what they are; none in another profile."""
    data = workspace.settings.data(source.name)
    if data.source != "real":
        return {}
    return {what: name for what in source.inputs if (name := getattr(data, what, None)) is not None}


def absent(workspace: Workspace, sources: Iterable[Source]) -> dict[str, list[str]]:
    """The sources of which official files are not there, each with their names."""
    folder = folder_of(workspace)
    lacking = {
        source.name: [name for name in names_of(workspace, source).values() if not (folder / name).exists()]
        for source in sources
    }
    return {source: names for source, names in lacking.items() if names}


def ways_to(workspace: Workspace, names: Iterable[str]) -> list[str]:
    """How each of some official files is got, a line each."""
    known = workspace.settings.real.files
    return [
        f"{name}: {known[name].get if name in known else 'not described'}" for name in dict.fromkeys(names)
    ]


def whole(workspace: Workspace, name: str) -> Path:
    """An official file or folder, which has the bytes that `params.yaml` says.

    Raises:
        ParameterError: `params.yaml` does not describe it.
        FormatError: it is not there, or has other bytes.
    """
    path, known = folder_of(workspace) / name, workspace.settings.real.files.get(name)
    if known is None:
        hint = "Write its sha256, licence, source and get there"
        raise ParameterError("is not described", where=(PARAMETERS_FILE, f"real.files.{name}"), hint=hint)
    if not path.exists():
        raise FormatError("is not there", where=(path,), hint=f"Get it: {known.get}")
    digest = sha256(path).removeprefix("sha256:")
    if digest != known.sha256:
        what = f"has SHA-256 {digest} instead of {known.sha256}"
        raise FormatError(what, where=(path,), hint=f"Get the official one: {known.get}")
    return path
