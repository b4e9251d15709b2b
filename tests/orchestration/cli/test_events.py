"""The stream of events that a long command writes."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest
from commands import ROOT, python
from typer.testing import CliRunner

from orchestration.cli.main import app
from substrate.cli.events import FIELDS, Bars, Event, speaking


def events(file: Path, *arguments: object, code: int = 0) -> list[Event]:
    """The events that a command writes to a new file."""
    file.unlink(missing_ok=True)
    done = CliRunner().invoke(app, [*map(str, arguments)], env={"SUBSTRATE_EVENTS": str(file)})
    assert done.exit_code == code, done.output
    return decoded(file.read_text("utf-8"))


def decoded(lines: str) -> list[Event]:
    """The events of some lines; a field too many or too few is an error."""
    stream = [*map(json.loads, lines.splitlines())]
    assert all([*event] == ["event", "at", *FIELDS[event["event"]]] for event in stream)
    return stream


def test_every_event_and_field_is_in_the_page_of_commands() -> None:
    page = (ROOT / "docs/commands.md").read_text("utf-8").partition("## Events")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (?:`(\w+)`)? ?\| `(\w+)` \|", page, re.MULTILINE)
    documented: dict[str, list[str]] = {}
    for event, field in rows:
        documented.setdefault(event or list(documented)[-1], []).append(field)
    assert {event: tuple(fields) for event, fields in documented.items()} == FIELDS


def test_a_machine_reads_what_a_command_does_and_how_it_ended(tmp_path: Path) -> None:
    file = tmp_path / "events.jsonl"
    begun, *_, ended, done = events(file, "generate", "babi", "--questions", 20, "--out", tmp_path / "tasks")
    assert (begun["event"], begun["command"]) == ("begun", "generate")
    assert (ended["event"], ended["part"], ended["how"], ended["rows"]) == ("ended", "babi", "computed", 20)
    assert (done["event"], done["exit"]) == ("done", 0)
    assert done["result"] == {"out": str(tmp_path / "tasks"), "questions": 20, "seed": 20}
    rows = tmp_path / "rows.jsonl"
    *_, ended, done = events(file, "answer", "babi", "--tasks", tmp_path / "tasks", "--out", rows)
    assert (ended["event"], ended["rows"]) == ("ended", len(rows.read_bytes().splitlines()))
    assert done["text"].startswith(f"{done['result']['questions']} questions")
    *_, error, done = events(file, "answer", "babi", "--tasks", tmp_path / "nope", "--out", rows, code=1)
    assert (error["event"], error["level"]) == ("said", "error")
    assert "is not there" in error["text"]
    assert (done["exit"], done["result"]) == (1, None)


def test_a_run_writes_events_before_it_loads_slow_modules(tmp_path: Path) -> None:
    barred = (
        "import os, sys\n"
        "class Barred:\n"
        "    def find_spec(self, name, *_):\n"
        "        if name in ('dagster', 'pyspark', 'rich', 'numpy'): os._exit(86)\n"
        "sys.meta_path.insert(0, Barred())\n"
        "sys.argv[1:] = ['reproduce', '--only', 'babi']\n"
        "from substrate.cli.launcher import main; main()"
    )
    file = tmp_path / "events.jsonl"
    assert python("-c", barred, SUBSTRATE_EVENTS=str(file)).returncode == 86, (
        "the slow modules are loaded later"
    )
    first, second, *_ = decoded(file.read_text("utf-8"))
    assert (first["event"], second["event"]) == ("begun", "doing")


def test_a_command_that_was_silent_for_long_says_what_it_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file, now = tmp_path / "events.jsonl", 0.0
    monkeypatch.setenv("SUBSTRATE_EVENTS", str(file))
    monkeypatch.setattr("substrate.cli.events.time.monotonic", lambda: now)
    with speaking("verify") as stream:
        stream.doing("holding every file against its hash")
        now = 12.0
        for _ in range(600):
            if len(file.read_bytes().splitlines()) > 2:
                break
            time.sleep(0.05)
    *_, progress, done = decoded(file.read_text("utf-8"))
    assert (progress["event"], progress["part"]) == ("progress", "holding every file against its hash")
    assert (progress["took"], done["exit"]) == (12.0, 0)
    assert capsys.readouterr().err.splitlines()[-1] == f"{progress['part']}  12 s so far"


@pytest.mark.parametrize("plain", [True, False])
def test_a_terminal_has_a_line_for_each_part_and_colours_where_they_are_wanted(
    plain: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("NO_COLOR", "1" if plain else "")
    ours, terminal = os.openpty()
    written = bytearray()
    with os.fdopen(terminal, "w", encoding="utf-8") as screen:
        bars = Bars(screen)
        part = {"part": "a", "number": 1, "of": 2}
        counted = {"done": 1, "total": 4, "unit": "rows", "pace": 0.5, "left": 6, "took": 2}
        bars.show({"event": "progress", **part, **counted})
        bars.show({"event": "ended", **part, "how": "computed", "rows": 4, "took": 8})
        bars.stop()
    # The kernel hands over what was written in pieces, and raises at the end.
    with suppress(OSError):
        while piece := os.read(ours, 100_000):
            written += piece
    os.close(ours)
    text = written.decode()
    assert "1 of 4 rows, 30.0 a minute, about 6 s left" in text
    assert "[1/2] a  computed  4 rows  8.0 s" in text
    assert ("\x1b[3" in text) is not plain


def test_the_work_goes_on_though_nobody_reads_the_events() -> None:
    work = """
from substrate.cli.events import speaking
from substrate.cli.notices import others_apart
with others_apart(), speaking("work") as stream:
    for part in ("one", "another"):
        stream.doing(part)
print("done")
"""
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run([sys.executable, "-c", work], cwd=ROOT, stderr=writer, stdout=-1, check=False)
    os.close(writer)
    assert (done.returncode, done.stdout) == (0, b"done\n")
