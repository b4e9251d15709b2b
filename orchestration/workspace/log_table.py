"""The table of a logger's event logs, and its index.

The index is pinned and names every log with its digest. The table has the logs themselves; it is found by the
hash of the index, and built again if it is missing.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, groupby
from pathlib import Path

import msgspec
import pyarrow as pa

from orchestration.workspace.storage import INT, TEXT, Storage, TableRow
from orchestration.workspace.tables import ShardedTable, shard_name, table_in
from substrate.base.errors import ParameterError
from substrate.base.files import sha256
from substrate.log.event_log import EventLog

# A row per log: the number of its case, its position among that case's logs, and its RDF Patch.
LOGS = pa.schema(
    {"number": INT, "place": INT, "name": TEXT, "digest": TEXT}
    | {"deltas": INT, "source": TEXT, "patch": TEXT}
)


class LogEntry(msgspec.Struct, frozen=True):
    """A line of an index of logs: a log's name in its benchmark, its digest, its length and its source."""

    name: str
    log: str
    deltas: int
    source: str


_entries = msgspec.json.Decoder(LogEntry)


def read_index(path: Path) -> Iterator[LogEntry]:
    """Yield the entries of an index of logs, in the order of their table, one at a time in memory."""
    with path.open("rb") as file:
        yield from map(_entries.decode, file)


def index_key(path: Path) -> str:
    """Return the name of the manifest that belongs to an index of logs."""
    return f"{sha256(path).rpartition(':')[2][:16]}.json"


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


@dataclass(frozen=True)
class LogTable:
    """A logger's event logs: the table, and the pinned index.

    Attributes:
        storage: the storage of the table.
        folders: the folders for tables of these logs; the first is written.
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
