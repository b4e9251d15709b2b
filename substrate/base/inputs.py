"""Reading files and JSON records: an error names file, record and path, and nothing grows past its limits."""

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

NOT_JSON = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
"""The errors of a decoder on what is no JSON, not of the type that is read, or nested past its depth."""

T = TypeVar("T")
Buffer = bytes | memoryview | msgspec.Raw
Source = tuple[str, bytes]
"""A record's name (file, and member or line inside it) and its bytes."""

Whole = Annotated[int, msgspec.Meta(ge=-(2**53), le=2**53)]
"""A whole number of a file: what a double can count to."""
Measure = Annotated[float, msgspec.Meta(ge=-1e9, le=1e9)]
"""A measured number of a file: squares and products of it stay finite."""


ZIP_ERRORS = (
    OSError,
    BadZipFile,
    zlib.error,
    EOFError,
    RuntimeError,
    ValueError,
    OverflowError,
    struct.error,
)
"""Errors that a damaged, encrypted or strangely packed zip archive raises when it is opened or read."""


def refusal(path: Path, most: int = LIMITS.bytes) -> str:
    """Say why a path that is there must not be read: it is no file, is too large, or stores next to none of
    the bytes that it claims. Empty where it may be read.

    >>> refusal(Path("/dev/null"))
    'is no file, but a folder, pipe or device'
    """
    try:
        about = path.stat()
    except OSError:
        return ""  # whoever opens it says so
    if not stat.S_ISREG(about.st_mode):
        return "is no file, but a folder, pipe or device"
    if about.st_size > most:
        return f"has more than {most} bytes"
    held = getattr(about, "st_blocks", about.st_size) * 512  # Windows does not say
    return "is a file of holes" if about.st_size > max(SMALL, LIMITS.ratio * held) else ""


def require_file(path: Path) -> None:
    """Refuse a path that is there and not to be read.

    Raises:
        FormatError: says why; see :func:`refusal`.
    """
    if why := refusal(path):
        hint = "If it is meant to, raise bytes in SUBSTRATE_LIMITS"
        hint = hint if "bytes" in why else "Give the path of a file"
        raise FormatError(why, where=(path,), hint=hint)


def open_zip(path: Path) -> ZipFile:
    """A zip archive, to read.

    Raises:
        FormatError: it is no file, or larger than :data:`LIMITS` allow.
        BadZipFile: it is no zip archive; so are the others of :data:`ZIP_ERRORS`.
    """
    require_file(path)
    return ZipFile(path)


def read_bytes(path: Path) -> bytes:
    """The bytes of a file, gunzipped where it is gzip, without a byte order mark.

    Raises:
        FormatError: the file is absent, no file, empty, or larger than :data:`LIMITS` allow, or its gzip
            stream is cut off or damaged.
    """
    require_file(path)
    try:
        with path.open("rb", buffering=0) as file:  # a buffer would be joined with the rest: twice the file
            size = os.fstat(file.fileno()).st_size
            packed = file.read(2) == b"\x1f\x8b"
            file.seek(0)
            data = b"".join(gzip_parts(file, size, path)) if packed else file.read()
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise FormatError(
            f"the gzip stream is cut off or damaged ({error})", where=(path,), hint="Fetch it again"
        ) from error
    except OSError as error:
        raise FormatError(
            error.strerror or str(error), where=(path,), hint="Check the path, or fetch the file again"
        ) from error
    if not data or data.isspace():
        raise FormatError("the file is empty", where=(path,), hint="Give a file with at least one record")
    return data.removeprefix(BOM_UTF8)


def gzip_parts(file: IO[bytes], size: int, path: Path) -> Iterator[bytes]:
    """All of a gzip stream in parts, so that a bomb is found before it has grown.

    Raises:
        FormatError: it unpacks to more than the limits allow.
    """
    unpacked = 0
    with gzip.open(file) as stream:
        while part := stream.read(1 << 22):
            unpacked += len(part)
            allow_unpacked(unpacked, size, (path,))
            yield part


def allow_unpacked(size: int, packed: int, where: tuple[object, ...]) -> None:
    """Hold the size of what is unpacked against the limits.

    Raises:
        FormatError: it is too large, or far larger than it was packed.
    """
    _allow(size, LIMITS.unpacked, "unpacked", " unpacked", where)
    if size > SMALL and size > LIMITS.ratio * packed:
        raise FormatError(
            f"unpacks to more than {LIMITS.ratio} times its size",
            where=where,
            hint="It is a compression bomb; if it is not, raise ratio in SUBSTRATE_LIMITS",
        )


def _allow(size: int, most: int, name: str, how: str, where: tuple[object, ...]) -> None:
    if size > most:
        raise FormatError(
            f"has more than {most} bytes{how}",
            where=where,
            hint=f"If it is meant to, raise {name} in SUBSTRATE_LIMITS",
        )


def members(archive: ZipFile, where: Path) -> list[ZipInfo]:
    """The files of a zip archive, each with a name of its own inside the archive's folder.

    Raises:
        FormatError: too many members, one that is absolute, climbs out by ``..`` or occurs twice, or one that
            unpacks to more than :data:`LIMITS` allow.
    """
    files = [info for info in archive.infolist() if not info.filename.endswith("/")]
    require_members([info.filename for info in files], where)
    for info in files:
        allow_unpacked(info.file_size, info.compress_size, (where, info.filename))
    return files


def require_members(names: Iterable[str], where: Path) -> None:
    """Hold the names of an archive's members against what may be unpacked.

    >>> require_members(["a/1.json", "../2.json"], Path("a.zip"))
    Traceback (most recent call last):
    substrate.base.errors.FormatError: a.zip: '../2.json': leads out of the archive. Fetch the archive again:
    no official one has such a member.

    Raises:
        FormatError: there are too many, one is absolute, climbs out by ``..``, or occurs twice.
    """
    seen: set[str] = set()
    for name in names:
        parts = name.replace("\\", "/").split("/")
        outside = parts[0] == "" or ".." in parts or (parts[0].endswith(":") and len(parts[0]) == 2)
        if outside or name in seen:
            raise FormatError(
                "leads out of the archive" if outside else "occurs twice in the archive",
                where=(where, repr(name)),
                hint="Fetch the archive again: no official one has such a member",
            )
        seen.add(name)
        if len(seen) > LIMITS.members:
            raise FormatError(
                f"has more than {LIMITS.members} members",
                where=(where,),
                hint="If it is meant to, raise members in SUBSTRATE_LIMITS",
            )


def read_member(archive: ZipFile, where: Path, name: str) -> bytes:
    """The bytes of one member of a zip archive, without a byte order mark.

    Raises:
        FormatError: it is not there, damaged, encrypted, packed in an unknown way or too large.
    """
    try:
        info = archive.getinfo(name)
        allow_unpacked(info.file_size, info.compress_size, (where, name))
        return archive.read(info).removeprefix(BOM_UTF8)
    except (*ZIP_ERRORS, KeyError) as error:
        raise FormatError(
            f"cannot be read from the zip ({error})", where=(where, name), hint="Fetch the archive again"
        ) from error


def read_text(path: Path) -> str:
    """The text of a UTF-8 file, with or without a byte order mark; errors as :func:`read_bytes`."""
    try:
        return read_bytes(path).decode()
    except UnicodeDecodeError as error:
        raise _not_utf8(error, (path,)) from error


def lines(path: Path) -> Iterator[Source]:
    """The lines of a file, each named ``FILE:LINE``; blank lines are passed over."""
    for number, line in enumerate(read_bytes(path).split(b"\n"), start=1):
        if line.strip():
            yield f"{path}:{number}", line


def decode(
    decoder: msgspec.json.Decoder[T],
    data: bytes | msgspec.Raw,
    *where: object,
    keys: Callable[[T], int] | None = None,
) -> T:
    """Read a typed record from JSON; ``where`` names it, outermost first.

    Args:
        decoder: for the record's type.
        data: its text.
        where: its names.
        keys: how many keys a record has where no key is optional; spares a second look at a large text.

    >>> decode(msgspec.json.Decoder(dict[str, int]), b'{"a": "b"}', "file.json", "record 7")
    Traceback (most recent call last):
    substrate.base.errors.FormatError: file.json: record 7: $[...]: Expected `int`, got `str`. Compare the
    record with the official format.

    Raises:
        FormatError: names the path of what is missing, mistyped, not finite or there twice, or the line that
            is not JSON.
    """
    record, text = decoded(decoder, data, *where), bytes(data)
    # As many colons as a record has keys: no key is there twice, and none that the type does not know
    if keys is None or keys(record) != text.count(b":") or b"\\" in text:
        require_distinct_keys(text, *where)
    return record


def decoded(decoder: msgspec.json.Decoder[T], data: Buffer, *where: object) -> T:
    """Decode without a look at keys that occur twice: for a text whose parts are looked at one by one."""
    try:
        return decoder.decode(data)
    except msgspec.ValidationError as error:
        what, _, path = str(error).partition(" - at ")
        raise FormatError(
            what, where=(*where, path.strip("`") or "$"), hint="Compare the record with the official format"
        ) from error
    except RecursionError as error:
        raise _too_deep(where) from error
    except NOT_JSON as error:
        raise _malformed(bytes(data), str(error), where) from error


def require_distinct_keys(data: bytes, *where: object) -> None:
    """Refuse JSON in which an object has a key twice; a parser would take the last without a word.

    >>> require_distinct_keys(b'[{"a": 1}, {"b": {"a": 1, "a": 2}}]', "file.json")
    Traceback (most recent call last):
    substrate.base.errors.FormatError: file.json: $[1].b.a: occurs twice. Keep one of the two.

    Raises:
        FormatError: names the key and where it stands.
    """
    twice: list[bool] = []

    def look(pairs: list[tuple[str, Any]]) -> None:
        if len(dict(pairs)) < len(pairs):
            twice.append(True)

    try:
        json.loads(data, object_pairs_hook=look, parse_int=str, parse_float=str)
        if twice:
            path = next(filter(None, (_twice(*place) for place in _places(_pairs(data), "$"))))
            raise FormatError("occurs twice", where=(*where, path), hint="Keep one of the two")
    except RecursionError as error:
        raise _too_deep(where) from error
    except ValueError as error:
        raise FormatError(str(error), where=where, hint="The file is not JSON; fetch it again") from error


class _Pairs(list[tuple[str, Any]]):
    """An object of JSON with its keys as they come."""


def _pairs(data: str | bytes) -> Any:
    return json.loads(data, object_pairs_hook=_Pairs, parse_int=str)


def _places(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    """A value and all that is in it, each with its path."""
    yield path, value
    for index, item in enumerate(value if isinstance(value, list) else ()):
        key, inner = (f".{item[0]}", item[1]) if isinstance(value, _Pairs) else (f"[{index}]", item)
        yield from _places(inner, path + key)


def _twice(path: str, value: Any) -> str:
    """The path of the first key that an object has twice; empty where there is none."""
    seen: set[str] = set()
    for key, _ in value if isinstance(value, _Pairs) else ():
        if key in seen:
            return f"{path}.{key}"
        seen.add(key)
    return ""


def _too_deep(where: tuple[object, ...]) -> FormatError:
    return FormatError("nested too deeply", where=where, hint="Compare the record with the official format")


def _malformed(data: bytes, reason: str, where: tuple[object, ...]) -> FormatError:
    """Malformed JSON is often a NaN that a lenient encoder wrote: look where it sits."""
    try:
        places = _places(_pairs(data.decode()), "$")
        path = next((path for path, value in places if isinstance(value, float) and not isfinite(value)), "")
    except UnicodeDecodeError as error:
        return _not_utf8(error, where)
    except json.JSONDecodeError as error:
        return FormatError(
            reason,
            where=(*where, f"line {error.lineno} column {error.colno}"),
            hint="The file is cut off or not JSON; fetch it again",
        )
    except RecursionError:
        return _too_deep(where)
    if path:
        return FormatError(
            "number is not finite", where=(*where, path), hint="Replace NaN or Infinity by a measured value"
        )
    return FormatError(reason, where=where, hint="Compare the record with the official format")


def _not_utf8(error: UnicodeDecodeError, where: tuple[object, ...]) -> FormatError:
    return FormatError(f"not UTF-8 (byte {error.start})", where=where, hint="Save the file as UTF-8")
