"""The documentation is built as a site, and a broken link stops it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("mkdocs")
pytest.importorskip("mkdocstrings_handlers.python")

ROOT = Path(__file__).resolve().parents[2]


def build(folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict"],
        cwd=folder,
        env=os.environ | {"NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    shutil.copytree(ROOT / "docs", tmp_path / "docs")
    shutil.copy(ROOT / "mkdocs.yml", tmp_path)
    for name in ("scripts", "substrate"):
        (tmp_path / name).symlink_to(ROOT / name)
    return tmp_path


def test_the_site_holds_the_pages_the_programs_and_the_docstrings(folder: Path) -> None:
    done = build(folder)
    assert done.returncode == 0, done.stderr
    site = folder / "build/site"
    memory = (site / "reference/memory/index.html").read_text("utf-8")
    assert "who_knew" in memory
    assert ":class:" not in memory, "roles are written as code"
    assert "spared so far" in (site / "programs/index.html").read_text("utf-8")
    assert (site / "comparison/index.html").is_file()


def test_a_broken_link_stops_it(folder: Path) -> None:
    page = folder / "docs/index.md"
    page.write_text(page.read_text("utf-8") + "\n[nowhere](no-such-page.md)\n", "utf-8")
    done = build(folder)
    assert done.returncode != 0
    assert "no-such-page.md" in done.stderr
