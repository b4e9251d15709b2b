"""Tables of cases and of event logs: Parquet shards in the storage.

A table is never pinned: it can be rebuilt from pinned files, and its bytes depend on the versions of
libraries. Sums identify the tables written here. Workers write a table one shard at a time; the driver writes
the cases of files on its own disk. A shard appears whole or not at all, so that a run after a killed run
continues with the next shard.
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
from orchestration.workspace.storage import BYTES, INT, TEXT, Storage, TableRow
from substrate.base.errors import ParameterError
from substrate.base.files import sha256
from substrate.base.inputs import NOT_JSON
from substrate.log.event_log import EventLog

CASES = pa.schema(
    {"number": INT, "scene": TEXT, "source": TEXT, "kind": TEXT, "record": BYTES, "questions": BYTES}
)
"""A row per case: its position, its scene as JSON, and its parts."""
LOGS = pa.schema(
    {"number": INT, "place": INT, "name": TEXT, "digest": TEXT}
    | {"deltas": INT, "source": TEXT, "patch": TEXT}
)
"""A row per log: the number of its case, its position among that case's logs, and its RDF Patch."""


class LogEntry(msgspec.Struct, frozen=True):
    """A line of an index of logs: a log's name in its benchmark, its digest, its length and its source."""

    name: str
    log: str
    deltas: int
    source: str


_entries = msgspec.json.Decoder(LogEntry)


class ShardedTable(msgspec.Struct, frozen=True):
    """The manifest of a complete table: its folder, and the rows and the hash of each shard."""

    folder: str
    shard_rows: list[int] = msgspec.field(name="shards")
    """The number of rows of each shard."""
    sums: list[str]
    """SHA-256 of each shard's file, as it was written here."""
    seal: str
    """A hash of the other fields, which reveals a damaged manifest."""
    shard_cases: list[int] = msgspec.field(default_factory=list, name="cases")
    """In a table of logs, the number of cases that each shard was computed from."""

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
    """Read the manifest of a table in a folder; ``None`` if it is missing, damaged, or of another one."""
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


def logged_cases(
    storage: Storage, cases: ShardedTable, logs: ShardedTable, cuts: Sequence[int], place: int
) -> Iterator[TableRow]:
    """Yield the cases of a task in order, each with its logs; both tables are read a row group at a time.

    The tables may be cut differently: a table of logs stays when the number of partitions changes.
    """
    wanted = range(cuts[place], cuts[place + 1])
    of_cases = groupby(_between(storage, logs.folder, logs.shard_cases, wanted), lambda row: row["number"])
    number, rows = next(of_cases, (None, iter(())))
    for case in _between(storage, cases.folder, cases.shard_rows, wanted):
        has_logs = number == case["number"]
        yield case | {"logs": list(rows) if has_logs else []}
        if has_logs:
            number, rows = next(of_cases, (None, iter(())))


def _between(storage: Storage, folder: str, counts: Iterable[int], wanted: range) -> Iterator[TableRow]:
    """Yield a table's rows for the wanted cases, given the number of cases of each shard."""
    begin = 0
    for shard, count in enumerate(counts):
        if begin < wanted.stop and wanted.start < begin + count:
            rows = storage.rows(folder, shard_name(shard))
            yield from (row for row in rows if row["number"] in wanted)
        begin += count


def read_index(path: Path) -> Iterator[LogEntry]:
    """Yield the entries of an index of logs, in the order of their table, one at a time in memory."""
    with path.open("rb") as file:
        yield from map(_entries.decode, file)


def index_key(path: Path) -> str:
    """Return the name of the manifest that belongs to an index of logs."""
    return f"{sha256(path).rpartition(':')[2][:16]}.json"


@dataclass(frozen=True)
class Logs:
    """A benchmark's event logs: the table, and the pinned index.

    Args:
        storage: the storage of the table.
        folders: the folders for tables of this benchmark's logs; the first is written.
        index: the index's file.
    """

    storage: Storage
    folders: tuple[str, ...]
    index: Path

    @property
    def table(self) -> ShardedTable | None:
        """Return the table that belongs to the index; ``None`` if it does not exist."""
        if not self.index.is_file():
            return None
        key = index_key(self.index)
        return next(filter(None, (table_in(self.storage, folder, key) for folder in self.folders)), None)

    def patch(self, name: str) -> str:
        """Read the RDF Patch of a log.

        Raises:
            ParameterError: the log or the table does not exist.
        """
        table, where = self.table, (self.index,)
        if table is None:
            hint = "`substrate reproduce` makes them"
            raise ParameterError(f"no log named {name}: the logs are not there", where=where, hint=hint)
        ends = list(accumulate(table.shard_rows))
        for place, entry in enumerate(read_index(self.index)):
            if entry.name == name:
                shard, of_name = shard_name(bisect(ends, place)), [("name", "==", name)]
                rows = self.storage.read(table.folder, shard, columns=["patch"], filters=of_name)
                if rows.num_rows:
                    return rows["patch"][0].as_py()
        hint = "The index names every log that is there"
        raise ParameterError(f"no log is named {name}", where=where, hint=hint)

    def read(self, name: str) -> EventLog:
        """Read a log by its name; raises errors as :meth:`patch`."""
        return EventLog.from_patch(self.patch(name))
