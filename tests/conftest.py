"""Fixtures that more than one room uses."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture
def real_data() -> Path:
    """The folder of real data beside the repository; skips where it is absent."""
    folder = ROOT.parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip("the real data are not beside this checkout (../shared/data)")
    return folder


@pytest.fixture(scope="session")
def small_project() -> Callable[..., Path]:
    """Writes a small project to a new folder: `small_project(root, scenes=3)`."""

    def make(root: Path, scenes: int = 3) -> Path:
        root.mkdir()
        (root / ".dagster").mkdir()
        for file in ("workspace.yaml", ".dagster/dagster.yaml"):
            shutil.copy(ROOT / file, root / file)
        parameters = yaml.safe_load((ROOT / "params.yaml").read_text("utf-8"))
        parameters["profiles"]["sample"] |= {
            "clevrer": {"source": "generated", "scenes": scenes},
            "babi": {"source": "generated", "questions": 5},
            "gqa": {"source": "generated", "scenes": 3},
            "comphy": {"source": "generated", "targets": 2},
            "clevrer_humans": {"events": None, "questions": None},
        }
        (root / "params.yaml").write_text(yaml.safe_dump(parameters), "utf-8")
        return root

    return make


@pytest.fixture
def make_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, small_project: Callable[..., Path]) -> Callable[..., Path]:
    """A small project folder of its own, entered: `make_project(scenes=3)`."""

    def make(name: str = "project", scenes: int = 3) -> Path:
        root = small_project(tmp_path / name, scenes)
        monkeypatch.chdir(root)
        monkeypatch.setenv("DAGSTER_HOME", str(root / ".dagster"))
        # There drift stops a run; a test says so where it means that.
        monkeypatch.delenv("CI", raising=False)
        return root

    return make
