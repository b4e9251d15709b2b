"""Tables of cases and of event logs: Parquet shards under one storage that the driver and the workers reach.

A table is never pinned: it can be rebuilt from pinned files, and other versions of a library write other
bytes. Sums identify the tables written here. Workers write a table one shard at a time; the driver writes the
cases of files on its own disk. A shard appears whole or not at all, so that a run after a killed run
continues with the next shard.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
import uuid
from bisect import bisect
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from itertools import accumulate, groupby, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from urllib.request import url2pathname

import msgspec
import pyarrow as pa
import pyarrow.fs as arrow_fs
import pyarrow.parquet as pq

from orchestration.benchmarks.benchmark import Case, Cases
from substrate.base.errors import ParameterError
from substrate.base.files import naming, sha256
from substrate.base.inputs import NOT_JSON
from substrate.log.event_log import EventLog

if TYPE_CHECKING:
    from fsspec import AbstractFileSystem

_OBJECTS = {"s3": "s3", "s3a": "s3", "gs": "gs", "abfs": "abfs", "abfss": "abfss"}
"""The schemes of object storages, each with pyarrow's name of it."""
_ATTEMPTS = 8
"""The number of times that a busy object storage is asked, with growing waits between."""
ROWS_AT_ONCE = 16
"""The number of rows of a row group: what a worker reads at a time."""
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
"""A row per case: its position, its scene as JSON, and its parts."""
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
"""A row per log: the number of its case, its position among that case's logs, and its RDF Patch."""


class LogEntry(msgspec.Struct, frozen=True):
    """A line of an index of logs: a log's name in its benchmark, its digest, its length and its source."""

    name: str
    log: str
    deltas: int
    source: str


_entries = msgspec.json.Decoder(LogEntry)


class Manifest(msgspec.Struct, frozen=True):
    """The record of a complete table: its folder, and the rows and bytes of each shard."""

    folder: str
    shards: list[int]
    sums: list[str] = []
    """SHA-256 of each shard's file, as it was written here."""
    seal: str = ""
    """A hash of the other fields, which reveals a damaged manifest."""
    cases: list[int] = []
    """In a table of logs, the number of cases that each shard was computed from."""

    @property
    def whole(self) -> bool:
        """Tell whether the manifest is undamaged; one without sums cannot tell."""
        return self == sealed(self.folder, self.shards, self.sums, self.cases)

    @property
    def rows(self) -> int:
        """The number of rows of the table."""
        return sum(self.shards)


def sealed(folder: str, shards: list[int], sums: list[str], cases: Sequence[int] = ()) -> Manifest:
    """Make the manifest of a table from its shards' row counts and sums."""
    parts = [folder, shards, sums, *([cases] if cases else [])]
    return Manifest(folder, shards, sums, short_key(*parts) if sums else "", [*cases])


@dataclass(frozen=True)
class Storage:
    """A folder, by a URI that driver and workers reach; on this machine's disk unless another is given."""

    base: str

    def uri(self, *parts: str) -> str:
        """The URI of a file or folder of the storage, as Spark takes it: nothing in it is escaped."""
        base = self.base if self.local is None else f"file://{self.local}"
        return "/".join([base.rstrip("/"), *parts])

    @property
    def local(self) -> Path | None:
        """Its folder, where it is on this machine's disk."""
        parts = urlsplit(self.base)
        return Path(url2pathname(parts.path)) if parts.scheme == "file" else None

    @property
    def of_objects(self) -> bool:
        """Tell whether it is an object storage; tasks read one by pyarrow, as Spark would need more jars."""
        return urlsplit(self.base).scheme in _OBJECTS

    def _place(self, *parts: str) -> tuple[AbstractFileSystem, str]:
        uri = self.uri(*parts)
        if self.of_objects:
            return _object_storage(self.base), uri.partition("://")[2]
        from fsspec.core import url_to_fs

        try:
            # What fsspec and Hadoop take for a URI of a file is a path, in which nothing is escaped.
            system, path = url_to_fs(uri if self.local is None else str(self.local.joinpath(*parts)))
        except (ImportError, ValueError, OSError) as error:
            hint = (
                "Install the package that it names, or give another URI; docs/deploy.md has what each needs"
            )
            scheme, (reason, *_) = urlsplit(self.base).scheme, str(error).splitlines()
            raise ParameterError(f"no client of {scheme}: {reason}", where=(self.base,), hint=hint) from error
        return system, path

    @contextmanager
    def _replacing(self, *parts: str) -> Iterator[tuple[AbstractFileSystem, str]]:
        """A fresh path to write a file to; it takes the file's place when the block ends well.

        Two processes may make the same file at once: whoever is last puts the same bytes there again.
        """
        system, path = self._place(*parts)
        with naming(Path(path)):
            if not self.of_objects:  # where a folder is the beginning of a name
                with suppress(FileNotFoundError):  # somebody else removed an empty one on the way
                    system.makedirs(path.rpartition("/")[0], exist_ok=True)
                system.makedirs(path.rpartition("/")[0], exist_ok=True)
            part = f"{path}.{uuid.uuid4()}.part"
            try:
                yield system, part
                system.mv(part, path)
            except BaseException:
                if system.exists(part):
                    system.rm(part)
                raise

    def write(self, table: pa.Table, *parts: str) -> None:
        """Write a table as one Parquet file, whole or not at all; errors as :meth:`write_tables`."""
        self.write_tables([table], table.schema, *parts)

    def write_tables(
        self, tables: Iterable[pa.Table], schema: pa.Schema, *parts: str, rows: int = ROWS_AT_ONCE
    ) -> None:
        """Write tables of one schema, one after the other, as one Parquet file, whole or not at all.

        Args:
            tables: what is written.
            schema: that of each.
            parts: the file's path in the storage.
            rows: how many of them a row group has.

        Raises:
            OutputError: the disk is full, or the system refuses to write there; so with all that is written.
        """
        with (
            self._replacing(*parts) as (system, part),
            system.open(part, "wb") as file,
            pq.ParquetWriter(file, schema, compression="zstd") as writer,
        ):
            for table in tables:
                writer.write_table(table, row_group_size=rows)

    def read(self, *parts: str, columns: Sequence[str] | None = None, filters: Any = None) -> pa.Table:
        """A Parquet file, or those of its columns and rows that are asked for."""
        system, path = self._place(*parts)
        return pq.read_table(path, columns=columns, filters=filters, filesystem=system)

    def batches(self, *parts: str, columns: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
        """The rows of a Parquet file in order, a row group at a time in memory."""
        system, path = self._place(*parts)
        with system.open(path, "rb") as file:
            yield from pq.ParquetFile(file).iter_batches(ROWS_AT_ONCE, columns=columns)

    def rows(self, *parts: str, columns: Sequence[str] | None = None) -> Iterator[dict[str, Any]]:
        """The rows of :meth:`batches`, one by one."""
        for batch in self.batches(*parts, columns=columns):
            yield from batch.to_pylist()

    def write_lines(self, lines: Iterable[str], *parts: str) -> None:
        """Write lines of text as a file, whole or not at all; errors as :meth:`write_tables`."""
        with self._replacing(*parts) as (system, part), system.open(part, "wb") as file:
            for line in lines:
                file.write(line.encode() + b"\n")  # pyright: ignore[reportArgumentType]

    def lines(self, *parts: str) -> Iterator[bytes]:
        """The lines of a file of text."""
        system, path = self._place(*parts)
        with system.open(path, "rb") as file, tempfile.TemporaryFile() as copied:
            # An object storage answers reads of large parts; a read of a line would be a request of its own.
            shutil.copyfileobj(file, copied, 1 << 20)  # pyright: ignore[reportArgumentType]
            copied.seek(0)
            yield from copied

    def sum(self, *parts: str) -> str:
        """SHA-256 of a file."""
        system, path = self._place(*parts)
        digest = hashlib.sha256()
        with system.open(path, "rb") as file:
            while block := file.read(1 << 20):
                digest.update(block)  # pyright: ignore[reportArgumentType]
        return f"sha256:{digest.hexdigest()}"

    def count(self, *parts: str) -> int:
        """The number of rows of a Parquet file."""
        system, path = self._place(*parts)
        with system.open(path, "rb") as file:
            return pq.read_metadata(file).num_rows

    def write_record(self, record: Any, *parts: str) -> None:
        """Write a record as JSON, whole or not at all."""
        with self._replacing(*parts) as (system, part):
            system.pipe_file(part, msgspec.json.encode(record))

    def manifest_of(self, folder: str, count: int) -> Manifest:
        """The manifest of a table that was written as so many shards, read off their files."""
        names = [shard_name(number) for number in range(count)]
        rows = [self.count(folder, name) for name in names]
        return sealed(folder, rows, [self.sum(folder, name) for name in names])

    def read_manifest(self, *parts: str) -> Manifest | None:
        """The manifest of a table; ``None`` where there is no whole one, or it leads out of its folder."""
        system, path = self._place(*parts)
        manifest = _manifest(system.cat_file(path)) if system.exists(path) else None
        inside, _, name = manifest.folder.rpartition("/") if manifest else ("", "", "")
        return manifest if inside == parts[0] and name not in ("", ".", "..") else None

    def exists(self, *parts: str) -> bool:
        """Tell whether a file is there."""
        system, path = self._place(*parts)
        return bool(system.exists(path))

    def remove(self, folder: str) -> None:
        """Remove a folder with all that is in it, if it is there, and those around it that are empty then."""
        system, path = self._place(folder)
        if system.exists(path):
            system.rm(path, recursive=True)
        if here := self.local:
            with suppress(OSError):  # the first that is not empty
                for around in islice((here / folder).parents, len(Path(folder).parts) - 1):
                    around.rmdir()

    def keep_only(self, folder: str, names: Iterable[str]) -> None:
        """Remove all of a folder but some of what is directly in it; the folder too where that is nothing."""
        names = set(names)
        if not names:
            self.remove(folder)
            return
        system, path = self._place(folder)
        for child in system.ls(path, detail=False) if system.exists(path) else ():
            if child.rstrip("/").rpartition("/")[2] not in names:
                system.rm(child, recursive=True)


@cache
def _object_storage(base: str) -> AbstractFileSystem:
    """The client of an object storage; credentials, region and ``AWS_ENDPOINT_URL`` are the environment's.

    Raises:
        ParameterError: pyarrow was built without it.
    """
    from fsspec.implementations.arrow import ArrowFSWrapper

    # Hadoop's name of S3's client is not the one that pyarrow has.
    scheme = urlsplit(base).scheme
    try:
        if _OBJECTS[scheme] == "s3":
            # Named by hand, since a URI's region is asked for over the network.
            endpoint = os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL")
            region = os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION")
            again = arrow_fs.AwsDefaultS3RetryStrategy(max_attempts=_ATTEMPTS)
            client = arrow_fs.S3FileSystem(endpoint_override=endpoint, region=region, retry_strategy=again)
            return ArrowFSWrapper(client)
        client, _ = arrow_fs.FileSystem.from_uri(base.replace(scheme, _OBJECTS[scheme], 1))
    except (ImportError, NotImplementedError) as error:
        hint = "The extra `platform` brings pyarrow from PyPI; another build may lack it. Use s3, or that one"
        raise ParameterError(f"pyarrow has no {scheme}", where=(base,), hint=hint) from error
    return ArrowFSWrapper(client)


def short_key(*parts: Any) -> str:
    """A short hash of what a table is made from.

    >>> short_key({"a": 1}) == short_key({"a": 2})
    False
    """
    return hashlib.sha256(msgspec.json.encode(parts, order="sorted")).hexdigest()[:16]


def shard_name(number: int, ending: str = "parquet") -> str:
    """The file name of a shard."""
    return f"{number:05d}.{ending}"


def _manifest(text: bytes | str) -> Manifest | None:
    """Decode a manifest; ``None`` if it is damaged."""
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


def batched(items: Iterable[Any], size: int) -> Iterator[list[Any]]:
    """The items in lists of a size, the last one shorter.

    >>> list(batched("abcde", 2))
    [['a', 'b'], ['c', 'd'], ['e']]
    """
    rest = iter(items)
    while batch := list(islice(rest, size)):
        yield batch


def table_once(
    storage: Storage, folders: Sequence[str], key: str, write: Callable[[str], Manifest]
) -> Manifest:
    """Return a table, and write it first if it does not exist.

    Args:
        folders: the folders for such tables; the first is written.
        key: a hash of the table's inputs: the same key means the same table.
        write: writes the shards into a folder of the storage; called only if they are missing.
    """
    for folder in folders:
        known = storage.read_manifest(folder, key, "table.json")
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
    """Write the missing shards of some cases.

    Args:
        cut: from the number of cases to the number per shard.
        advance: called with the number of written cases and the number of all cases.
    """
    shard, shards = cut(cases.total), 0
    for number, of_shard in groupby(enumerate(cases.each), lambda numbered: numbered[0] // shard):
        name, shards = shard_name(number), number + 1
        if not storage.exists(folder, name):
            storage.write_tables(case_tables(of_shard), CASES, folder, name)
        advance(min(shards * shard, cases.total), cases.total)
    return storage.manifest_of(folder, shards)


def case_tables(numbered: Iterable[tuple[int, Case]]) -> Iterator[pa.Table]:
    """Some cases, each with its position in the order, as tables of a row group."""
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
    """Make a case from its row."""
    scene = msgspec.json.decode(row["scene"])
    return Case(scene, row["source"], row["record"], row["questions"], row["kind"])


def read_cases(storage: Storage, manifest: Manifest) -> Iterator[Case]:
    """The cases of a table in order."""
    for number in range(len(manifest.shards)):
        yield from map(case_of, storage.rows(manifest.folder, shard_name(number)))


def read_index(path: Path) -> Iterator[LogEntry]:
    """The entries of an index of logs, in the order of their table, one at a time in memory."""
    with path.open("rb") as file:
        yield from map(_entries.decode, file)


def index_key(path: Path) -> str:
    """The name of the folder for the table of an index's logs."""
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
    def manifest(self) -> Manifest | None:
        """The table that belongs to the index; ``None`` if it does not exist."""
        if not self.index.is_file():
            return None
        key = index_key(self.index)
        manifests = (self.storage.read_manifest(folder, key) for folder in self.folders)
        return next((manifest for manifest in manifests if manifest), None)

    def patch(self, name: str) -> str:
        """Read the RDF Patch of a log.

        Raises:
            ParameterError: the log or the table does not exist.
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
        """Read a log by its name; raises errors as :meth:`patch`."""
        return EventLog.from_patch(self.patch(name))
