"""Tables of cases and of event logs: Parquet shards in the storage.

A table is never pinned: it can be made again from what is, and other versions of a library write other
bytes. What was written here is known by its sums. Workers write it, a shard at a time; the driver writes
the cases of files that lie on its own disk. A shard is there whole or not at all, so that a run that was
killed goes on with the next one.
"""

from __future__ import annotations

import hashlib
from bisect import bisect
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, groupby
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa

from orchestration.benchmarks.benchmark import Case, Cases
from orchestration.workspace.storage import ROWS_AT_ONCE, Storage, batched
from substrate.base.errors import ParameterError
from substrate.base.files import sha256
from substrate.base.inputs import NOT_JSON
from substrate.log.event_log import EventLog

CASES = pa.schema(
    [
        ("number", pa.int64()),
        ("scene", pa.string()),
        ("source", pa.string()),
        ("kind", pa.string()),
        ("record", pa.binary()),
        ("questions", pa.binary()),
    ]
)
"""A row a case: its place in the order, its scene as JSON, and its parts."""
LOGS = pa.schema(
    [
        ("number", pa.int64()),
        ("place", pa.int64()),
        ("name", pa.string()),
        ("digest", pa.string()),
        ("deltas", pa.int64()),
        ("source", pa.string()),
        ("patch", pa.string()),
    ]
)
"""A row a log: the number of its case, its place among that case's logs, and its RDF Patch."""


class LogEntry(msgspec.Struct, frozen=True):
    """A line of an index of logs: a log's name in its benchmark, its digest, its length and its source."""

    name: str
    log: str
    deltas: int
    source: str


_entries = msgspec.json.Decoder(LogEntry)


class Manifest(msgspec.Struct, frozen=True):
    """The record of a whole table: its folder, and the number of rows and the bytes of each of its shards."""

    folder: str
    shards: list[int]
    sums: list[str] = []
    """SHA-256 of each shard's file, as it was written here."""
    seal: str = ""
    """A hash of the rest, by which a damaged manifest is known."""
    cases: list[int] = []
    """The number of cases that each shard was computed from, in a table of logs."""

    @property
    def whole(self) -> bool:
        """Tell whether none of it is damaged; a table that was written without sums cannot tell."""
        return self == sealed(self.folder, self.shards, self.sums, self.cases)

    @property
    def rows(self) -> int:
        """The number of rows of the table."""
        return sum(self.shards)


def sealed(folder: str, shards: list[int], sums: list[str], cases: Sequence[int] = ()) -> Manifest:
    """The manifest of a table by its shards' numbers of rows and sums."""
    parts = [folder, shards, sums, *([cases] if cases else [])]
    return Manifest(folder, shards, sums, short_key(*parts) if sums else "", [*cases])


def short_key(*parts: Any) -> str:
    """A short hash of what a table is made from.

    >>> short_key({"a": 1}) == short_key({"a": 2})
    False
    """
    return hashlib.sha256(msgspec.json.encode(parts, order="sorted")).hexdigest()[:16]


def shard_name(number: int) -> str:
    """The file name of a shard."""
    return f"{number:05d}.parquet"


def manifest_of(storage: Storage, folder: str, count: int) -> Manifest:
    """The manifest of a table that was written as so many shards, read off their files."""
    names = [*map(shard_name, range(count))]
    rows = [storage.count(folder, name) for name in names]
    return sealed(folder, rows, [storage.sum(folder, name) for name in names])


def read_manifest(storage: Storage, folder: str, *parts: str) -> Manifest | None:
    """The manifest of a table; ``None`` where there is no whole one, or it leads out of its folder."""
    known = _manifest(storage.read_record(folder, *parts))
    inside, _, name = known.folder.rpartition("/") if known else ("", "", "")
    return known if inside == folder and name not in ("", ".", "..") else None


def _manifest(text: bytes | str) -> Manifest | None:
    """A manifest as it was written; ``None`` where it is damaged."""
    try:
        manifest = msgspec.json.decode(text, type=Manifest)
    except NOT_JSON:
        return None
    return manifest if manifest.whole else None


def table_sums(storage: Path, profile: str) -> dict[str, str]:
    """SHA-256 of each file of a profile's tables, as it was written, by its path in the storage's folder."""
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
    storage: Storage, folders: Sequence[str], key: str, write: Callable[[str], Manifest]
) -> Manifest:
    """A table, written where it is not there yet.

    Args:
        folders: where tables of its kind lie; in the first one it is written.
        key: what the table is made from: the same key, the same table.
        write: writes the shards into a folder of the storage; called only where they have to be written.
    """
    for folder in folders:
        known = read_manifest(storage, folder, key, "table.json")
        if known and known.sums and known.folder == f"{folder}/{key}":
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
) -> Manifest:
    """The shards of some cases, of which those that are there are kept.

    Args:
        cut: how many cases a shard has, by how many there are.
        advance: told how many cases are written, and how many there are.
    """
    shard, shards = cut(cases.total), 0
    for number, of_shard in groupby(enumerate(cases.each), lambda numbered: numbered[0] // shard):
        name, shards = shard_name(number), number + 1
        if not storage.exists(folder, name):
            storage.write_tables(case_tables(of_shard), CASES, folder, name)
        advance(min(shards * shard, cases.total), cases.total)
    return manifest_of(storage, folder, shards)


def case_tables(numbered: Iterable[tuple[int, Case]]) -> Iterator[pa.Table]:
    """Some cases, each with its place in the order, as tables of a row group."""
    for batch in batched(numbered, ROWS_AT_ONCE):
        rows = [
            {
                "number": number,
                "scene": msgspec.json.encode(case.scene).decode(),
                "source": case.source,
                "kind": case.kind,
                "record": case.record,
                "questions": case.questions,
            }
            for number, case in batch
        ]
        yield pa.Table.from_pylist(rows, schema=CASES)


def case_of(row: dict[str, Any]) -> Case:
    """A case from its row."""
    scene = msgspec.json.decode(row["scene"])
    return Case(scene, row["source"], row["record"], row["questions"], row["kind"])


def read_cases(storage: Storage, manifest: Manifest) -> Iterator[Case]:
    """The cases of a table in order."""
    for number in range(len(manifest.shards)):
        yield from map(case_of, storage.rows(manifest.folder, shard_name(number)))


def logged_cases(
    storage: Storage, cases: Manifest, logs: Manifest, cuts: Sequence[int], place: int
) -> Iterator[dict[str, Any]]:
    """The cases of a task in order, each with its logs; both tables are read a row group at a time.

    The two may be cut differently: a table of logs stays when the number of partitions changes.
    """
    bounds = cuts[place], cuts[place + 1]
    of_cases = groupby(_between(storage, logs.folder, logs.cases, *bounds), lambda row: row["number"])
    number, rows = next(of_cases, (None, iter(())))
    for case in _between(storage, cases.folder, cases.shards, *bounds):
        if number == case["number"]:
            yield case | {"logs": list(rows)}
            number, rows = next(of_cases, (None, iter(())))
        else:
            yield case | {"logs": []}


def _between(
    storage: Storage, folder: str, counts: Iterable[int], first: int, end: int
) -> Iterator[dict[str, Any]]:
    """The rows of a table that are of some cases, given how many cases each shard is of."""
    begin = 0
    for shard, count in enumerate(counts):
        if begin < end and first < begin + count:
            rows = storage.rows(folder, shard_name(shard))
            yield from (row for row in rows if first <= row["number"] < end)
        begin += count


def read_index(path: Path) -> Iterator[LogEntry]:
    """The entries of an index of logs, in the order of their table, one at a time in memory."""
    with path.open("rb") as file:
        yield from map(_entries.decode, file)


def index_key(path: Path) -> str:
    """The name under which the table of an index's logs is found."""
    return f"{sha256(path).rpartition(':')[2][:16]}.json"


@dataclass(frozen=True)
class Logs:
    """A benchmark's event logs: the table, and the index that is pinned.

    Args:
        storage: where the table lies.
        folders: where the tables of this benchmark's logs lie; in the first one they are written.
        index: the index's file.
    """

    storage: Storage
    folders: tuple[str, ...]
    index: Path

    @property
    def manifest(self) -> Manifest | None:
        """The table of the index; ``None`` where it is not there."""
        if not self.index.is_file():
            return None
        key = index_key(self.index)
        manifests = (read_manifest(self.storage, folder, key) for folder in self.folders)
        return next((manifest for manifest in manifests if manifest), None)

    def patch(self, name: str) -> str:
        """The RDF Patch of a log.

        Raises:
            ParameterError: there is no such log, or the table is not there.
        """
        manifest = self.manifest
        if manifest is None:
            raise ParameterError(
                f"no log named {name}: the logs are not there",
                where=(self.index,),
                hint="`substrate reproduce` makes them",
            )
        ends = list(accumulate(manifest.shards))
        for place, entry in enumerate(read_index(self.index)):
            if entry.name == name:
                rows = self.storage.read(
                    manifest.folder,
                    shard_name(bisect(ends, place)),
                    columns=["patch"],
                    filters=[("name", "==", name)],
                )
                if rows.num_rows:
                    return rows["patch"][0].as_py()
        raise ParameterError(
            f"no log is named {name}", where=(self.index,), hint="The index names every log that is there"
        )

    def read(self, name: str) -> EventLog:
        """A log by its name; errors as :meth:`patch`."""
        return EventLog.from_patch(self.patch(name))
