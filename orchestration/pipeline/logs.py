"""A folder of event logs: a file a scene, and an index that says what each was made from."""

from __future__ import annotations

from pathlib import Path

import msgspec

from substrate.log import EventLog

INDEX = "index.jsonl"


class LogEntry(msgspec.Struct, frozen=True):
    """A line of the index: a scene's log, by file name and digest, and its source."""

    file: str
    log: str
    deltas: int
    source: str


def write_log(folder: Path, file: str, log: EventLog, source: str) -> str:
    """Write one log to a folder; gives its line for the index."""
    path = folder / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(log.to_patch(), "utf-8")
    return msgspec.json.encode(LogEntry(file, log.digest, len(log), source)).decode()


def read_index(folder: Path) -> list[LogEntry]:
    """The index of a folder of logs."""
    decoder = msgspec.json.Decoder(LogEntry)
    return [decoder.decode(line) for line in (folder / INDEX).read_bytes().splitlines()]
