"""Sharded tables in the storage, and the table of a source's cases; :mod:`.log_table` has that of its logs.

A table is never pinned: it can be rebuilt from pinned files, and its bytes depend on the versions of
libraries. Sums identify the tables written here. Workers write a table one shard at a time; the driver writes
the cases of files on its own disk. A shard appears whole or not at all, so that a run after a killed run
continues with the next shard.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa

from orchestration.benchmarks.benchmark import Case, Cases
from orchestration.workspace.storage import BYTES, INT, TEXT, Storage, TableRow
from substrate.base.inputs import NOT_JSON

# A row per case: its position, its scene as JSON, and its parts.
CASES = pa.schema(
    {"number": INT, "scene": TEXT, "source": TEXT, "kind": TEXT, "record": BYTES, "questions": BYTES}
)


class ShardedTable(msgspec.Struct, frozen=True):
    """The manifest of a complete table.

    Attributes:
        folder: the table's folder.
        shard_rows: the number of rows of each shard.
        sums: SHA-256 of each shard's file, as it was written here.
        seal: a hash of the other fields, which reveals a damaged manifest.
        shard_cases: in a table of logs, the number of cases that each shard was computed from.
    """

    folder: str
    shard_rows: list[int] = msgspec.field(name="shards")
    sums: list[str]
    seal: str
    shard_cases: list[int] = msgspec.field(default_factory=list, name="cases")

    @property
    def rows(self) -> int:
        """The number of rows of the table."""
        return sum(self.shard_rows)


def sealed(
    folder: str, shard_rows: list[int], sums: list[str], shard_cases: Sequence[int] = ()
) -> ShardedTable:
    """Make the manifest of a table; arguments as its fields."""
    seal = short_key(folder, shard_rows, sums, *([shard_cases] if shard_cases else []))
    return ShardedTable(folder, shard_rows, sums, seal, [*shard_cases])


def short_key(*parts: Any) -> str:
    """Return a short hash of a table's inputs.

    >>> short_key({"a": 1}) == short_key({"a": 2})
    False
    """
    return hashlib.sha256(msgspec.json.encode(parts, order="sorted")).hexdigest()[:16]


def shard_name(number: int) -> str:
    """Return the file name of a shard."""
    return f"{number:05d}.parquet"


def sealed_files(storage: Storage, folder: str, count: int) -> ShardedTable:
    """Make the manifest of a table of ``count`` shards from their files."""
    names = [*map(shard_name, range(count))]
    rows = [storage.count(folder, name) for name in names]
    return sealed(folder, rows, [storage.sum(folder, name) for name in names])


def table_in(storage: Storage, folder: str, *parts: str) -> ShardedTable | None:
    """Read a table's manifest in a folder; ``None`` if it is missing or damaged, or names another folder."""
    known = _manifest(storage.read_record(folder, *parts))
    inside, _, name = known.folder.rpartition("/") if known else ("", "", "")
    return known if inside == folder and name not in ("", ".", "..") else None


def _manifest(text: bytes | str) -> ShardedTable | None:
    """Decode a manifest; ``None`` if it is damaged."""
    try:
        read = msgspec.json.decode(text, type=ShardedTable)
    except NOT_JSON:
        return None
    return read if read == sealed(read.folder, read.shard_rows, read.sums, read.shard_cases) else None


def table_sums(storage: Path, profile: str) -> dict[str, str]:
    """Return the SHA-256 of each file of a profile's tables, as written, by its path in the storage."""
    sums: dict[str, str] = {}
    folder = storage / profile
    for path in sorted([*folder.glob("cases/*/*/table.json"), *folder.glob("logs/*/*.json")]):
        try:
            data = path.read_bytes()
        except FileNotFoundError:  # another stage is replacing the table
            continue
        manifest = _manifest(data)
        whole = f"sha256:{hashlib.sha256(data).hexdigest()}"
        sums[path.relative_to(storage).as_posix()] = whole if manifest else "a table's manifest"
        if manifest:
            sums |= {f"{manifest.folder}/{shard_name(n)}": digest for n, digest in enumerate(manifest.sums)}
    return sums


def table_once(
    storage: Storage, folders: Sequence[str], key: str, write: Callable[[str], ShardedTable]
) -> ShardedTable:
    """Return a table, and write it first if it does not exist.

    Args:
        folders: the folders for such tables; the first is written.
        key: a hash of the table's inputs: the same key means the same table.
        write: writes the shards into a folder of the storage; called only if they are missing.
    """
    for folder in folders:
        known = table_in(storage, folder, key, "table.json")
        if known and known.folder == f"{folder}/{key}":
            return known
    folder = folders[0]
    manifest = write(f"{folder}/{key}")
    storage.write_record(manifest, folder, key, "table.json")
    storage.keep_only(folder, [key])
    return manifest


def write_cases(
    storage: Storage,
    cases: Cases,
    cut: Callable[[int], int],
    advance: Callable[[int, int], None],
    folder: str,
) -> ShardedTable:
    """Write the missing shards of some cases.

    Args:
        cut: from the number of cases to the number per shard.
        advance: called with the number of written cases and the number of all cases.
    """
    shard, shards = cut(cases.total), 0
    for number, of_shard in groupby(enumerate(cases.each), lambda numbered: numbered[0] // shard):
        name, shards = shard_name(number), number + 1
        if not storage.exists(folder, name):
            storage.write_rows(map(_row_of, of_shard), CASES, folder, name)
        advance(min(shards * shard, cases.total), cases.total)
    return sealed_files(storage, folder, shards)


def _row_of(numbered: tuple[int, Case]) -> TableRow:
    """Make the row of a case from its position in the order and the case."""
    number, case = numbered
    return case._asdict() | {"number": number, "scene": msgspec.json.encode(case.scene).decode()}


def case_of(row: TableRow) -> Case:
    """Make a case from its row."""
    scene = msgspec.json.decode(row["scene"])
    return Case(scene, row["source"], row["record"], row["questions"], row["kind"])


def read_cases(storage: Storage, table: ShardedTable) -> Iterator[Case]:
    """Yield the cases of a table in order."""
    for number in range(len(table.shard_rows)):
        yield from map(case_of, storage.rows(table.folder, shard_name(number)))
