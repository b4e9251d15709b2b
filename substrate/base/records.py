"""Records of a large JSON file, one at a time: each is read when it is asked for, and the file never whole.

A list, an object of records by key, or JSON lines is scanned in blocks; a record is held until the next one
is asked for. The place of each is kept on disk, by key, so that a file of a million scenes costs no memory.
"""

from __future__ import annotations

import gzip
import io
import os
import re
import sqlite3
import tempfile
import threading
import weakref
import zlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any, TypeVar

import msgspec

from substrate.base.errors import FormatError
from substrate.base.inputs import NOT_JSON, allow_unpacked, decode, read_bytes, require_file

K = TypeVar("K", int, str)
T = TypeVar("T")
Span = tuple[int, int]
"""The place of a record: its first byte in the file, and its length."""

_BLOCK = 1 << 18
_SMALL = 1 << 22
"""The bytes of a file from which on it is not held."""
_STRING = rb'"(?:[^"\\]++|\\.)*+"'
_NEXT = re.compile(rb'(?:[^"{}\[\]]++|' + _STRING + rb")*+[{}\[\]]", re.DOTALL)
"""All up to the next bracket outside of a string, and the bracket."""
_GAP = rb"[ \t\r\n]*"
_OPEN = re.compile(_GAP + rb"([\[{])")
_BEFORE = {
    b"[": re.compile(_GAP + rb"()(?=[\[{])"),
    b"{": re.compile(_GAP + rb"(" + _STRING + rb")" + _GAP + rb":" + _GAP + rb"(?=[\[{])", re.DOTALL),
}
"""The text before an element: in an object its key."""
_AFTER = {b"[": re.compile(_GAP + rb"([,\]])"), b"{": re.compile(_GAP + rb"([,}])")}
_EMPTY = re.compile(_GAP + rb"([^ \t\r\n])")
_raw = msgspec.json.Decoder(msgspec.Raw)
_raws = msgspec.json.Decoder(list[msgspec.Raw])
_raw_by_key = msgspec.json.Decoder(dict[str, msgspec.Raw])
_key = msgspec.json.Decoder(str)


class Text:
    """The bytes of a file, unpacked where it is gzip, of which parts are read."""

    def __init__(self, path: Path) -> None:
        """Open a file.

        Raises:
            FormatError: it is absent, no file, empty or larger than the limits allow, or its gzip stream is
                cut off or damaged.
        """
        self.path = path
        self._turn = threading.Lock()
        require_file(path)
        try:
            self._file: IO[bytes] = path.open("rb", buffering=0)
            if self.read(0, 2) == b"\x1f\x8b":
                self._file = _unpacked(self._file, path)
            if len(small := self.read(0, _SMALL)) < _SMALL:
                self._file.close()
                self._file = io.BytesIO(small)
        except (OSError, EOFError, zlib.error):
            read_bytes(path)  # says what is wrong
            raise
        weakref.finalize(self, self._file.close)
        start = 0
        while (block := self.read(start, _BLOCK)).isspace():
            start += len(block)
        if not block:
            read_bytes(path)  # says that it is empty
        self.first = block.lstrip()[:1]
        """The first byte that is no space."""

    def read(self, start: int, length: int) -> bytes:
        """So many bytes from a place on, fewer at the end."""
        with self._turn:
            self._file.seek(start)
            return self._file.read(length)

    def lines(self) -> Iterator[tuple[int, Span, bytes]]:
        """Each line that is not blank: its number, its place and its text."""
        number, start, rest = 0, 0, b""
        while True:
            block = self.read(start + len(rest), max(_BLOCK, len(rest)))
            *whole, rest = (rest + block).split(b"\n") if block else [rest, b""]
            for line in whole:
                number += 1
                if line.strip():
                    yield number, (start, len(line)), line
                start += len(line) + 1
            if not block:
                return

    def elements(self) -> Iterator[tuple[str, Span | None, msgspec.Raw]]:
        """The records of a JSON list or of an object: the key, empty in a list, the place, the text.

        Raises:
            FormatError: it is not JSON, or an object has a key twice.
        """
        count, seen = 0, Index(self)
        try:
            for key, span, text in self._scanned():
                if self.first == b"{" and not seen.add(key, span):
                    hint = "Keep one of the two"
                    raise FormatError("occurs twice", where=(self.path, f"$.{key}"), hint=hint)
                count += 1
                yield key, span, msgspec.Raw(text)
        except _OddError:
            # A parser of all of it says why; or it is sound, with elements that are no records.
            data = read_bytes(self.path)
            if self.first != b"[":
                rest = list(decode(_raw_by_key, data, self.path).items())[count:]
            else:
                rest = [("", raw) for raw in decode(_raws, data, self.path)[count:]]
            yield from ((key, None, raw) for key, raw in rest)

    def _scanned(self) -> Iterator[tuple[str, Span, bytes]]:
        """The elements as they are found; raises :class:`_OddError` where a parser should look."""
        held, begin = b"", 0

        def more(at: int) -> None:
            """Drop what is before a place, and read on."""
            nonlocal held, begin
            held, begin = held[at:], begin + at
            block = self.read(begin + len(held), max(_BLOCK, len(held)))
            if not block:
                raise _OddError
            held += block

        def find(pattern: re.Pattern[bytes], at: int) -> re.Match[bytes]:
            while not (found := pattern.match(held, at)):
                more(at)
                at = 0
            return found

        opened = find(_OPEN, 0)
        closing = b"]" if opened[1] == b"[" else b"}"
        empty = find(_EMPTY, opened.end())
        closed = empty[1] == closing
        end = empty.end() if closed else empty.start(1)
        while not closed:
            before = find(_BEFORE[opened[1]], end)
            at = place = before.end()
            depth = 0
            while True:
                while not (found := _NEXT.match(held, place)):
                    more(at)
                    place, at = place - at, 0
                place = found.end()
                depth += 1 if held[place - 1] in b"[{" else -1
                if not depth:
                    break
            text = held[at:place]
            try:
                _raw.decode(text)
                key = _key.decode(before[1]) if before[1] else ""
            except NOT_JSON as error:
                raise _OddError from error
            span = begin + at, len(text)
            yield key, span, text
            after = find(_AFTER[opened[1]], place)
            closed, end = after[1] == closing, after.end()
        end += begin
        while block := self.read(end, _BLOCK):
            if block.strip(b" \t\r\n"):
                raise _OddError
            end += len(block)


class _OddError(Exception):
    """A file is not what the scanner takes."""


def _unpacked(file: IO[bytes], path: Path) -> IO[bytes]:
    """All of a gzip file, in a file on disk that is gone with its handle."""
    found = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115
    with file:
        file.seek(0)
        size = os.fstat(file.fileno()).st_size
        with gzip.open(file) as stream:
            while part := stream.read(1 << 22):
                found.write(part)
                allow_unpacked(found.tell(), size, (path,))
    return found


class Index(Mapping[K, msgspec.Raw]):
    """Records of a file by key, in the order of keys, each read when it is asked for.

    A key may have several, told apart by a second one; as a mapping it has the first of them.
    """

    def __init__(self, text: Text) -> None:
        self._text = text
        # Of a name that is empty: a file of its own, which goes with it.
        self._spans = sqlite3.connect("", check_same_thread=False)
        weakref.finalize(self, self._spans.close)
        self._spans.execute(
            "CREATE TABLE spans (key, part, start, length, PRIMARY KEY (key, part)) WITHOUT ROWID"
        )

    def add(self, key: K, span: Span | None, part: str | int = "") -> bool:
        """Keep where a record lies; false where there is one already."""
        assert span, "an element without a place is no record"
        try:
            self._spans.execute("INSERT INTO spans VALUES (?, ?, ?, ?)", (key, part, *span))
        except sqlite3.IntegrityError:
            return False
        return True

    def parts(self, key: K) -> dict[Any, msgspec.Raw]:
        """The records of a key by their second one, in its order."""
        found = self._spans.execute(
            "SELECT part, start, length FROM spans WHERE key = ? ORDER BY part", (key,)
        )
        return {part: msgspec.Raw(self._text.read(start, length)) for part, start, length in found}

    def __getitem__(self, key: K) -> msgspec.Raw:
        for raw in self.parts(key).values():
            return raw
        raise KeyError(key)

    def __contains__(self, key: object) -> bool:
        return any(self._spans.execute("SELECT 1 FROM spans WHERE key = ?", (key,)))

    def __iter__(self) -> Iterator[K]:
        return (key for (key,) in self._spans.execute("SELECT DISTINCT key FROM spans ORDER BY key"))

    def __len__(self) -> int:
        ((count,),) = self._spans.execute("SELECT count(DISTINCT key) FROM spans")
        return count


class Records(Mapping[K, T]):
    """Records of a file by key, as bytes: each is decoded, and checked, when it is asked for."""

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
    """The records of a JSON list or of JSON lines, as they stand, each with what names it and its place.

    >>> with tempfile.NamedTemporaryFile() as file:
    ...     _ = Path(file.name).write_bytes(b'[{"a": 1}, {"a": 2}]')
    ...     [(where[1:], span, bytes(raw)) for where, span, raw in listed(Text(Path(file.name)))]
    [(('$[0]',), (1, 8), b'{"a": 1}'), (('$[1]',), (11, 8), b'{"a": 2}')]

    Raises:
        FormatError: the list is not JSON.
    """
    if text.first == b"[":
        for index, (_, span, record) in enumerate(text.elements()):
            yield (text.path, f"$[{index}]"), span, record
        return
    for number, span, line in text.lines():
        yield (f"{text.path}:{number}",), span, msgspec.Raw(line)
