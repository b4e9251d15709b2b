"""The official files of a profile, by their names in a folder that the user has.

Each file is compared with its SHA-256 in `params.yaml` before it is read. Missing files are no error: the
results that need them stay as pinned.
"""

from __future__ import annotations

import gzip
import hashlib
import os
import zipfile
from collections.abc import Iterable
from pathlib import Path

from orchestration.benchmarks.benchmark import Source
from orchestration.settings import PARAMETERS_FILE, REAL
from orchestration.workspace.folders import Workspace
from substrate.base.errors import FormatError, ParameterError


def folder_of(workspace: Workspace) -> Path:
    """The folder of official files; a relative path starts at the project."""
    return workspace.root / (os.environ.get(REAL) or workspace.settings.real.folder or "downloads/real")


def is_real(workspace: Workspace) -> bool:
    """Tell whether the current profile reads official files from that folder."""
    profile = workspace.settings.profiles[workspace.settings.profile]
    # A benchmark that is not installed may have any value.
    read = (getattr(profile, name) for name in profile.__struct_fields__)
    return any(getattr(data, "source", "") == "real" for data in read)


def names_of(workspace: Workspace, source: Source) -> dict[str, str]:
    """The names of a source's official files in the folder, by role; none in other profiles."""
    data = workspace.settings.data(source.name)
    if data.source != "real":
        return {}
    return {what: name for what in source.inputs if (name := getattr(data, what, None)) is not None}


def absent(workspace: Workspace, sources: Iterable[Source]) -> dict[str, list[str]]:
    """The sources with missing official files, each with the files' names."""
    folder = folder_of(workspace)
    lacking = {
        source.name: [name for name in names_of(workspace, source).values() if not (folder / name).exists()]
        for source in sources
    }
    return {source: names for source, names in lacking.items() if names}


def ways_to(workspace: Workspace, names: Iterable[str]) -> list[str]:
    """Say how to get each of some official files, a line each."""
    known, names = workspace.settings.real.files, dict.fromkeys(names)
    return [f"{name}: {known[name].get if name in known else 'not described'}" for name in names]


def content_digest(path: Path) -> str:
    """SHA-256 of the unpacked content of a file or folder, as programs compress the same bytes differently.

    For a folder and for a zip it is the SHA-256 of a list, sorted by name. Each member has a line as
    ``sha256sum`` prints it: SHA-256, two spaces and the name without ``.gz``.
    """
    if path.is_dir():
        members = (file for file in path.rglob("*") if file.is_file())
        digests = {f.relative_to(path).as_posix().removesuffix(".gz"): content_digest(f) for f in members}
    elif zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            names = [name for name in archive.namelist() if not name.endswith("/")]
            digests = {name: hashlib.sha256(archive.read(name)).hexdigest() for name in names}
    else:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()  # pyright: ignore[reportArgumentType]
    text = "".join(f"{digest}  {name}\n" for name, digest in sorted(digests.items()))
    return hashlib.sha256(text.encode()).hexdigest()


def doctored(workspace: Workspace, sources: Iterable[Source]) -> dict[str, tuple[str, str]]:
    """The official files of some sources that differ from `params.yaml`: the SHA-256 there, and the actual
    one.
    """
    names = {name for source in sources for name in names_of(workspace, source).values()}
    known, digests = workspace.settings.real.files, dict[str, tuple[str, str]]()
    for name in sorted(names):
        if (path := folder_of(workspace) / name).exists():
            held = known[name].sha256 if name in known else "not described"
            if (digest := content_digest(path)) != held:
                digests[name] = held, digest
    return digests


def require_whole(workspace: Workspace, source: Source) -> None:
    """Refuse a source's official file or folder whose bytes differ from `params.yaml`.

    Raises:
        ParameterError: `params.yaml` does not describe it.
        FormatError: it is missing or has other bytes.
    """
    known, folder = workspace.settings.real.files, folder_of(workspace)
    for name in names_of(workspace, source).values():
        if name not in known:
            hint = "Add its sha256, licence, source and get to that section"
            where = PARAMETERS_FILE, f"real.files.{name}"
            raise ParameterError("is not described", where=where, hint=hint)
        if not (folder / name).exists():
            raise FormatError("is not there", where=(folder / name,), hint=f"Get it: {known[name].get}")
    for name, (held, digest) in doctored(workspace, [source]).items():
        what, hint = f"has SHA-256 {digest} instead of {held}", f"Get the official one: {known[name].get}"
        raise FormatError(what, where=(folder / name,), hint=hint)
