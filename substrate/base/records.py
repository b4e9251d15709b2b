"""Records of a JSON file, each decoded on access, so that a large file does not fill the memory.

The file may be a list, an object of records by key, or JSON lines. A large file is mapped from disk, and a
record is a view of the mapped file.
"""

from __future__ import annotations

import mmap
import os
import tempfile
import zlib
from codecs import BOM_UTF8
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any, TypeVar

import msgspec

from substrate.base.errors import FormatError
from substrate.base.inputs import decoded, gzip_parts, read_bytes, require_file

K = TypeVar("K", int, str)
T = TypeVar("T")
Span = msgspec.Raw
"""A record's bytes, as a view of the file."""

# Largest size in bytes of a file that is kept in memory
_HELD = 64 << 20
# Largest size in bytes of a gzip file that is unpacked in memory; a larger one is unpacked on disk
_PACKED = 4 << 20
_raws = msgspec.json.Decoder(list[msgspec.Raw])


class _Key(str):
    """The key of a record."""


class Text:
    """The text of a file, unpacked if it is gzip, without its byte order mark."""

    def __init__(self, path: Path) -> None:
        """Open a file.

        Raises:
            FormatError: the path is absent, not a file, empty or larger than the limits allow, or its gzip
                stream is cut off or damaged.
        """
        self.path = path
        self._data = _data(path)
        self._start = len(BOM_UTF8) if self._data[: len(BOM_UTF8)] == BOM_UTF8 else 0
        place = self._start
        while (first := self._data[place : place + 1]).isspace():
            place += 1
        self.first = first
        """The first byte that is not a space."""
        if not first:
            read_bytes(path)  # raises the error for an empty file

    def read(self, start: int, length: int) -> bytes:
        """Read ``length`` bytes from a place, or fewer at the end."""
        return self._data[self._start + start : self._start + start + length]

    def lines(self) -> Iterator[tuple[int, Span, bytes]]:
        """Each line that is not blank: its number, its span and its bytes."""
        start, number, view = self._start, 0, memoryview(self._data)
        while start < len(view):
            end = self._data.find(b"\n", start)
            end = len(view) if end < 0 else end
            number += 1
            if (line := self._data[start:end]).strip():
                yield number, msgspec.Raw(view[start:end]), line
            start = end + 1

    def elements(self) -> Iterator[tuple[str, Span | None, msgspec.Raw]]:
        """The elements of a JSON list or object, each as a key, a span and the element.

        The key is empty in a list. The span is ``None`` if the element is neither a list nor an object.

        Raises:
            FormatError: the text is not JSON, or the object has a key twice.
        """
        text, seen = memoryview(self._data)[self._start :], set[str]()

        def once(_: type, key: Any) -> Any:
            if key in seen:
                raise FormatError("occurs twice", where=(self.path, f"$.{key}"), hint="Keep one of the two")
            seen.add(key)
            return _Key(key)

        if self.first == b"[":
            pairs = [("", raw) for raw in decoded(_raws, text, self.path)]
        else:
            by_key = msgspec.json.Decoder(dict[_Key, msgspec.Raw], dec_hook=once)
            pairs = decoded(by_key, text, self.path).items()
        for key, raw in pairs:
            yield str(key), raw if bytes(raw)[:1] in (b"{", b"[") else None, raw


def _data(path: Path) -> bytes | mmap.mmap:
    require_file(path)
    try:
        with path.open("rb") as file:
            size, packed = os.fstat(file.fileno()).st_size, file.read(2) == b"\x1f\x8b"
            if size > (_PACKED if packed else _HELD):
                large = _unpacked(file, size, path) if packed else file
                return mmap.mmap(large.fileno(), 0, access=mmap.ACCESS_READ)
    except (OSError, EOFError, ValueError, zlib.error):
        pass  # `read_bytes` raises the same fault with its explanation
    return read_bytes(path)


def _unpacked(file: IO[bytes], size: int, path: Path) -> IO[bytes]:
    """Unpack a gzip file to a file on disk, which closing its handle deletes."""
    unpacked = tempfile.TemporaryFile()  # noqa: SIM115
    file.seek(0)
    for part in gzip_parts(file, size, path):
        unpacked.write(part)
    unpacked.flush()
    return unpacked


class Index(Mapping[K, msgspec.Raw]):
    """Records of a file by key, in the order of keys.

    A key may have several records, each under a second key; the mapping gives the first of them.
    """

    def __init__(self) -> None:
        self._records: dict[K, dict[Any, msgspec.Raw]] = {}

    def add(self, key: K, record: Span | None, part: str | int = "") -> bool:
        """Add a record; return false if the keys have one already."""
        assert record, "an element that is not a record has no span"
        parts = self._records.setdefault(key, {})
        new = part not in parts
        parts.setdefault(part, record)
        return new

    def parts(self, key: K) -> dict[Any, msgspec.Raw]:
        """The records of a key by their second key, sorted."""
        return dict(sorted(self._records.get(key, {}).items()))

    def __getitem__(self, key: K) -> msgspec.Raw:
        return min(self._records[key].items())[1]

    def __contains__(self, key: object) -> bool:
        return key in self._records

    def __iter__(self) -> Iterator[K]:
        return iter(sorted(self._records))

    def __len__(self) -> int:
        return len(self._records)


class Records(Mapping[K, T]):
    """Records of a file by key, kept as bytes; each access decodes and checks a record."""

    def __init__(
        self, name: str, raw: Mapping[K, msgspec.Raw], read: Callable[[str, K, msgspec.Raw], T]
    ) -> None:
        self.name = name
        self.raw = raw
        self._read = read

    def __getitem__(self, key: K) -> T:
        return self._read(self.name, key, self.raw[key])

    def __contains__(self, key: object) -> bool:
        return key in self.raw

    def __iter__(self) -> Iterator[K]:
        return iter(self.raw)

    def __len__(self) -> int:
        return len(self.raw)


def listed(text: Text) -> Iterator[tuple[tuple[object, ...], Span | None, msgspec.Raw]]:
    """The records of a JSON list or of JSON lines, each with its name, its span and its bytes.

    >>> with tempfile.NamedTemporaryFile() as file:
    ...     _ = Path(file.name).write_bytes(b'[{"a": 1}, {"a": 2}]')
    ...     [(where[1:], bytes(raw)) for where, _, raw in listed(Text(Path(file.name)))]
    [(('$[0]',), b'{"a": 1}'), (('$[1]',), b'{"a": 2}')]

    Raises:
        FormatError: the list is not JSON.
    """
    if text.first == b"[":
        for index, (_, span, record) in enumerate(text.elements()):
            yield (text.path, f"$[{index}]"), span, record
        return
    for number, span, line in text.lines():
        yield (f"{text.path}:{number}",), span, msgspec.Raw(line)
