"""Reading files and JSON records so that an error names file, record and path."""

from __future__ import annotations

import gzip
import json
import math
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from substrate.errors import FormatError

T = TypeVar("T")
Source = tuple[str, bytes]
"""A record's name (file, and member or line inside it) and its bytes."""


def read_bytes(path: Path) -> bytes:
    """The bytes of a file, gunzipped where it is gzip.

    Raises:
        FormatError: the file is absent, empty, or its gzip stream is cut off or damaged.
    """
    try:
        raw = path.read_bytes()
        data = gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise FormatError(
            f"the gzip stream is cut off or damaged ({error})", where=(path,), hint="Fetch it again"
        ) from error
    except OSError as error:
        raise FormatError(
            error.strerror or str(error), where=(path,), hint="Check the path, or fetch the file again"
        ) from error
    if not data.strip():
        raise FormatError("the file is empty", where=(path,), hint="Give a file with at least one record")
    return data


def read_text(path: Path) -> str:
    """The text of a UTF-8 file, with or without a byte order mark; errors as :func:`read_bytes`."""
    try:
        return read_bytes(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise _not_utf8(error, (path,)) from error


def lines(path: Path) -> Iterator[Source]:
    """The lines of a file, each named ``FILE:LINE``; blank lines are passed over."""
    for number, line in enumerate(read_bytes(path).split(b"\n"), start=1):
        if line.strip():
            yield f"{path}:{number}", line


def decode(decoder: msgspec.json.Decoder[T], data: bytes | msgspec.Raw, *where: object) -> T:
    """One typed record from JSON; ``where`` names it, outermost first.

    >>> decode(msgspec.json.Decoder(dict[str, int]), b'{"a": "b"}', "file.json", "record 7")
    Traceback (most recent call last):
    substrate.errors.FormatError: file.json: record 7: $[...]: Expected `int`, got `str`. Compare the record
    with the official format.

    Raises:
        FormatError: names the path of what is missing, mistyped or not finite, or the line that is not JSON.
    """
    try:
        return decoder.decode(data)
    except msgspec.ValidationError as error:
        what, _, path = str(error).partition(" - at ")
        raise FormatError(
            what, where=(*where, path.strip("`") or "$"), hint="Compare the record with the official format"
        ) from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise _malformed(bytes(data), str(error), where) from error


def _malformed(data: bytes, reason: str, where: tuple[object, ...]) -> FormatError:
    """Malformed JSON is often a NaN that a lenient encoder wrote: look where it sits."""
    try:
        path = _first_not_finite(json.loads(data.decode()), "$")
    except UnicodeDecodeError as error:
        return _not_utf8(error, where)
    except json.JSONDecodeError as error:
        return FormatError(
            reason,
            where=(*where, f"line {error.lineno} column {error.colno}"),
            hint="The file is cut off or not JSON; fetch it again",
        )
    except RecursionError:
        return FormatError(
            "nested too deeply", where=where, hint="Compare the record with the official format"
        )
    if path:
        return FormatError(
            "number is not finite", where=(*where, path), hint="Replace NaN or Infinity by a measured value"
        )
    return FormatError(reason, where=where, hint="Compare the record with the official format")


def _not_utf8(error: UnicodeDecodeError, where: tuple[object, ...]) -> FormatError:
    return FormatError(f"not UTF-8 (byte {error.start})", where=where, hint="Save the file as UTF-8")


def _first_not_finite(value: Any, path: str) -> str:
    if isinstance(value, float):
        return "" if math.isfinite(value) else path
    items: Iterable[tuple[str, Any]] = ()
    if isinstance(value, dict):
        items = ((f"{path}.{key}", item) for key, item in value.items())
    elif isinstance(value, list):
        items = ((f"{path}[{index}]", item) for index, item in enumerate(value))
    return next((found for place, item in items if (found := _first_not_finite(item, place))), "")
