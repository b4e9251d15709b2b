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
from typing import Any
from urllib.parse import urlsplit
from urllib.request import url2pathname

import msgspec
import pyarrow as pa
import pyarrow.fs as arrow_fs
import pyarrow.parquet as pq

from substrate.base.errors import ParameterError
from substrate.base.files import naming

# The schemes of URIs, besides ``file``, for which pyarrow may have a client.
_SCHEMES = ("s3", "s3a", "gs", "abfs", "abfss", "hdfs")
# The number of attempts at a busy object storage, with growing waits between them.
_ATTEMPTS = 8
# The types of columns.
INT, TEXT, BYTES = pa.int64(), pa.string(), pa.binary()
# A row of a table, by column.
TableRow = dict[str, Any]
# The number of rows of a row group, which a worker reads at a time.
ROWS_AT_ONCE = 16


@dataclass(frozen=True)
class Storage:
    """A folder at a URI that driver and workers reach; by default on this machine's disk.

    Attributes:
        shared: whether other projects may use it: then no table is removed, since one of them may read it.
    """

    base: str
    shared: bool = False

    @property
    def own_folder(self) -> Path | None:
        """The storage's folder, if it is on this machine's disk and of one project alone."""
        return None if self.shared else self.local

    @property
    def local(self) -> Path | None:
        """The storage's folder, if it is on this machine's disk."""
        parts = urlsplit(self.base)
        return Path(url2pathname(parts.path)) if parts.scheme == "file" else None

    def _place(self, *parts: str) -> tuple[arrow_fs.FileSystem, str]:
        system, path = (arrow_fs.LocalFileSystem(), self.local) if self.local else _client(self.base)
        return system, "/".join([str(path), *parts])

    @contextmanager
    def _replacing(self, *parts: str) -> Iterator[tuple[arrow_fs.FileSystem, str]]:
        """Yield a fresh path to write to; the result replaces the file when the block succeeds.

        Two processes may make the same file at once: the later one writes the same bytes again.
        """
        system, path = self._place(*parts)
        with naming(Path(path)):
            # An object storage's folders are only prefixes of names.
            if urlsplit(self.base).scheme in ("file", "hdfs"):
                with suppress(FileNotFoundError):  # another process removed an empty parent folder
                    system.create_dir(path.rpartition("/")[0])
                system.create_dir(path.rpartition("/")[0])
            part = f"{path}.{uuid.uuid4()}.part"
            try:
                yield system, part
                system.move(part, path)
            except BaseException:
                with suppress(FileNotFoundError):
                    system.delete_file(part)
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
            system.open_output_stream(part) as file,
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
        with system.open_input_file(path) as file:
            for batch in pq.ParquetFile(file).iter_batches(ROWS_AT_ONCE, columns=columns):
                yield from batch.to_pylist()

    def sum(self, *parts: str) -> str:
        """Compute the SHA-256 of a file."""
        system, path = self._place(*parts)
        with system.open_input_stream(path) as file:
            digest = hashlib.file_digest(file, "sha256")  # pyright: ignore[reportArgumentType]
        return f"sha256:{digest.hexdigest()}"

    def count(self, *parts: str) -> int:
        """Return the number of rows of a Parquet file."""
        system, path = self._place(*parts)
        return pq.read_metadata(path, filesystem=system).num_rows

    def write_record(self, record: Any, *parts: str) -> None:
        """Write a record as JSON, whole or not at all."""
        with self._replacing(*parts) as (system, part), system.open_output_stream(part) as file:
            file.write(msgspec.json.encode(record))

    def read_record(self, *parts: str) -> bytes:
        """Return a record as it was written; empty if there is none."""
        system, path = self._place(*parts)
        with suppress(FileNotFoundError), system.open_input_stream(path) as file:
            return file.read()
        return b""

    def exists(self, *parts: str) -> bool:
        """Tell whether a file exists."""
        system, path = self._place(*parts)
        return system.get_file_info(path).type != arrow_fs.FileType.NotFound

    def remove(self, folder: str) -> None:
        """Remove a folder with its content, if it exists; on this machine's disk also its empty parents."""
        system, path = self._place(folder)
        with suppress(FileNotFoundError):
            system.delete_dir(path)
        if here := self.local:
            with suppress(OSError):  # the first parent that is not empty
                for around in islice((here / folder).parents, len(Path(folder).parts) - 1):
                    around.rmdir()

    def keep_only(self, folder: str, names: Iterable[str]) -> None:
        """Remove all direct entries of a folder except ``names``, unless the storage is shared."""
        if self.shared:
            return
        (system, path), names = self._place(folder), set(names)
        for child in system.get_file_info(arrow_fs.FileSelector(path, allow_not_found=True)):
            if child.base_name not in names:
                delete = system.delete_file if child.is_file else system.delete_dir
                delete(child.path)


@cache
def _client(base: str) -> tuple[arrow_fs.FileSystem, str]:
    """Return the client of a storage on other machines, and the path of a URI in it.

    Credentials, region and ``AWS_ENDPOINT_URL`` come from the environment.

    Raises:
        ParameterError: pyarrow has no client, or was built without it.
    """
    scheme, _, path = base.partition("://")
    if scheme not in _SCHEMES:
        hint = "Give another URI; docs/deploy.md lists them"
        what = f"no client of {scheme}: it is none of {', '.join(_SCHEMES)}"
        raise ParameterError(what, where=(base,), hint=hint)
    try:
        if scheme in ("s3", "s3a"):
            # From a URI, pyarrow would ask the network for the region, and not read the endpoint.
            endpoint = os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL")
            again = arrow_fs.AwsDefaultS3RetryStrategy(max_attempts=_ATTEMPTS)
            client = arrow_fs.S3FileSystem(endpoint_override=endpoint, retry_strategy=again)
        else:
            client, path = arrow_fs.FileSystem.from_uri(base)
    except (ImportError, NotImplementedError, OSError, ValueError) as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        hint = "Another build of pyarrow may lack it: install it from PyPI (extra `platform`), or use s3"
        raise ParameterError(f"pyarrow has no {scheme} ({reason})", where=(base,), hint=hint) from error
    return client, path.rstrip("/")


def batched(items: Iterable[Any], size: int) -> Iterator[list[Any]]:
    """Yield the items in lists of a size; the last list may be shorter.

    >>> list(batched("abcde", 2))
    [['a', 'b'], ['c', 'd'], ['e']]
    """
    rest = iter(items)
    while batch := list(islice(rest, size)):
        yield batch
