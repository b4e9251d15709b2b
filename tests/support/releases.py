"""Generated scenes as a folder of files, for tests that damage one of them; and tables of logs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from orchestration.project import open_workspace
from orchestration.workspace.log_table import LOGS, LogEntry, index_key
from orchestration.workspace.tables import sealed, shard_name
from substrate.generators.layout import QUESTIONS
from substrate.log.event_log import EventLog


def write_folder(out: Path, scenes: Iterable[Mapping[str, Any]]) -> Path:
    """Scenes' files under a folder, as an unpacked release has them, and their questions in one file."""
    questions: list[Any] = []
    for scene in scenes:
        for name, record in scene.items():
            if name == QUESTIONS:
                questions.append(record)
                continue
            (out / name).parent.mkdir(parents=True, exist_ok=True)
            (out / name).write_bytes(msgspec.json.encode(record))
    path = out / "questions.json"
    path.write_bytes(msgspec.json.encode(questions))
    return path


def write_logs(benchmark: str, logs: Mapping[str, EventLog]) -> None:
    """A benchmark's logs in the project around the current folder, by name."""
    stored = open_workspace().logs(benchmark)
    stored.index.parent.mkdir(parents=True, exist_ok=True)
    entries = [LogEntry(name, log.digest, len(log), "a test") for name, log in logs.items()]
    stored.index.write_bytes(b"".join(msgspec.json.encode(entry) + b"\n" for entry in entries))
    entries_and_logs = zip(entries, logs.values(), strict=True)
    values = [
        (n, 0, *msgspec.structs.astuple(entry), log.to_patch())
        for n, (entry, log) in enumerate(entries_and_logs)
    ]
    rows = [dict(zip(LOGS.names, row, strict=True)) for row in values]
    stored.storage.write_rows(rows, LOGS, stored.folders[0], "test", shard_name(0))
    table = sealed(f"{stored.folders[0]}/test", [len(rows)], [""], [len(rows)])
    stored.storage.write_record(table, stored.folders[0], index_key(stored.index))
