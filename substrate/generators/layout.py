"""Generated scenes as the files of a release: one archive of a kind, and one question file."""

from __future__ import annotations

import io
import os
import shutil
import struct
import tempfile
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Any, NamedTuple
from zipfile import ZipFile, ZipInfo

import msgspec

QUESTIONS = "questions"
"""The key under which a scene's files have its questions."""
_UNIX = 3
_scene = msgspec.json.Decoder(dict[str, msgspec.Raw])


class Listing(NamedTuple):
    """The bytes that stand before, between and after the records of a file."""

    begin: bytes = b""
    between: bytes = b""
    end: bytes = b""


LIST = Listing(b"[", b",", b"]")


def encode_scene(files: Mapping[str, Any]) -> bytes:
    """A scene's records by file name as bytes, for :func:`write_release`."""
    return msgspec.json.encode(files)


def write_release(out: Path, scenes: Iterable[bytes]) -> int:
    """Write scenes as a release does: ``annotation.zip``, ``truth.zip`` and the list ``questions.json``.

    A file ``KIND/…`` of a scene becomes a member of ``KIND.zip``. The same scenes give the same bytes:
    members are stored as they are, in order and without a date.

    Args:
        out: the folder, made where it is absent.
        scenes: what :func:`encode_scene` gave, by scene.

    Returns:
        How many questions there are.
    """
    out.mkdir(parents=True, exist_ok=True)
    archives: dict[str, ZipFile] = {}
    asked, before = 0, LIST.begin
    with ExitStack() as stack:
        questions: io.BufferedWriter = stack.enter_context((out / "questions.json").open("wb"))
        for scene in scenes:
            for name, record in _scene.decode(scene).items():
                if name == QUESTIONS:
                    questions.write(before)
                    questions.write(record)
                    before = LIST.between
                    asked += len(msgspec.json.decode(record, type=_Asked).questions)
                    continue
                kind, _, member = name.partition("/")
                if kind not in archives:
                    archives[kind] = stack.enter_context(ZipFile(out / f"{kind}.zip", "w"))
                info = ZipInfo(member)
                info.create_system = _UNIX
                archives[kind].writestr(info, record)
        questions.write(LIST.end if before == LIST.between else LIST.begin + LIST.end)
    return asked


class _Asked(msgspec.Struct):
    questions: list[msgspec.Raw]


def join_parts(
    out: Path, parts: Iterable[Iterable[tuple[str, IO[bytes]]]], _: int = 0, *, listing: Listing = LIST
) -> None:
    """Write the release of which each part is some scenes, written as a release of their own.

    It has the bytes that the scenes give when they are written at once. No record is decoded, and none is
    held: a zip's members are copied, and its directory grows on disk.

    Args:
        out: the folder, made where it is absent.
        parts: in order; each has its files by name, open to be read.
        listing: what stands between the records of JSON files; any other file, but a zip, has nothing there.
    """
    out.mkdir(parents=True, exist_ok=True)
    files: dict[str, _Joined | _JoinedZip] = {}
    with ExitStack() as stack:
        for part in parts:
            for name, file in part:
                if name not in files:
                    whole = stack.enter_context((out / name).open("wb"))
                    between = listing if name.endswith(".json") else Listing()
                    files[name] = _JoinedZip(whole) if name.endswith(".zip") else _Joined(whole, between)
                    stack.callback(files[name].close)
                files[name].add(file)


class _Joined:
    """A file of records, to which those of others are added."""

    def __init__(self, file: IO[bytes], listing: Listing) -> None:
        self._file, self._listing, self._empty = file, listing, True

    def add(self, part: IO[bytes]) -> None:
        begin, between, end = self._listing
        nothing = part.seek(0, os.SEEK_END) == len(begin) + len(end)
        part.seek(0)
        if self._file.tell() and not nothing:
            self._file.seek(-len(end), os.SEEK_CUR)
            self._file.write(b"" if self._empty else between)
            part.seek(len(begin))
        if not (self._file.tell() and nothing):
            shutil.copyfileobj(part, self._file, _BLOCK)
        self._empty = self._empty and nothing

    def close(self) -> None:
        """Nothing is left to write."""


class _JoinedZip:
    """A zip archive, to which the members of others are added as they are; bytes as :mod:`zipfile` has them.

    Source: PKWARE, .ZIP File Format Specification 6.3.10, 4.3.12 to 4.3.16 and 4.5.3.
    """

    def __init__(self, file: IO[bytes]) -> None:
        self._file, self._directory, self._count = file, tempfile.TemporaryFile(), 0  # noqa: SIM115

    def add(self, part: IO[bytes]) -> None:
        with ZipFile(part) as archive:
            members, start = len(archive.infolist()), archive.start_dir
        begin = self._file.tell()
        part.seek(0)
        shutil.copyfileobj(part, self._file, _BLOCK)
        self._file.seek(begin + start)  # the next one, or the directory, takes the place of the part's own
        part.seek(start)
        for _ in range(members):
            fields = list(_MEMBER.unpack(part.read(_MEMBER.size)))
            name, extra, comment = (part.read(fields[at]) for at in _LENGTHS)
            place = fields[_PLACE] + begin
            if place > FAR:
                extra = struct.pack("<HHQ", 1, 8, place) + extra
                fields[_VERSION_MADE], fields[_VERSION_NEEDED] = _ZIP64, _ZIP64
            fields[_LENGTHS[1]], fields[_PLACE] = len(extra), 0xFFFFFFFF if place > FAR else place
            self._directory.write(_MEMBER.pack(*fields) + name + extra + comment)
        self._count += members

    def close(self) -> None:
        """Write the directory."""
        start, size, count = self._file.tell(), self._directory.tell(), self._count
        self._directory.seek(0)
        with self._directory:
            shutil.copyfileobj(self._directory, self._file, _BLOCK)
        if count > MANY or start > FAR or size > FAR:
            end = b"PK\6\6", 44, _ZIP64, _ZIP64, 0, 0, count, count, size, start
            self._file.write(struct.pack("<4sQ2H2L4Q", *end))
            self._file.write(struct.pack("<4sLQL", b"PK\6\7", 0, start + size, 1))
        count, size, start = min(count, 0xFFFF), min(size, 0xFFFFFFFF), min(start, 0xFFFFFFFF)
        self._file.write(struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, count, count, size, start, 0))
        self._file.truncate()


FAR = (1 << 31) - 1
"""The last place in an archive that :mod:`zipfile` writes without a field of Zip64's."""
MANY = (1 << 16) - 1
"""The largest number of members of an archive without Zip64's end."""
_BLOCK = 1 << 20
_MEMBER = struct.Struct("<4s4B4HL2L5H2L")
"""An entry of a zip's directory, without its name, extra fields and comment."""
_VERSION_MADE, _VERSION_NEEDED, _LENGTHS, _PLACE = 1, 3, (12, 13, 14), 18
_ZIP64 = 45
