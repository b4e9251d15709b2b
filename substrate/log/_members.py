"""The members of a gzip log.

A gzip journal has one member per append. The member's header has its length and a checksum of the packed
bytes, which tells a torn member from a damaged one and reveals every changed bit. Any gzip reader can read
the file, and the journal reads gzip files of other programs.
"""

from __future__ import annotations

import re
import struct
import zlib
from io import BytesIO
from pathlib import Path
from typing import BinaryIO, NamedTuple

from substrate.base.errors import LogError
from substrate.base.limits import LIMITS, SMALL
from substrate.log.patch import EDITED

# RFC 1952: magic, deflate, FHCRC | FEXTRA, no time, no level, no system; then 20 extra bytes: a field "SL" of
# 16 bytes.
_FIXED = b"\x1f\x8b\x08\x06\x00\x00\x00\x00\x00\xff\x14\x00SL\x10\x00"
# The length of the member's body, the body's CRC-32, and the member's first tick
_EXTRA = struct.Struct("<IIQ")
_HEAD = len(_FIXED) + _EXTRA.size + 2
_WORD = 0xFFFFFFFF
_TICK = re.compile(r'^H tick "(\d{1,18})" \.$', re.MULTILINE)
# The fewest bytes in which another program's header differs from ours
_FOREIGN = 4
# The most bytes of a damaged member that are unpacked to find its tick
_SALVAGED = 1 << 24
# Characters of text per gzip member in a file written at once
MEMBER = 1 << 18


class Damage(NamedTuple):
    """A damaged gzip member: its offset and fault, and its first tick and data as far as readable."""

    offset: int
    why: str
    tick: int | None
    data: bytes

    def error(self, path: Path) -> LogError:
        """The error for the file."""
        place = f"byte {self.offset}" if self.tick is None else f"from tick {self.tick}"
        return LogError(f"damaged: {self.why}", where=(path, place), hint=EDITED)


class Contents(NamedTuple):
    """The content of a journal file.

    ``data`` gives all readable bytes from the beginning. ``ends`` has, for each whole gzip member, its end in
    the data and its end in the file; it is empty for plain text. ``size`` is the file's size in bytes.
    """

    data: BinaryIO
    ends: list[tuple[int, int]]
    size: int
    damage: Damage | None = None


def unpacked_contents(raw: bytes) -> Contents:
    """The contents of a file of gzip members, up to the first damaged member."""
    parts: list[bytes] = []
    ends: list[tuple[int, int]] = []
    unpacked = offset = 0
    damage = None
    while offset < len(raw) and not damage:
        data, end, why = _unpack(raw, offset)
        if why:
            salvaged, header = _salvage(raw, offset), _header(raw, offset)
            tick = header[2] if header else _first_tick(salvaged.decode("utf-8", "replace"))
            damage = Damage(offset, why, tick, salvaged)
        elif end is None:
            break
        else:
            parts.append(data)
            unpacked, offset = unpacked + len(data), end
            ends.append((unpacked, offset))
    return Contents(BytesIO(b"".join(parts)), ends, len(raw), damage)


def pack(text: str) -> bytes:
    """Pack a text as one gzip member with our header."""
    data = text.encode()
    packer = zlib.compressobj(wbits=-15)
    body = packer.compress(data) + packer.flush() + struct.pack("<II", zlib.crc32(data), len(data) & _WORD)
    head = _FIXED + _EXTRA.pack(len(body), zlib.crc32(body), _first_tick(text) or 0)
    return head + struct.pack("<H", zlib.crc32(head) & 0xFFFF) + body


def _first_tick(text: str) -> int | None:
    tick = _TICK.search(text)
    return int(tick[1]) if tick else None


def _header(raw: bytes, offset: int) -> tuple[int, int, int] | None:
    """The length, checksum and first tick in a member's header; ``None`` if the header is not ours."""
    head = raw[offset : offset + _HEAD]
    sound = head.startswith(_FIXED) and zlib.crc32(head[:-2]) & 0xFFFF == int.from_bytes(head[-2:], "little")
    return _EXTRA.unpack_from(head, len(_FIXED)) if sound and len(head) == _HEAD else None


def _unpack(raw: bytes, offset: int) -> tuple[bytes, int | None, str]:
    """A member's data, its end (``None`` if it is cut off) and its fault, if any."""
    if header := _header(raw, offset):
        length, checksum, _ = header
        end = offset + _HEAD + length
        if end > len(raw):
            return b"", None, ""
        if zlib.crc32(raw[offset + _HEAD : end]) != checksum:
            return b"", None, "it does not fit its checksum"
        return _inflate(raw[offset:end], end)
    strange = sum(a != b for a, b in zip(raw[offset : offset + _HEAD], _FIXED, strict=False))
    if strange < _FOREIGN:
        cut = not strange and len(raw) - offset < _HEAD
        return b"", None, "" if cut else "its header was changed"
    data, end, why = _inflate(raw[offset:], len(raw))
    # Our appends have our header, so a cut-off member without it is not the result of our crash.
    return data, end, why or ("" if end else "it is cut off, and another program wrote it")


def _inflate(data: bytes, end: int) -> tuple[bytes, int | None, str]:
    """Unpack a member with gzip's own checks; ``end`` is where ``data`` ends in the file."""
    unpacker = zlib.decompressobj(wbits=31)
    most = min(LIMITS.unpacked, max(SMALL, LIMITS.ratio * len(data)))
    try:
        text = unpacker.decompress(data, most)
    except zlib.error as error:
        return b"", None, str(error)
    if unpacker.unconsumed_tail and not unpacker.eof:
        return b"", None, f"it unpacks to more than {most} bytes; if that is intended, set SUBSTRATE_LIMITS"
    return text, end - len(unpacker.unused_data) if unpacker.eof else None, ""


def _salvage(raw: bytes, offset: int) -> bytes:
    """Unpack a damaged member as far as possible, to find the tick of the damage."""
    best = b""
    for start in (offset + _HEAD, offset + 10):
        unpacker, data = zlib.decompressobj(wbits=-15), bytearray()
        try:
            for byte in range(start, len(raw)):
                data += unpacker.decompress(raw[byte : byte + 1])
                if unpacker.eof or len(data) > _SALVAGED:
                    break
        except zlib.error:
            pass
        best = max(best, bytes(data), key=len)
    return best
