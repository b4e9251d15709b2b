"""The how-to on traces runs as written, its example of drift included."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
from commands import invoke
from runnable_pages import Block, Page
from shared_project import run

PAGE = Page("how-to-trace.md")
DRIFTED = "substrate verify --no-recompute"


def beginnings(text: str) -> Iterator[str]:
    """Each line of an example up to its first number, hash or dots: what another sample's output has too."""
    for line in text.splitlines():
        beginning = re.match(r"(?:(?!code |sha256:)[^\d…“\"])*", line)
        # In the small sample, none of the example's questions is answered wrong.
        if beginning and beginning[0].strip() and "not right:" not in line:
            yield beginning[0]


def output(project: Path, block: Block) -> str:
    printed = ""
    for line in block.text.splitlines():
        program, *arguments = shlex.split(line)
        if program == "substrate":
            done = invoke(*arguments, code=None)
            assert done.exit_code == (line == DRIFTED), f"{line}\n{done.output}"
            printed += done.stdout
        else:
            printed += run(project, program, *arguments).stdout
    return printed


@pytest.mark.long
def test_the_page_runs_and_shows_the_output_of_its_commands(reproduced: Path) -> None:
    names: dict[str, object] = {}
    printed: list[str] = []
    for block in PAGE.blocks:
        if block.kind == "python":
            exec(compile(block.text, str(PAGE.path), "exec"), names)
            continue
        printed = output(reproduced, block).splitlines()
        for beginning in beginnings(block.expected or ""):
            assert any(line.startswith(beginning) for line in printed), (beginning, block.text)
    assert 'parameter clevrer.counterfactual.method "partner" -> "printed"' in "\n".join(printed)
