"""The tutorial's blocks run, and print what the page says."""

from __future__ import annotations

import contextlib
import io
import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from orchestration.log_cli import log_app

PAGE = Path(__file__).resolve().parents[2] / "docs" / "tutorial.md"


def blocks() -> list[tuple[str, str, str | None]]:
    """Language, text and expected output of each block that runs."""
    found = re.findall(r"^```(\w+)\n(.*?)^```$", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    following = [*found[1:], ("", "")]
    return [(kind, text, after if next_ == "text" else None) for (kind, text), (next_, after) in zip(found, following, strict=True) if kind != "text"]


def run(command: str) -> str:
    program, group, *arguments = shlex.split(command)
    assert (program, group) == ("substrate", "log")
    result = CliRunner().invoke(log_app, arguments)
    assert result.exit_code == (1 if arguments[0] == "diff" else 0), result.output
    return result.stdout


def test_the_tutorial_runs_and_prints_what_it_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for kind, text, expected in blocks():
        if kind == "python":
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                exec(compile(text, str(PAGE), "exec"), names)
            output = printed.getvalue()
        else:
            assert kind == "sh"
            output = "".join(map(run, text.splitlines()))
        if expected is not None:
            assert re.sub(r"sha256:[0-9a-f]{64}", "sha256:DIGEST", output) == expected, text


def test_the_tutorial_shows_every_step() -> None:
    assert {kind for kind, _, _ in blocks()} == {"python", "sh"}
    assert len(blocks()) >= 14
