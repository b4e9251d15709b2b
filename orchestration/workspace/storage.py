"""The storage of tables: a folder by a URI that the driver and the workers reach.

A file is there whole or not at all.
"""

from __future__ import annotations

import hashlib
import os
import uuid
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from urllib.request import url2pathname

import msgspec
import pyarrow as pa
import pyarrow.fs as arrow_fs
import pyarrow.parquet as pq

from substrate.base.errors import ParameterError
from substrate.base.files import naming

if TYPE_CHECKING:
    from fsspec import AbstractFileSystem

_OBJECTS = {"s3": "s3", "s3a": "s3", "gs": "gs", "abfs": "abfs", "abfss": "abfss"}
"""The schemes of object storages, each with pyarrow's name of it."""
_ATTEMPTS = 8
"""The number of times that a busy object storage is asked, with growing waits between."""
ROWS_AT_ONCE = 16
"""The number of rows of a row group: what a worker reads at a time."""


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

    def read_record(self, *parts: str) -> str | bytes:
        """A record as it was written; empty where there is none."""
        system, path = self._place(*parts)
        return system.cat_file(path) if system.exists(path) else b""

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


def batched(items: Iterable[Any], size: int) -> Iterator[list[Any]]:
    """The items in lists of a size, the last one shorter.

    >>> list(batched("abcde", 2))
    [['a', 'b'], ['c', 'd'], ['e']]
    """
    rest = iter(items)
    while batch := list(islice(rest, size)):
        yield batch
