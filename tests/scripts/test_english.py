"""`python scripts/english.py` names sentences that begin with a question word, and counts vague names."""

from __future__ import annotations

import doctest
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from commands import ROOT, python
from script_modules import script

Check = Callable[[str, str], tuple[int, str]]


@pytest.fixture
def check(tmp_path: Path) -> Check:
    """Write a file of a project, and run the check on it; return its exit code and its output."""
    (tmp_path / "scripts").mkdir()
    shutil.copy(ROOT / "scripts/english.py", tmp_path / "scripts")
    (tmp_path / "prose").mkdir()
    subprocess.run(["git", "init", "-q", tmp_path], check=True)

    def run(name: str, text: str) -> tuple[int, str]:
        (tmp_path / "prose" / name).write_text(text, "utf-8")
        done = python(tmp_path / "scripts" / "english.py", "prose")
        return done.returncode, done.stdout

    return run


def test_a_sentence_that_makes_its_reader_wait_is_named_with_its_line(check: Check) -> None:
    code, output = check("page.md", "# Title\n\nIt is pinned. What is not pinned\nis drift.\n")
    assert code == 1
    assert "prose/page.md:3: opener: What is not pinned is drift." in output


def test_questions_code_and_tables_are_left_alone(check: Check) -> None:
    page = "Who knew it?\n\n```text\nWhat is printed.\n```\n\n| What it is | One |\n\n    When indented.\n"
    code, output = check("page.md", page)
    assert code == 0, output


def test_vague_names_are_named_and_counted(check: Check) -> None:
    code, output = check("room.py", "def rows(kept: int) -> int:\n    found = kept\n    return found\n")
    assert code == 0, output
    assert "prose/room.py:1: vague: kept\nprose/room.py:2: vague: found\nvague: 2 assignments" in output


def test_the_examples_of_the_counter_hold() -> None:
    examples = doctest.testmod(script("english"))
    assert examples.attempted
    assert not examples.failed
