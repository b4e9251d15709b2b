"""Pages of ``docs/`` whose blocks run; a ``text`` block is the output of the block before it."""

from __future__ import annotations

import contextlib
import io
import re
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from typer.testing import CliRunner

from substrate.cli.log import log_app

DOCS = Path(__file__).resolve().parents[2] / "docs"


class Block(NamedTuple):
    """A block that runs or is written to a file: its language, its text, and what it prints, where the page
    says so.
    """

    kind: str
    text: str
    expected: str | None


class Page:
    """A page's blocks.

    Args:
        name: file in ``docs/``.
        files: for a language that is written and not run, the file to which its blocks are joined.
        exits: the exit code of a command of ``substrate log``, where it is not 0.
    """

    def __init__(
        self, name: str, *, files: Mapping[str, str] | None = None, exits: Mapping[str, int] | None = None
    ) -> None:
        self.path = DOCS / name
        self.files, self.exits = files or {}, exits or {}
        fences = re.findall(r"^```(\w+)\n(.*?)^```$", self.path.read_text("utf-8"), re.MULTILINE | re.DOTALL)
        following = [*fences[1:], ("", "")]
        self.blocks = [
            Block(kind, text, after if next_ == "text" else None)
            for (kind, text), (next_, after) in zip(fences, following, strict=True)
            if kind != "text"
        ]

    def write_files(self, folder: Path) -> None:
        """Write the files that the page spells out."""
        for kind, name in self.files.items():
            (folder / name).write_text(
                "".join(block.text for block in self.blocks if block.kind == kind), "utf-8"
            )

    def run(self) -> Iterator[tuple[Block, str]]:
        """Run the page in the working directory: each block that runs, and its output with digests masked."""
        names: dict[str, object] = {}
        for block in self.blocks:
            if block.kind in self.files:
                continue
            output = self._python(block.text, names) if block.kind == "python" else self._shell(block)
            yield block, re.sub(r"sha256:[0-9a-f]{64}", "sha256:DIGEST", output)

    def _python(self, text: str, names: dict[str, object]) -> str:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(text, str(self.path), "exec"), names)
        return printed.getvalue()

    def _shell(self, block: Block) -> str:
        assert block.kind == "sh", f"{self.path.name}: a {block.kind} block neither runs nor is a file"
        return "".join(map(self._command, commands(block.text)))

    def _command(self, words: list[str]) -> str:
        program, group, *arguments = words
        assert program == "substrate", words
        if group == "log":
            result = CliRunner().invoke(log_app, arguments)
        else:
            # The platform is absent where the library is tested alone.
            from orchestration.cli.main import app

            result = CliRunner().invoke(app, [group, *arguments])
        assert result.exit_code == self.exits.get(arguments[0], 0), f"{words}\n{result.output}"
        return result.stdout


def commands(text: str) -> Iterator[list[str]]:
    """The words of each command of a shell block; a quoted argument may have several lines."""
    command = ""
    for line in text.splitlines(keepends=True):
        command += line
        try:
            words = shlex.split(command)
        except ValueError:  # a quotation goes on
            continue
        yield words
        command = ""
    assert not command, f"a quotation has no end: {command}"
