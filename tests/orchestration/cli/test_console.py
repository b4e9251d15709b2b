"""A run's lines where there is no terminal, and one way to the terminal for all commands."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from rich.tree import Tree

from orchestration.base.progress import advance
from orchestration.cli import console, trace
from orchestration.lineage.listing import Counted, Derived, Entry

ROOT = Path(__file__).resolve().parents[3]
# Files that may write to the terminal: they escape control characters, or pass on the output of others.
DOORS = ("printing.py", "console.py", "notices.py")
PLAIN = (
    "sys.stdout.write(f'substrate {__version__}\\n')",
    "sys.stdout.write(_ABOUT.format(version=__version__))",
)


def test_commands_write_to_a_terminal_in_one_place() -> None:
    raw = ("sys.stdout.write", "sys.stderr.write", "typer.echo", "typer.secho", "print")
    paths = [path for room in ("substrate/cli", "orchestration/cli") for path in (ROOT / room).glob("*.py")]
    assert len(paths) > len(DOORS)
    for path in paths:
        calls = [node for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.Call)]
        writes = [ast.unparse(call) for call in calls if ast.unparse(call.func) in raw]
        writes = [call for call in writes if call not in PLAIN and path.name not in DOORS]
        assert not writes, f"{path.relative_to(ROOT)}: use substrate.cli.printing"


def test_a_trace_sends_a_terminal_no_control_characters(capsys: pytest.CaptureFixture[str]) -> None:
    trace.console().print(Tree(trace.escape("\x1b[2J \x9b1m \u202e [bold]")))
    assert capsys.readouterr().out == "\\u001b[2J \\u009b1m \\u202e [bold]\n"


def test_a_text_in_an_outline_is_no_markup_and_no_line_of_its_own(capsys: pytest.CaptureFixture[str]) -> None:
    entry = Entry("a[bold]\n  b", "nowhere", None, None, None, None, None, "none", None)
    made = Derived(None, [Counted("c [red]\nd", 1, 2, "e.json")], "counted")
    trace.console().print(trace.outline("derived", entry, made, "here", "sample", {}, "go on"))
    lines = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    assert lines == [
        "a[bold]",
        "  b here (profile sample)",
        "└── made of counted",
        "    └── c [red]",
        "        d: 1 of 2 (e.json)",
    ]


def test_a_long_stage_of_requests_says_its_pace_and_the_time_left(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 0.0
    monkeypatch.setattr("time.monotonic", lambda: now)
    names = ["twin/dataset", "twin_direct/dataset"]
    with console.reporting(names):
        # Replies of an earlier run come at once, then one in ten seconds; in the end no more come.
        for now in range(1, 401):
            advance(names[1], 40 + min(now, 300) // 10, 1000 if now > 5 else 0, "replies")
    lines = capsys.readouterr().err.splitlines()
    assert 400 / 15 <= len(lines) <= 50
    assert f"[1/2] {names[1]}  70 of 1,000 replies, 6.0 a minute, about 2 h 34 min left" in lines
    assert lines[-1].endswith("70 of 1,000 replies, 4.1 a minute, about 3 h 49 min left")
