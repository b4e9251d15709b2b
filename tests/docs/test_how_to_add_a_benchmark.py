"""A benchmark by one declaration: the how-to runs as written in a copy of the project, and touches no file
beyond those that it names.
"""

from __future__ import annotations

import shlex
import shutil
from pathlib import Path

import pytest
from commands import python
from projects import LINKED, ONE_WORKER, ROOT
from runnable_pages import Page

HOUSE = (*LINKED, "params.yaml", "workspace.yaml", ".dagster/dagster.yaml")
PAGE = Page("how-to-add-a-benchmark.md")


def contents(root: Path) -> dict[str, bytes]:
    """The files of the project's packages and settings."""
    files: list[Path] = []
    for name in HOUSE:
        files += [root / name] if (root / name).is_file() else (root / name).rglob("*")
    sources = [file for file in files if file.is_file() and "__pycache__" not in file.parts]
    return {file.relative_to(root).as_posix(): file.read_bytes() for file in sources}


def apply(change: str, text: str) -> str:
    """A text with the lines of a change that begin with ``+``, each after the last line without one.

    Two such lines in a row would change places; the page has none.
    """
    before = ""
    for line in change.splitlines():
        if line.startswith("+"):
            place = text.index(f"{before}\n") + len(before) + 1
            text = f"{text[:place]}{line[1:]}\n{text[place:]}"
        else:
            before = line[1:]
    return text


@pytest.mark.long
def test_the_how_to_ends_with_the_benchmarks_row_in_the_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "project"
    for name in HOUSE:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, root / name)
        else:
            shutil.copy(ROOT / name, root / name)
    commands, named, row = list[str](), set[str](), ""
    for block in PAGE.blocks:
        if block.kind == "sh":  # the page has one such block
            commands, row = block.text.splitlines(), block.expected or ""
            continue
        path, _, text = block.text.partition("\n")
        file = path.removeprefix("# ")
        changed = root / file
        changed.write_text(apply(text, changed.read_text("utf-8")) if block.kind == "diff" else text, "utf-8")
        named.add(file)
    monkeypatch.delenv("CI", raising=False)

    def run(*command: str) -> str:
        environment = ONE_WORKER | {"PYTHONPATH": str(root), "DAGSTER_HOME": str(root / ".dagster")}
        done = python("-m", *command, cwd=root, **environment)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    output = ""
    run("dvc", "init", "--no-scm", "--quiet")
    for command in commands:
        program, *arguments = shlex.split(command)
        assert program == "substrate"
        output = run("orchestration.cli.main", *arguments)
    assert row.strip() in output, output
    before, after = contents(ROOT), contents(root)
    touched = {file for file, data in after.items() if before.get(file) != data and ".dagster" not in file}
    assert touched == named
    assert len(touched) == 4
    assert len(touched - before.keys()) == 2
