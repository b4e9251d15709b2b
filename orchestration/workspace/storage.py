"""The storage of tables: a folder at a URI that the driver and the workers reach.

A file appears whole or not at all.
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
"""The URI schemes of object storages, each with the scheme by which pyarrow knows it."""
_ATTEMPTS = 8
"""The number of attempts at a busy object storage, with growing waits between them."""
INT, TEXT, BYTES = pa.int64(), pa.string(), pa.binary()
"""The types of columns."""
TableRow = dict[str, Any]
"""A row of a table, by column."""
ROWS_AT_ONCE = 16
"""The number of rows of a row group, which a worker reads at a time."""


@dataclass(frozen=True)
class Storage:
    """A folder at a URI that driver and workers reach; by default on this machine's disk."""

    base: str

    def uri(self, *parts: str) -> str:
        """Return the URI of a file or folder of the storage, unescaped as Spark expects it."""
        base = self.base if self.local is None else f"file://{self.local}"
        return "/".join([base.rstrip("/"), *parts])

    @property
    def local(self) -> Path | None:
        """The storage's folder, if it is on this machine's disk."""
        parts = urlsplit(self.base)
        return Path(url2pathname(parts.path)) if parts.scheme == "file" else None

    @property
    def of_objects(self) -> bool:
        """Tell whether it is an object storage; tasks read it by pyarrow, as Spark would need more jars."""
        return urlsplit(self.base).scheme in _OBJECTS

    def _place(self, *parts: str) -> tuple[AbstractFileSystem, str]:
        uri = self.uri(*parts)
        if self.of_objects:
            return _object_storage(self.base), uri.partition("://")[2]
        from fsspec.core import url_to_fs

        try:
            # fsspec and Hadoop read a file URI as a plain path, without escapes.
            system, path = url_to_fs(uri if self.local is None else str(self.local.joinpath(*parts)))
        except (ImportError, ValueError, OSError) as error:
            hint = "Install the package that it names, or give another URI; docs/deploy.md lists them"
            scheme, (reason, *_) = urlsplit(self.base).scheme, str(error).splitlines()
            raise ParameterError(f"no client of {scheme}: {reason}", where=(self.base,), hint=hint) from error
        return system, path

    @contextmanager
    def _replacing(self, *parts: str) -> Iterator[tuple[AbstractFileSystem, str]]:
        """Yield a fresh path to write to; the result replaces the file when the block succeeds.

        Two processes may make the same file at once: the later one writes the same bytes again.
        """
        system, path = self._place(*parts)
        with naming(Path(path)):
            if not self.of_objects:  # an object storage's folders are only prefixes of names
                with suppress(FileNotFoundError):  # another process removed an empty parent folder
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

    def write_rows(self, rows: Iterable[TableRow], schema: pa.Schema, *parts: str) -> None:
        """Write rows as one Parquet file, whole or not at all; only one row group of them is in memory.

        Args:
            rows: the rows to write.
            schema: the schema of the rows.
            parts: the file's path in the storage.

        Raises:
            OutputError: the disk is full, or the folder is not writable; every writing method raises it.
        """
        with (
            self._replacing(*parts) as (system, part),
            system.open(part, "wb") as file,
            pq.ParquetWriter(file, schema, compression="zstd") as writer,
        ):
            for batch in batched(rows, ROWS_AT_ONCE):
                writer.write_table(pa.Table.from_pylist(batch, schema))

    def read(self, *parts: str, columns: Sequence[str] | None = None, filters: Any = None) -> pa.Table:
        """Read a Parquet file, or only the requested columns and rows."""
        system, path = self._place(*parts)
        return pq.read_table(path, columns=columns, filters=filters, filesystem=system)

    def rows(self, *parts: str, columns: Sequence[str] | None = None) -> Iterator[TableRow]:
        """Yield the rows of a Parquet file in order, with one row group at a time in memory."""
        system, path = self._place(*parts)
        with system.open(path, "rb") as file:
            for batch in pq.ParquetFile(file).iter_batches(ROWS_AT_ONCE, columns=columns):
                yield from batch.to_pylist()

    def sum(self, *parts: str) -> str:
        """Compute the SHA-256 of a file."""
        system, path = self._place(*parts)
        with system.open(path, "rb") as file:
            digest = hashlib.file_digest(file, "sha256")  # pyright: ignore[reportArgumentType]
        return f"sha256:{digest.hexdigest()}"

    def count(self, *parts: str) -> int:
        """Return the number of rows of a Parquet file."""
        system, path = self._place(*parts)
        return pq.read_metadata(path, filesystem=system).num_rows

    def write_record(self, record: Any, *parts: str) -> None:
        """Write a record as JSON, whole or not at all."""
        with self._replacing(*parts) as (system, part):
            system.pipe_file(part, msgspec.json.encode(record))

    def read_record(self, *parts: str) -> str | bytes:
        """Return a record as it was written; empty if there is none."""
        system, path = self._place(*parts)
        return system.cat_file(path) if system.exists(path) else b""

    def exists(self, *parts: str) -> bool:
        """Tell whether a file exists."""
        system, path = self._place(*parts)
        return bool(system.exists(path))

    def remove(self, folder: str) -> None:
        """Remove a folder with its content, if it exists, and then its empty parent folders."""
        system, path = self._place(folder)
        if system.exists(path):
            system.rm(path, recursive=True)
        if here := self.local:
            with suppress(OSError):  # the first parent that is not empty
                for around in islice((here / folder).parents, len(Path(folder).parts) - 1):
                    around.rmdir()

    def keep_only(self, folder: str, names: Iterable[str]) -> None:
        """Remove all direct entries of a folder except ``names``; without names, remove the folder too."""
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
    """Return the client of an object storage.

    Credentials, region and ``AWS_ENDPOINT_URL`` come from the environment.

    Raises:
        ParameterError: pyarrow was built without this storage.
    """
    from fsspec.implementations.arrow import ArrowFSWrapper

    # Hadoop and pyarrow have different schemes for the same storage: s3a is s3, abfss is abfs.
    scheme = urlsplit(base).scheme
    try:
        if _OBJECTS[scheme] == "s3":
            # Endpoint and region are given here: from a URI alone, pyarrow asks the network for the region.
            endpoint = os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL")
            region = os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION")
            again = arrow_fs.AwsDefaultS3RetryStrategy(max_attempts=_ATTEMPTS)
            client = arrow_fs.S3FileSystem(endpoint_override=endpoint, region=region, retry_strategy=again)
            return ArrowFSWrapper(client)
        client, _ = arrow_fs.FileSystem.from_uri(base.replace(scheme, _OBJECTS[scheme], 1))
    except (ImportError, NotImplementedError) as error:
        hint = "Another build of pyarrow may lack it: install it from PyPI (extra `platform`), or use s3"
        raise ParameterError(f"pyarrow has no {scheme}", where=(base,), hint=hint) from error
    return ArrowFSWrapper(client)


def batched(items: Iterable[Any], size: int) -> Iterator[list[Any]]:
    """Yield the items in lists of a size; the last list may be shorter.

    >>> list(batched("abcde", 2))
    [['a', 'b'], ['c', 'd'], ['e']]
    """
    rest = iter(items)
    while batch := list(islice(rest, size)):
        yield batch
