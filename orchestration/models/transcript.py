"""Requests to a language model and its replies, by content: finished runs replay without the model.

There is one file per model, revision and baseline. New requests are added to it, and nothing is ever removed;
a run with fewer questions is a view of it.

Each request is a line: its address, the request in canonical JSON (model, revision, seed, messages, schema; a
picture is its hash), the reply, and a digest of both. The address is the SHA-256 of the request, so that no
answer is used for another question. An edited line no longer matches its digest.
"""

from __future__ import annotations

import gzip
import hashlib
import re
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import msgspec

from substrate.base.errors import FormatError, LogError, LogHeldError, SubstrateError
from substrate.base.files import make_folders, naming, replacing
from substrate.base.inputs import NOT_JSON, read_bytes, require_distinct_keys
from substrate.baselines.model import Image, ReplyError, Request
from substrate.baselines.parameters import MODEL_URL, Baseline
from substrate.log.journal import Journal as AppendedFile


class TranscriptError(SubstrateError):
    """A transcript lacks a requested reply, or another run is writing it."""


class Answerer(msgspec.Struct, frozen=True, omit_defaults=True):
    """The model behind a reply, in the server's own words; empty where it says nothing; ``weights`` is
    ``sha256:`` and their digest.
    """

    model: str = ""
    fingerprint: str = ""
    server: str = ""
    quantisation: str = ""
    weights: str = ""


class Reply(msgspec.Struct, frozen=True, omit_defaults=True):
    """The reply of a server.

    Attributes:
        content: the text.
        finish_reason: why it ended.
        format: how it was held to the schema: ``json_schema``, ``text``, or ``json_object`` in older ones.
        by: who replied.
        prompt_tokens: tokens of the request.
        completion_tokens: tokens of the reply.
        error: why there is no reply: the request does not fit into the model's context.
    """

    content: str
    finish_reason: str | None
    format: str
    by: Answerer = Answerer()
    prompt_tokens: int = 0
    completion_tokens: int = 0
    error: str = ""


class Exchange(msgspec.Struct, frozen=True, omit_defaults=True):
    """A line of a transcript; ``seconds`` stands in the journal alone, and no digest is over it."""

    address: str
    digest: str
    request: dict[str, Any]
    reply: Reply
    seconds: float = 0.0


def make_record(request: dict[str, Any], reply: Reply, seconds: float = 0.0) -> Exchange:
    """Make the record of a canonical request and its reply."""
    digest = address({"request": request, "reply": msgspec.to_builtins(reply)})
    return Exchange(address(request), digest, request, reply, seconds)


Records = dict[str, Exchange]
"""The records of a transcript by address."""


def canonical(request: Request, baseline: Baseline) -> dict[str, Any]:
    """Everything that an answer depends on, as JSON; of a picture its name, type and hash."""
    messages = [
        {"role": message.role, "text": message.text, "images": [*map(_without_data, message.images)]}
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


def _without_data(image: Image) -> dict[str, str]:
    return {"name": image.name, "media_type": image.media_type, "sha256": image.sha256}


def address(content: dict[str, Any]) -> str:
    """The SHA-256 of a JSON record, independent of the order of its keys.

    >>> address({"b": 1, "a": 2}) == address({"a": 2, "b": 1})
    True
    """
    return f"sha256:{hashlib.sha256(msgspec.json.encode(content, order='sorted')).hexdigest()}"


def again(request: dict[str, Any]) -> dict[str, Any]:
    """The second asking of a canonical request, which tests whether the reply repeats."""
    return {**request, "again": 1}


def repeated(name: str) -> bool:
    """Tell whether the request at an address is in the twentieth of requests that are asked twice."""
    return int(name[-8:], 16) % 20 == 0


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


TOLD = "model.json"
"""The file next to a profile's copy of a transcript that names the answering model."""


class Told(msgspec.Struct, frozen=True):
    """The model behind some records: as it was asked for, as the server named it, and what it took.

    ``seconds`` is the mean time of a request, 0 where it is not known; of the requests that were asked twice,
    ``repeated``, those with the same reply ``agreed``.
    """

    model: str
    revision: str
    answered: list[Answerer]
    requests: int
    prompt_tokens: int
    completion_tokens: int
    seconds: float
    repeated: int
    agreed: int

    @property
    def name(self) -> str:
        """The answering model, with its known properties.

        >>> said = Answerer("Small.Q4_1", "b1", "xllamacpp 1", "Q4_1", "sha256:0123456789abcdef")
        >>> Told("Small.Q4_1", "sha256:0123456789abcdef", [said], 1, 2, 3, 0.5, 0, 0).name
        'Small.Q4_1 (Q4_1, weights 0123456789ab, xllamacpp 1)'
        """
        named = []
        for by in self.answered:
            weights = by.weights or self.revision
            about = (by.quantisation, f"weights {weights.removeprefix('sha256:')[:12]}", by.server)
            alias = f", asked for as {self.model}" if by.model and by.model != self.model else ""
            unnamed = "" if by.model else ", the server names no model"
            named.append(f"{by.model or self.model} ({', '.join(filter(None, about))}{alias}{unnamed})")
        return " and ".join(named) or self.model


def told(records: Records, baseline: Baseline, took: Took) -> Told:
    """Describe the model that answered in some records of one baseline."""
    first = [record for record in records.values() if "again" not in record.request]
    repeats = [(record, records.get(address(again(record.request)))) for record in first]
    agreed = [record.reply.content == repeat.reply.content for record, repeat in repeats if repeat]
    by = {
        msgspec.structs.replace(record.reply.by, fingerprint="") for record in first if not record.reply.error
    }
    asked = str(baseline.model), baseline.revision, sorted(by, key=msgspec.structs.astuple), len(first)
    prompt = sum(record.reply.prompt_tokens for record in first)
    completion = sum(record.reply.completion_tokens for record in first)
    seconds = round(took.seconds / took.requests, 1) if took.requests else 0.0
    return Told(*asked, prompt, completion, seconds, len(agreed), sum(agreed))


def read_told(folder: Path) -> Told | None:
    """The model behind a profile's copy of a transcript; ``None`` if nothing was measured."""
    path = folder / TOLD
    return msgspec.json.decode(read_bytes(path), type=Told) if path.is_file() else None


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
    lines = b"".join(_line(msgspec.structs.replace(records[name], seconds=0.0)) for name in sorted(records))
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


def content(reply: Reply) -> str:
    """The text of a reply.

    Raises:
        ReplyError: there is no text; gives the reason.
    """
    if reply.error:
        raise ReplyError(reply.error)
    return reply.content


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
    """A model that replays a transcript and answers nothing else."""

    def __init__(self, records: Records, baseline: Baseline) -> None:
        self._records = records
        self._baseline = baseline
        self.asked: list[str] = []
        """The addresses of the requests, in order."""

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
        return content(self._records[name].reply)
