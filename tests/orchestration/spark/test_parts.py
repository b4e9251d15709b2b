"""Tasks write a table's files: each case is in one, a file that is there is kept, nothing is left over."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from orchestration.base.progress import task_figures
from orchestration.settings import Spark
from orchestration.spark.parts import LINES, Parts, read_once, write_parts
from orchestration.spark.workers import NUMBER
from orchestration.workspace.storage import Storage
from orchestration.workspace.tables import sealed_files
from substrate.base.errors import ParameterError, SubstrateError
from substrate.base.files import sha256

SCHEMA = pa.schema([(NUMBER, pa.int64()), ("text", pa.string())])
Work = Callable[[dict[str, Any]], list[dict[str, Any]]]


def numbers(place: int) -> Iterator[dict[str, Any]]:
    return ({NUMBER: number} for number in range(place * 20, place * 20 + 20))


def table(root: Path, work: Work, schema: pa.Schema = SCHEMA) -> Parts:
    """A table of two files with twenty cases each."""
    return Parts(Storage(root.as_uri()), "sample/a", 2, numbers, work, schema, "a/stage")


def with_text(row: dict[str, Any]) -> list[dict[str, Any]]:
    return [{NUMBER: row[NUMBER], "text": str(row[NUMBER]), "lines": [f"line {row[NUMBER]}"]}]


def test_the_receipts_of_tasks_are_the_manifest_of_their_files(tmp_path: Path) -> None:
    parts = table(tmp_path, with_text)
    with task_figures() as figures:
        manifest = write_parts(Spark(), parts)
    files = sorted((tmp_path / "sample/a").iterdir())
    assert [file.name for file in files] == ["00000.parquet", "00001.parquet"]
    assert manifest == sealed_files(parts.storage, "sample/a", 2)
    assert (manifest.shard_rows, manifest.sums) == ([20, 20], [sha256(file) for file in files])
    assert list(parts.storage.rows("sample/a", "00001.parquet"))[3] == {NUMBER: 23, "text": "23"}
    assert (figures["tasks"], figures["shards kept"], figures["hosts"]) == (2, 0, 1)
    assert figures["task seconds, all"] >= figures["task seconds, longest"] > 0


def test_a_file_that_is_there_is_kept_and_one_that_was_never_finished_is_not(tmp_path: Path) -> None:
    lines = table(tmp_path, with_text, LINES)
    write_parts(Spark(), lines)
    first, second = sorted((tmp_path / "sample/a").iterdir())
    before = first.stat().st_mtime_ns
    whole = second.read_bytes()
    second.rename(second.with_name(f"{second.name}.0.part"))
    with task_figures() as figures:
        write_parts(Spark(), lines)
    assert figures["shards kept"] == 1
    assert sorted((tmp_path / "sample/a").iterdir()) == [first, second]
    assert first.stat().st_mtime_ns == before
    assert second.read_bytes() == whole
    assert [*read_once(Spark(), lines, "lines")] == [[f"line {number}"] for number in range(40)]
    assert not (tmp_path / "sample").exists()


def missing(storage: Storage, place: int) -> Iterator[dict[str, Any]]:
    return storage.rows("sample", "cases", f"{place}.parquet")


def test_a_storage_that_workers_do_not_reach_is_named(tmp_path: Path) -> None:
    storage = Storage(tmp_path.as_uri())
    parts = Parts(storage, "sample/a", 1, partial(missing, storage), with_text, SCHEMA, "a/stage")
    with pytest.raises(SubstrateError, match=f"^a/stage: a worker cannot read the storage {storage.base} "):
        write_parts(Spark(), parts)


@pytest.mark.parametrize("uri", ["nowhere://bucket/work", "gcs://bucket/work"])
def test_a_storage_without_its_client_is_named(uri: str) -> None:
    with pytest.raises(
        ParameterError, match=f"^{uri}: no client of {uri.partition(':')[0]}: .*docs/deploy.md"
    ):
        Storage(uri).exists("a")
