"""A project whose path has spaces, letters outside ASCII, `%` and `#`; one inside another git repository."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest
from commands import invoke
from projects import ROOT

from orchestration.base.git import GitError, git, git_output
from orchestration.workspace.storage import Storage

STRANGE = "Pfad mit Ümlaut %41 #1"


def test_a_benchmark_is_reproduced_there_and_nothing_is_written_beside(
    make_project: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    root = make_project(STRANGE)
    before = {path.name for path in tmp_path.iterdir()}
    invoke("reproduce", "--only", "babi")
    assert list(root.glob("storage/sample/logs/babi/*/*.parquet"))
    assert (root / "artifacts/sample/babi/answers.jsonl").stat().st_size
    assert (root / ".dagster/history/runs.db").is_file()
    assert {path.name for path in tmp_path.iterdir()} == before


def test_a_storage_is_in_the_folder_that_its_uri_names(tmp_path: Path) -> None:
    folder = tmp_path / STRANGE / "a?b"
    storage = Storage(folder.as_uri())
    storage.write_rows([{"a": 1}], pa.schema([("a", pa.int64())]), "table", "rows.parquet")
    assert storage.local == folder
    assert (folder / "table/rows.parquet").is_file()
    assert storage.read("table", "rows.parquet").to_pylist() == [{"a": 1}]


def test_the_environment_lies_elsewhere_where_a_package_would_misread_its_path(tmp_path: Path) -> None:
    python, home = tmp_path / "python", tmp_path / "home"
    # Make runs the commands that the Makefile defines as `environment`, with a Python that only makes the
    # folder of `python -m venv FOLDER`. They put `.venv` below HOME, with a link, if the path of the checkout
    # has a `%`.
    python.write_text('#!/bin/sh\nmkdir -p "$3"\n', "utf-8")
    python.chmod(0o755)
    for name, link in ((STRANGE, True), ("Pfad mit Ümlaut", False)):
        folder = tmp_path / name
        folder.mkdir()
        command = ["make", "--silent", "-f", str(ROOT / "Makefile"), "--eval=try: ; $(environment)", "try"]
        environment = os.environ | {"HOME": str(home), "PWD": str(folder)}
        subprocess.run([*command, f"PYTHON={python}"], cwd=folder, env=environment, check=True)
        made = folder / ".venv"
        assert made.is_dir()
        assert made.is_symlink() == link
        assert not link or "%" not in str(made.resolve())


def test_another_repository_s_commit_is_not_the_project_s(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    outer, inner = tmp_path / "outer", tmp_path / "outer/inner"
    inner.mkdir(parents=True)
    person = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    subprocess.run(["git", "init", "--quiet", outer], check=True)
    subprocess.run(["git", *person, "commit", "--quiet", "--allow-empty", "-m", "a"], cwd=outer, check=True)
    commit = git(outer, "rev-parse", "HEAD")
    assert commit
    assert git(inner, "rev-parse", "HEAD") is None
    monkeypatch.setenv("GIT_DIR", str(outer / ".git"))  # as in a hook of the other one
    assert git(tmp_path, "rev-parse", "HEAD") is None
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "nowhere"))
    assert git(outer, "rev-parse", "HEAD") == commit
    # As CI allows git to read a checkout of another user.
    for name, value in {"COUNT": "1", "KEY_0": "user.name", "VALUE_0": "of the caller"}.items():
        monkeypatch.setenv(f"GIT_CONFIG_{name}", value)
    assert git(outer, "config", "user.name") == b"of the caller\n"
    with pytest.raises(GitError, match=r"git rev-parse: fatal: .*unknown revision"):
        git_output(outer, "rev-parse", "nowhere")
