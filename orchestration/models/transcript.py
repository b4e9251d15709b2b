"""Requests to a language model and its replies, by content: finished runs replay without the model.

There is one file per model, revision and baseline. New requests are added to it, and nothing is ever removed;
a run with fewer questions is a view of it.

Each line is an :class:`.Exchange`. While a run asks, its exchanges grow in a journal beside the transcript;
:func:`settle` moves them into it.
"""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import msgspec

from orchestration.models.exchange import Exchange, Records, address, canonical, make_record
from substrate.base.errors import FormatError, LogError, LogHeldError, SubstrateError
from substrate.base.files import make_folders, naming, replacing
from substrate.base.inputs import NOT_JSON, read_bytes, require_distinct_keys
from substrate.baselines.model import Request
from substrate.baselines.parameters import MODEL_URL, Baseline
from substrate.log.journal import Journal as AppendedFile


class TranscriptError(SubstrateError):
    """A transcript lacks a requested reply, or another run is writing it."""


def file_of(folder: Path, baseline: Baseline) -> Path:
    """The path of the transcript of a baseline's model and revision.

    >>> file_of(Path("t"), Baseline("me/Llama", 3, revision="sha256:0123456789abcdef")).as_posix()
    't/me-Llama@sha256-0123456789ab.jsonl.gz'
    """
    revision = re.sub(r"^(sha256:)?([0-9a-f]{12})[0-9a-f]*$", r"\1\2", baseline.revision)
    name = re.sub(r"[^A-Za-z0-9._@-]+", "-", f"{baseline.model}@{revision}")
    return folder / f"{name}.jsonl.gz"


def partial_of(transcript: Path) -> Path:
    """The path of a transcript's journal."""
    return _beside(transcript, "partial.jsonl")


def took_of(transcript: Path) -> Path:
    """The path of the file with the duration of a transcript's requests."""
    return _beside(transcript, "took.json")


def _beside(transcript: Path, suffix: str) -> Path:
    return transcript.with_name(f"{transcript.name.removesuffix('.gz').removesuffix('.jsonl')}.{suffix}")


class Took(msgspec.Struct, frozen=True):
    """The number of timed requests, and their seconds."""

    requests: int = 0
    seconds: float = 0.0


def read_took(transcript: Path) -> Took:
    """Read the duration of a transcript's requests; zero if it is unknown."""
    path = took_of(transcript)
    return msgspec.json.decode(read_bytes(path), type=Took) if path.is_file() else Took()


def read_transcript(path: Path) -> Records:
    """Read a transcript, compressed if its name ends in ``.gz``; empty if there is no file.

    Raises:
        FormatError: a line is cut off, or was edited.
    """
    if not path.is_file():
        return {}
    return _records(read_bytes(path), path)


def write_transcript(path: Path, records: Records) -> None:
    """Write all records, sorted by address, so that their order of arrival does not matter."""
    lines = b"".join(_line(records[name].untimed()) for name in sorted(records))
    with replacing(path) as fresh:
        fresh.write_bytes(gzip.compress(lines, mtime=0) if path.suffix == ".gz" else lines)


def settle(transcript: Path) -> None:
    """Move a journal's records into its transcript; do nothing if there is no journal.

    Raises:
        TranscriptError: a run is writing the journal.
    """
    path = partial_of(transcript)
    if not path.is_file():
        return
    with journal(path) as written:
        if fresh := written.records:
            known, before = read_transcript(transcript), read_took(transcript)
            write_transcript(transcript, known | fresh)
            new = [record.seconds for name, record in fresh.items() if name not in known]
            took = Took(before.requests + len(new), round(before.seconds + sum(new), 1))
            with replacing(took_of(transcript)) as out:
                out.write_bytes(msgspec.json.encode(took) + b"\n")
        path.unlink()


def _line(record: Exchange) -> bytes:
    return msgspec.json.encode(record, order="sorted") + b"\n"


def _records(lines: bytes, path: Path) -> Records:
    read = (_record(line, f"{path.name}:{number}") for number, line in enumerate(lines.splitlines(), start=1))
    return {record.address: record for record in read}


def _record(line: bytes, where: str) -> Exchange:
    hint = "Restore the file from the repository's history"
    try:
        record = msgspec.json.decode(line, type=Exchange)
        require_distinct_keys(line, where)
    except NOT_JSON as error:
        raise FormatError(f"not a record of a transcript ({error})", where=(where,), hint=hint) from error
    if record != make_record(record.request, record.reply, record.seconds):
        raise FormatError("request and reply differ from the record", where=(where,), hint=hint)
    return record


class Journal:
    """The records of an unfinished run, each on disk before its use; a killed run loses none."""

    def __init__(self, file: AppendedFile, records: Records) -> None:
        self._file = file
        self.records = records

    def append(self, record: Exchange) -> None:
        """Add a record, and wait for the disk; only one writer at a time.

        Raises:
            TranscriptError: the disk refuses it; the file is cut back to the record before. If that fails
                too, nothing more is added.
        """
        try:
            self._file.check()
            self._file.append(_line(record).decode())
        except LogError as error:
            full = isinstance(error.__cause__, OSError)
            hint = f"{'Free some space and run' if full else 'Run'} again: what was written is kept"
            raise TranscriptError(f"the answer is not kept: {error.what}", hint=hint) from error
        self.records[record.address] = record


@contextmanager
def journal(path: Path) -> Iterator[Journal]:
    """Open a run's journal, with the records of a killed run. A torn last line is dropped, as is a tail of
    zeros, which a loss of power leaves.

    Raises:
        TranscriptError: another run is writing the journal.
        LogError: the file cannot be appended to or locked.
        FormatError: a complete line is damaged.
    """
    make_folders(path.parent)
    try:
        with naming(path):
            file = AppendedFile(path)
    except LogHeldError:
        what, hint = "another run is asking for this baseline", "Wait for it to end"
        raise TranscriptError(what, where=(path.name,), hint=hint) from None
    with closing(file):
        with naming(path):
            data = path.read_bytes()
            whole = data[: data.rfind(b"\n") + 1]
            last = whole.rfind(b"\n", 0, -1) + 1
            if b"\0" in whole[last:]:
                whole = whole[:last]
            file.drop(len(whole))
        yield Journal(file, _records(whole, path))


class Replay:
    """A model that replays a transcript and answers nothing else.

    Attributes:
        asked: the addresses of the requests, in order.
    """

    def __init__(self, records: Records, baseline: Baseline) -> None:
        self._records = records
        self._baseline = baseline
        self.asked: list[str] = []

    def ask(self, request: Request) -> str:
        """Return the recorded reply.

        Raises:
            TranscriptError: the request is not in the transcript.
            ReplyError: the server said that the request does not fit its context.
        """
        name = address(canonical(request, self._baseline))
        if name not in self._records:
            hint = f"Set {MODEL_URL} to ask for what is missing, or a smaller n to do without it"
            raise TranscriptError(f"the transcript has no answer to request {name}", hint=hint)
        self.asked.append(name)
        return self._records[name].reply.text()
