"""Fixtures that more than one room uses."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[1]


# Who is started in the background by a shell ignores Ctrl-C, and so would every process that a test starts.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


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
        write_project(root, scenes)
        return root

    return make


@pytest.fixture
def make_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, small_project: Callable[..., Path]
) -> Callable[..., Path]:
    """A small project folder of its own, entered: `make_project(scenes=3)`."""

    def make(name: str = "project", scenes: int = 3) -> Path:
        root = small_project(tmp_path / name, scenes)
        enter(root, monkeypatch)
        return root

    return make


def write_project(root: Path, scenes: int) -> None:
    (root / ".dagster").mkdir(parents=True)
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
    parameters["robustness"] = {"clevrer": 2, "comphy_inferred": 1, "gqa": 1, "babi": 1, "reliability": 1}
    for name, profile in parameters["profiles"].items():
        if name != "local":
            profile["twin"] = {"specs": 9}
    (root / "params.yaml").write_text(yaml.safe_dump(parameters), "utf-8")


def enter(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(root)
    monkeypatch.setenv("DAGSTER_HOME", str(root / ".dagster"))
    # There drift stops a run; a test says so where it means that.
    monkeypatch.delenv("CI", raising=False)


@pytest.fixture(scope="session")
def _reproduced_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from typer.testing import CliRunner

    from orchestration.cli.main import app
    from orchestration.ledger import dvc as pins
    from orchestration.pipeline.graph import STAGES

    root = tmp_path_factory.mktemp("reproduced") / "project"
    with pytest.MonkeyPatch.context() as monkeypatch:
        write_project(root, scenes=3)
        enter(root, monkeypatch)
        for name in ("substrate", "orchestration"):
            (root / name).symlink_to(ROOT / name)
        subprocess.run([sys.executable, "-m", "dvc", "init", "--no-scm", "--quiet"], cwd=root, check=True)
        (root / "dvc.yaml").write_text(pins.render_dvc_yaml(STAGES), "utf-8")
        (root / "data.dvc").write_text("outs:\n- path: data/sample/clevrer\n  hash: md5\n", "utf-8")
        result = CliRunner().invoke(app, ["reproduce"])
        assert result.exit_code == 0, result.output
        shutil.rmtree(root / ".dvc/cache")
    return root


@pytest.fixture
def reproduced(_reproduced_once: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small project that was reproduced and pinned, entered; DVC's cache is gone, as in a clone.

    Each test has a copy.
    """
    root = tmp_path / "project"
    shutil.copytree(_reproduced_once, root, symlinks=True)
    enter(root, monkeypatch)
    return root
