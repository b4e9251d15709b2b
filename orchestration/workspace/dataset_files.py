"""The files behind a dataset: their names, their hashes, who vouches for them, and their split."""

from __future__ import annotations

from pathlib import Path

import msgspec

from orchestration.benchmarks.benchmark import Data, Source
from orchestration.scoring.published import Kind
from orchestration.workspace.folders import Workspace

# The file, in a dataset copied from a user's files, that lists these files.
NAMED = "named.json"
# The file, in a dataset made of official files, that lists these files.
OFFICIAL = "official.json"


class NamedFile(msgspec.Struct, frozen=True):
    """A file or folder that a user named: its name, and its SHA-256 at the time of the copy."""

    name: str
    sha256: str


class OfficialFile(NamedFile, frozen=True):
    """An official file with its published git blob hash, too; without that hash it was trusted."""

    blob: str | None


def read_named(folder: Path) -> dict[str, NamedFile]:
    """The user's files behind a dataset, by role; none if it was made of other data."""
    path = folder / NAMED
    return msgspec.json.decode(path.read_bytes(), type=dict[str, NamedFile]) if path.is_file() else {}


def trusted_on_first_use(folder: Path) -> list[OfficialFile]:
    """The official files of a dataset for which no published hash vouches."""
    path = folder / OFFICIAL
    listed = msgspec.json.decode(path.read_bytes(), type=list[OfficialFile]) if path.is_file() else []
    return [file for file in listed if file.blob is None]


def files_of(workspace: Workspace, source: Source) -> dict[str, Path]:
    """The files of a source in a profile, by role; none if the profile has no data of it."""
    return source.files(workspace.data / source.name)


def kind_of(workspace: Workspace, source: Source) -> Kind:
    """The kind of a source's data in a profile; ``none`` if nothing is measured on them."""
    data: Data = workspace.settings.data(source.name)
    if read_named(workspace.data / source.name):
        return "official" if data.source == "real" else "local"
    return "none" if data.source in ("local", "real") else data.source


def split_of(workspace: Workspace, source: Source) -> str:
    """The split that rows about a source's cases name; a user's `validation.json.gz` counts as validation.

    The count of its questions shows whether it is complete.
    """
    named = read_named(workspace.data / source.name)
    if not named:
        return source.split(workspace.settings.data(source.name))
    asking = [named[role] for role in ("questions", "further") if role in named] or [*named.values()][:1]
    return " and ".join(file.name.partition(".")[0] for file in asking)
