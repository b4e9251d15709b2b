"""Generated scenes as the files of a release: one archive per kind, and one question file."""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple
from zipfile import ZipFile, ZipInfo

import msgspec

QUESTIONS = "questions"
"""The key of the questions among a scene's files."""
_UNIX = 3
_scene = msgspec.json.Decoder(dict[str, msgspec.Raw])


class Listing(NamedTuple):
    """The bytes before, between and after the records of a file."""

    begin: bytes = b""
    between: bytes = b""
    end: bytes = b""


LIST = Listing(b"[", b",", b"]")


def encode_scene(files: Mapping[str, Any]) -> bytes:
    """A scene's records by file name as bytes, for :func:`write_release`."""
    return msgspec.json.encode(files)


def write_release(out: Path, scenes: Iterable[bytes], _seed: int = 0) -> int:
    """Write scenes as a release does: ``annotation.zip``, ``truth.zip`` and the list ``questions.json``.

    A file ``KIND/…`` of a scene becomes a member of ``KIND.zip``. The same scenes give the same bytes:
    members are not compressed, are in order and have no date.

    Args:
        out: the folder, made if absent.
        scenes: the output of :func:`encode_scene`, by scene.
        _seed: ignored; every world's ``write`` is given it.

    Returns:
        The number of questions.
    """
    out.mkdir(parents=True, exist_ok=True)
    archives: dict[str, ZipFile] = {}
    question_count, before = 0, LIST.begin
    with ExitStack() as stack:
        questions: io.BufferedWriter = stack.enter_context((out / "questions.json").open("wb"))
        for scene in scenes:
            for name, record in _scene.decode(scene).items():
                if name == QUESTIONS:
                    questions.write(before)
                    questions.write(record)
                    before = LIST.between
                    question_count += len(msgspec.json.decode(record, type=_Asked).questions)
                    continue
                kind, _, member = name.partition("/")
                if kind not in archives:
                    archives[kind] = stack.enter_context(ZipFile(out / f"{kind}.zip", "w"))
                info = ZipInfo(member)
                info.create_system = _UNIX
                archives[kind].writestr(info, record)
        questions.write(LIST.end if before == LIST.between else LIST.begin + LIST.end)
    return question_count


class _Asked(msgspec.Struct):
    questions: list[msgspec.Raw]
