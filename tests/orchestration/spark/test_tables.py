"""A table of cases is used where its manifest is whole and its own, and is written anew elsewhere."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from orchestration.benchmarks.benchmark import Case, Cases
from orchestration.project import open_workspace
from orchestration.workspace.storage import Storage
from orchestration.workspace.tables import ShardedTable, read_cases, short_key, table_once, write_cases


def table(root: Path, text: bytes, key: str = "key", **of: bool) -> tuple[Storage, ShardedTable]:
    """A storage, and its table of one case, which is written unless it is there."""
    storage = Storage(root.as_uri(), **of)

    def write(folder: str) -> ShardedTable:
        cases = Cases(1, iter([Case(3, "a.json", text)]))
        return write_cases(storage, cases, lambda of: 10, lambda done, of: None, folder)

    return storage, table_once(storage, ["cases"], key, write)


def sealed(**manifest: object) -> bytes:
    seal = short_key(manifest["folder"], manifest["shards"], manifest["sums"])
    return msgspec.json.encode(manifest | {"seal": seal})


@pytest.mark.parametrize(
    "manifest",
    [
        b'{"folder": "cases/key", "shards": [1',
        b'{"folder": "cases/key", "shards": [1], "sums": ["sha256:00"], "seal": "00"}',
        sealed(folder="elsewhere/key", shards=[1], sums=["sha256:00"]),
        sealed(folder="cases/other", shards=[1], sums=["sha256:00"]),
        sealed(folder="cases/..", shards=[1], sums=["sha256:00"]),
    ],
)
def test_a_manifest_that_is_damaged_or_another_tables_is_not_believed(
    manifest: bytes, tmp_path: Path
) -> None:
    table(tmp_path, b"first")
    (tmp_path / "cases/key/table.json").write_bytes(manifest)
    storage, written = table(tmp_path, b"second")
    assert written.folder == "cases/key"
    assert [case.record for case in read_cases(storage, written)] == [b"first"]


def test_projects_with_one_storage_leave_each_others_tables_alone(tmp_path: Path) -> None:
    opened = open_workspace(overrides=(f"storage={tmp_path.as_uri()}",))
    spaces = [replace(opened, root=tmp_path / name) for name in ("mine", "yours")]
    assert all(space.storage.shared for space in spaces)
    assert len({space.passing_tables("answers", "babi") for space in spaces}) == 2
    storage, mine = table(tmp_path, b"mine", "mine", shared=True)
    table(tmp_path, b"yours", "yours", shared=True)
    assert [case.record for case in read_cases(storage, mine)] == [b"mine"]
    table(tmp_path, b"third", "third")  # as in a storage of one's own, which keeps one table
    with pytest.raises(FileNotFoundError):
        next(read_cases(storage, mine))
