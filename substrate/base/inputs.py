"""Read files and JSON records within limits; each error names the file, the record and the path."""

from __future__ import annotations

import gzip
import json
import os
import stat
import struct
import zlib
from codecs import BOM_UTF8
from collections.abc import Callable, Iterable, Iterator
from math import isfinite
from pathlib import Path
from typing import IO, Annotated, Any, TypeVar
from zipfile import BadZipFile, ZipFile, ZipInfo

import msgspec

from substrate.base.errors import FormatError
from substrate.base.limits import LIMITS, SMALL

# A decoder's errors on text that is not JSON, has another type than expected, or is nested too deeply
NOT_JSON = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)

T = TypeVar("T")
Buffer = bytes | memoryview | msgspec.Raw
# A record's name (its file, with the member or line) and its bytes
Source = tuple[str, bytes]

# A whole number in a file, within the range that a double holds exactly
Whole = Annotated[int, msgspec.Meta(ge=-(2**53), le=2**53)]
# A measured number in a file, small enough that its squares and products stay finite
Measure = Annotated[float, msgspec.Meta(ge=-1e9, le=1e9)]


# Errors that a damaged, encrypted or strangely packed zip archive raises when it is opened or read
_DAMAGED = (BadZipFile, EOFError, zlib.error, struct.error)
ZIP_ERRORS = (OSError, RuntimeError, ValueError, OverflowError, *_DAMAGED)


def refusal(path: Path, most: int = LIMITS.bytes) -> str:
    """Say why an existing path must not be read; empty if it may be read.

    A path is refused if it is not a file, is too large, or stores almost none of the bytes that it claims.

    >>> refusal(Path("/dev/null"))
    'is a folder, pipe or device, not a file'
    """
    try:
        about = path.stat()
    except OSError:
        return ""  # opening it raises the error
    if not stat.S_ISREG(about.st_mode):
        return "is a folder, pipe or device, not a file"
    if about.st_size > most:
        return f"has more than {most} bytes"
    # Windows does not say how many blocks are stored; then this number is too large and refuses nothing
    held = getattr(about, "st_blocks", about.st_size) * 512
    return "is a sparse file, mostly holes" if about.st_size > max(SMALL, LIMITS.ratio * held) else ""


def require_file(path: Path) -> None:
    """Refuse an existing path that must not be read.

    Raises:
        FormatError: the path is refused, for the reason that :func:`refusal` gives.
    """
    if why := refusal(path):
        hint = "If it is meant to, raise bytes in SUBSTRATE_LIMITS"
        hint = hint if "bytes" in why else "Give the path of a file"
        raise FormatError(why, where=(path,), hint=hint)


def open_zip(path: Path) -> ZipFile:
    """Open a zip archive for reading.

    Raises:
        FormatError: the path is not a file, or is larger than :data:`LIMITS` allow.
        BadZipFile: the file is not a zip archive; the other :data:`ZIP_ERRORS` may occur as well.
    """
    require_file(path)
    return ZipFile(path)


def read_bytes(path: Path) -> bytes:
    """Read a file's bytes, unpacked if it is gzip, without a byte order mark.

    Raises:
        FormatError: the path is absent, not a file, empty, or larger than :data:`LIMITS` allow, or its gzip
            stream is cut off or damaged.
    """
    require_file(path)
    try:
        with path.open("rb", buffering=0) as file:  # joining a buffer to the rest would double the memory
            size = os.fstat(file.fileno()).st_size
            packed = file.read(2) == b"\x1f\x8b"
            file.seek(0)
            data = b"".join(gzip_parts(file, size, path)) if packed else file.read()
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        what = f"the gzip stream is cut off or damaged ({error})"
        raise FormatError(what, where=(path,), hint="Fetch it again") from error
    except OSError as error:
        what = error.strerror or str(error)
        raise FormatError(what, where=(path,), hint="Check the path, or fetch the file again") from error
    if not data or data.isspace():
        raise FormatError("the file is empty", where=(path,), hint="Give a file with at least one record")
    return data.removeprefix(BOM_UTF8)


def gzip_parts(file: IO[bytes], size: int, path: Path) -> Iterator[bytes]:
    """Unpack a gzip stream in parts, so that a compression bomb is caught early.

    Raises:
        FormatError: the stream unpacks to more than the limits allow.
    """
    unpacked = 0
    with gzip.open(file) as stream:
        while part := stream.read(1 << 22):
            unpacked += len(part)
            allow_unpacked(unpacked, size, (path,))
            yield part


def allow_unpacked(size: int, packed: int, where: tuple[object, ...]) -> None:
    """Check an unpacked size against the limits.

    Raises:
        FormatError: the unpacked size is too large, or far larger than the packed size.
    """
    if size > LIMITS.unpacked:
        hint = "If it is meant to, raise unpacked in SUBSTRATE_LIMITS"
        raise FormatError(f"has more than {LIMITS.unpacked} bytes unpacked", where=where, hint=hint)
    if size > SMALL and size > LIMITS.ratio * packed:
        hint = "It is a compression bomb; if it is not, raise ratio in SUBSTRATE_LIMITS"
        raise FormatError(f"unpacks to more than {LIMITS.ratio} times its size", where=where, hint=hint)


def members(archive: ZipFile, where: Path) -> list[ZipInfo]:
    """The files of a zip archive, with their names checked.

    Raises:
        FormatError: there are too many members; a member's name is absolute, contains ``..`` or occurs twice;
            or a member unpacks to more than :data:`LIMITS` allow.
    """
    files = [info for info in archive.infolist() if not info.filename.endswith("/")]
    require_members([info.filename for info in files], where)
    for info in files:
        allow_unpacked(info.file_size, info.compress_size, (where, info.filename))
    return files


def require_members(names: Iterable[str], where: Path) -> None:
    """Refuse archive members that are unsafe to unpack.

    >>> require_members(["a/1.json", "../2.json"], Path("a.zip"))
    Traceback (most recent call last):
    substrate.base.errors.FormatError: a.zip: '../2.json': leads out of the archive. Fetch the archive again:
    no official one has such a member.

    Raises:
        FormatError: there are too many members, or a name is absolute, contains ``..`` or occurs twice.
    """
    seen: set[str] = set()
    for name in names:
        parts = name.replace("\\", "/").split("/")
        outside = parts[0] == "" or ".." in parts or (parts[0].endswith(":") and len(parts[0]) == 2)
        if outside or name in seen:
            what = "leads out of the archive" if outside else "occurs twice in the archive"
            hint = "Fetch the archive again: no official one has such a member"
            raise FormatError(what, where=(where, repr(name)), hint=hint)
        seen.add(name)
        if len(seen) > LIMITS.members:
            hint = "If it is meant to, raise members in SUBSTRATE_LIMITS"
            raise FormatError(f"has more than {LIMITS.members} members", where=(where,), hint=hint)


def read_member(archive: ZipFile, where: Path, name: str) -> bytes:
    """Read one member of a zip archive, without a byte order mark.

    Raises:
        FormatError: the member is absent, damaged, encrypted, packed by an unknown method or too large.
    """
    try:
        info = archive.getinfo(name)
        allow_unpacked(info.file_size, info.compress_size, (where, name))
        return archive.read(info).removeprefix(BOM_UTF8)
    except (*ZIP_ERRORS, KeyError) as error:
        what = f"cannot be read from the zip ({error})"
        raise FormatError(what, where=(where, name), hint="Fetch the archive again") from error


def read_text(path: Path) -> str:
    """The text of a UTF-8 file, with or without a byte order mark; errors as :func:`read_bytes`."""
    try:
        return read_bytes(path).decode()
    except UnicodeDecodeError as error:
        raise _not_utf8(error, (path,)) from error


def lines(path: Path) -> Iterator[Source]:
    """The lines of a file, each named ``FILE:LINE``; blank lines are skipped."""
    for number, line in enumerate(read_bytes(path).split(b"\n"), start=1):
        if line.strip():
            yield f"{path}:{number}", line


def decode(
    decoder: msgspec.json.Decoder[T],
    data: bytes | msgspec.Raw,
    *where: object,
    keys: Callable[[T], int] | None = None,
) -> T:
    """Read a typed record from JSON.

    Args:
        decoder: for the record's type.
        data: the record's text.
        where: the record's names for an error, outermost first.
        keys: counts a record's keys, if none is optional. If the text has as many colons, it repeats no key,
            and no second pass over a large text must look for repeats.

    >>> decode(msgspec.json.Decoder(dict[str, int]), b'{"a": "b"}', "file.json", "record 7")
    Traceback (most recent call last):
    substrate.base.errors.FormatError: file.json: record 7: $[...]: Expected `int`, got `str`. Compare the
    record with the official format.

    Raises:
        FormatError: a value is missing, mistyped, not finite or given twice (the error names its path), or a
            line is not JSON (the error names the line).
    """
    record, text = decoded(decoder, data, *where), bytes(data)
    # If the text has as many colons as the record has keys, no key occurs twice and none is unknown
    if keys is None or keys(record) != text.count(b":") or b"\\" in text:
        require_distinct_keys(text, *where)
    return record


def decoded(decoder: msgspec.json.Decoder[T], data: Buffer, *where: object) -> T:
    """Decode without a check for repeated keys, for a text whose parts are checked later."""
    try:
        return decoder.decode(data)
    except msgspec.ValidationError as error:
        what, _, path = str(error).partition(" - at ")
        hint = "Compare the record with the official format"
        raise FormatError(what, where=(*where, path.strip("`") or "$"), hint=hint) from error
    except RecursionError as error:
        raise _too_deep(where) from error
    except NOT_JSON as error:
        raise _malformed(bytes(data), str(error), where) from error


def require_distinct_keys(data: bytes, *where: object) -> None:
    """Refuse JSON in which an object repeats a key; a parser would silently take the last one.

    >>> require_distinct_keys(b'[{"a": 1}, {"b": {"a": 1, "a": 2}}]', "file.json")
    Traceback (most recent call last):
    substrate.base.errors.FormatError: file.json: $[1].b.a: occurs twice. Keep one of the two.

    Raises:
        FormatError: a key occurs twice; the error gives its path.
    """
    repeats: list[bool] = []

    def note_repeats(pairs: list[tuple[str, Any]]) -> None:
        if len(dict(pairs)) < len(pairs):
            repeats.append(True)

    try:
        json.loads(data, object_pairs_hook=note_repeats, parse_int=str, parse_float=str)
        if repeats:
            # A second, slower pass finds the path
            path = next(filter(None, (_twice(*place) for place in _places(_pairs(data), "$"))))
            raise FormatError("occurs twice", where=(*where, path), hint="Keep one of the two")
    except RecursionError as error:
        raise _too_deep(where) from error
    except ValueError as error:
        raise FormatError(str(error), where=where, hint="The file is not JSON; fetch it again") from error


class _Pairs(list[tuple[str, Any]]):
    """A JSON object as its key-value pairs, in the order of the text."""


def _pairs(data: str | bytes) -> Any:
    return json.loads(data, object_pairs_hook=_Pairs, parse_int=str)


def _places(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    """A value and everything inside it, each with its path."""
    yield path, value
    for index, item in enumerate(value if isinstance(value, list) else ()):
        key, inner = (f".{item[0]}", item[1]) if isinstance(value, _Pairs) else (f"[{index}]", item)
        yield from _places(inner, path + key)


def _twice(path: str, value: Any) -> str:
    """The path of the first key that an object repeats; empty if there is none."""
    seen: set[str] = set()
    for key, _ in value if isinstance(value, _Pairs) else ():
        if key in seen:
            return f"{path}.{key}"
        seen.add(key)
    return ""


def _too_deep(where: tuple[object, ...]) -> FormatError:
    return FormatError("nested too deeply", where=where, hint="Compare the record with the official format")


def _malformed(data: bytes, reason: str, where: tuple[object, ...]) -> FormatError:
    """Explain malformed JSON; the cause is often a NaN that a lenient encoder wrote, so give its path."""
    try:
        places = _places(_pairs(data.decode()), "$")
        path = next((path for path, value in places if isinstance(value, float) and not isfinite(value)), "")
    except UnicodeDecodeError as error:
        return _not_utf8(error, where)
    except json.JSONDecodeError as error:
        hint = "The file is cut off or not JSON; fetch it again"
        return FormatError(reason, where=(*where, f"line {error.lineno} column {error.colno}"), hint=hint)
    except RecursionError:
        return _too_deep(where)
    if path:
        what = "number is not finite"
        return FormatError(what, where=(*where, path), hint="Replace NaN or Infinity by a measured value")
    return FormatError(reason, where=where, hint="Compare the record with the official format")


def _not_utf8(error: UnicodeDecodeError, where: tuple[object, ...]) -> FormatError:
    return FormatError(f"not UTF-8 (byte {error.start})", where=where, hint="Save the file as UTF-8")
