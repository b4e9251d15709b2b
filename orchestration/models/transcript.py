"""Requests to a language model and its replies, by content: a finished run replays without the model.

A line a request: its address, the request itself in canonical JSON (model, revision, seed, messages,
schema; a picture is its hash), the reply, and a digest of both. The address is the SHA-256 of the request,
so an answer is never taken for another question's; a line that was edited no longer fits its digest.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

from substrate.base.errors import FormatError, SubstrateError
from substrate.base.files import replacing
from substrate.base.inputs import read_bytes, require_distinct_keys
from substrate.baselines.model import Image, Request
from substrate.baselines.parameters import Baseline


class TranscriptError(SubstrateError):
    """A transcript lacks what is asked of it, or is being written by another run."""


class Reply(msgspec.Struct, frozen=True):
    """The reply of a server: the text, why it ended, and how it was held to the schema."""

    content: str
    finish_reason: str | None
    format: str
    """``json_schema``, ``json_object`` or ``text``: what the server took (see
    :mod:`orchestration.models.client`).
    """


class Exchange(msgspec.Struct, frozen=True):
    """A line of a transcript."""

    address: str
    digest: str
    request: dict[str, Any]
    reply: Reply


def make_record(request: dict[str, Any], reply: Reply) -> Exchange:
    """The record of a canonical request and its reply."""
    return Exchange(
        address(request), address({"request": request, "reply": msgspec.to_builtins(reply)}), request, reply
    )


_decoder = msgspec.json.Decoder(Exchange)
Records = dict[str, Exchange]
"""A transcript by address."""


def canonical(request: Request, baseline: Baseline) -> dict[str, Any]:
    """All that an answer depends on, as JSON; of a picture its name, type and hash."""
    messages = [
        {
            "role": message.role,
            "text": message.text,
            "images": [
                {"name": i.name, "media_type": i.media_type, "sha256": i.sha256} for i in message.images
            ],
        }
        for message in request.messages
    ]
    return {
        "model": baseline.model,
        "revision": baseline.revision,
        "seed": baseline.seed,
        "temperature": 0,
        "max_tokens": request.max_tokens,
        "messages": messages,
        "schema": request.schema,
    }


def address(content: dict[str, Any]) -> str:
    """The SHA-256 of a record of JSON, whatever the order of its keys.

    >>> address({"b": 1, "a": 2}) == address({"a": 2, "b": 1})
    True
    """
    return f"sha256:{hashlib.sha256(msgspec.json.encode(content, order='sorted')).hexdigest()}"


def read_transcript(path: Path) -> Records:
    """A finished transcript; none where there is no file.

    Raises:
        FormatError: a line is cut off, or was edited.
    """
    if not path.is_file():
        return {}
    return _records(read_bytes(path), path)


def write_transcript(path: Path, records: Records) -> None:
    """All records, ordered by address, so that the order in which they came leaves no trace."""
    with replacing(path) as fresh:
        fresh.write_bytes(b"".join(_line(records[name]) for name in sorted(records)))


def images_of(records: Records) -> dict[str, Image]:
    """The pictures that were asked about, by name, without their bytes."""
    return {
        image["name"]: Image(image["name"], image["media_type"], image["sha256"])
        for record in records.values()
        for message in record.request["messages"]
        for image in message["images"]
    }


def _line(record: Exchange) -> bytes:
    return msgspec.json.encode(record, order="sorted") + b"\n"


def _records(lines: bytes, path: Path) -> Records:
    read = (_record(line, f"{path.name}:{number}") for number, line in enumerate(lines.splitlines(), start=1))
    return {record.address: record for record in read}


def _record(line: bytes, where: str) -> Exchange:
    try:
        record = _decoder.decode(line)
        require_distinct_keys(line, where)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise FormatError(
            f"not a record of a transcript ({error})",
            where=(where,),
            hint="Restore the file from the repository's history",
        ) from error
    if record != make_record(record.request, record.reply):
        raise FormatError(
            "request and reply are not what was recorded",
            where=(where,),
            hint="Restore the file from the repository's history",
        )
    return record


class Journal:
    """The records of an unfinished run, each on disk before it is used; a killed run loses none of them."""

    def __init__(self, file: int, records: Records) -> None:
        self._file = file
        self.records = records

    def append(self, record: Exchange) -> None:
        """Add one record, in one write, and wait for the disk; for one writer at a time.

        Raises:
            TranscriptError: the disk does not take it; the file ends with the record before.
        """
        line, size = _line(record), os.fstat(self._file).st_size
        try:
            if os.write(self._file, line) < len(line):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            os.fsync(self._file)
        except OSError as error:
            os.ftruncate(self._file, size)
            raise TranscriptError(
                f"the answer cannot be written ({error.strerror})",
                hint="Free some space and run again: what was written is kept",
            ) from error
        self.records[record.address] = record


@contextmanager
def journal(path: Path) -> Iterator[Journal]:
    """The journal of a run, with what an earlier, killed one left; a torn last line is dropped.

    Raises:
        TranscriptError: another run is writing it.
        FormatError: a whole line is damaged.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
    try:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise TranscriptError(
                "another run is asking for this baseline", where=(path.name,), hint="Wait for it to end"
            ) from None
        kept = path.read_bytes()
        whole = kept[: kept.rfind(b"\n") + 1]
        os.ftruncate(file, len(whole))
        yield Journal(file, _records(whole, path))
    finally:
        os.close(file)


class Replay:
    """A model that says again what a transcript holds, and nothing else."""

    def __init__(self, records: Records, baseline: Baseline) -> None:
        self._records = records
        self._baseline = baseline

    def ask(self, request: Request) -> str:
        """The recorded reply.

        Raises:
            TranscriptError: this was never asked.
        """
        name = address(canonical(request, self._baseline))
        if name not in self._records:
            raise TranscriptError(
                f"the transcript has no answer to request {name}",
                hint="Set SUBSTRATE_MODEL_URL to ask for what is missing",
            )
        return self._records[name].reply.content
