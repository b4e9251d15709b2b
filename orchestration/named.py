"""The files that a dataset was made of, official ones or a user's own: their names, their hashes, what
vouches for them, and the split that they are of.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from orchestration.benchmarks.benchmark import Benchmark
from orchestration.scoring.published import Kind
from orchestration.workspace import Workspace

NAMED = "named.json"
"""Lies in a dataset that was copied from files that a user named, and says which these were."""


OFFICIAL = "official.json"
"""Lies in a dataset that was made of official files, and says which these were."""


class OfficialFile(msgspec.Struct, frozen=True):
    """An official file: its name, its SHA-256, and the published git blob hash that it was checked against.

    ``blob`` is ``None`` where none was published: the first download was trusted.
    """

    name: str
    sha256: str
    blob: str | None


class NamedFile(msgspec.Struct, frozen=True):
    """A file or folder that a user named: its own name, and its SHA-256 when it was copied."""

    name: str
    sha256: str


def read_named(folder: Path) -> dict[str, NamedFile]:
    """The named files of a dataset by what they are; none where it was not made of any."""
    path = folder / NAMED
    if not path.is_file():
        return {}
    return msgspec.json.decode(path.read_bytes(), type=dict[str, NamedFile])


def trusted_on_first_use(folder: Path) -> list[OfficialFile]:
    """The official files of a dataset for which no published hash vouches."""
    path = folder / OFFICIAL
    if not path.is_file():
        return []
    files = msgspec.json.decode(path.read_bytes(), type=list[OfficialFile])
    return [file for file in files if file.blob is None]


def kind_of(workspace: Workspace, benchmark: Benchmark) -> Kind:
    """What a benchmark is measured on in a profile; ``none`` where it is not measured."""
    if read_named(workspace.data / benchmark.data_of):
        return "local"
    source: Kind = workspace.settings.data(benchmark.data_of).source
    return "none" if source == "local" else source


def split_of(workspace: Workspace, benchmark: Benchmark) -> str:
    """The split that a benchmark's rows name: of a user's files, what the file that asks is called.

    A file called `validation.json.gz` is taken for the validation split; whether it is all of it shows in the
    count of its questions.
    """
    named = read_named(workspace.data / benchmark.data_of)
    if not named:
        return benchmark.split(workspace.settings.data(benchmark.data_of))
    asking = named.get("questions") or next(iter(named.values()))
    return asking.name.partition(".")[0]
