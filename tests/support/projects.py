"""Small projects for tests: one that never ran, and one that was reproduced once for all workers and runs."""

from __future__ import annotations

import fcntl
import hashlib
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import yaml
from commands import invoke

ROOT = Path(__file__).resolve().parents[2]
# The paths that a project's `dvc.yaml` depends on; in a test's project these lead to the checkout.
LINKED = ("substrate", "orchestration", "research", "tboxes")
# For Java machines that live for seconds: optimising code and collecting in parallel double their work.
QUICK_JAVA = "-XX:+UseSerialGC -XX:TieredStopAtLevel=1"
# For a process that asks Spark for a few cases: the start of a second worker takes longer than they do.
ONE_WORKER = {"SPARK_MASTER": "local[1,4]"}
_COMMIT = re.compile(rb"The code is that of commit [^.]*")
# The number of reproduced projects that stay in the cache, so that a change of branch and back costs
# nothing.
_KEPT = 3


def write_project(root: Path, scenes: int) -> None:
    """Write a project with a few cases of each benchmark, which has never run."""
    (root / ".dagster").mkdir(parents=True)
    for file in ("workspace.yaml", ".dagster/dagster.yaml"):
        shutil.copy(ROOT / file, root / file)
    parameters = yaml.safe_load((ROOT / "params.yaml").read_text("utf-8"))
    for name in ("sample", "beyond"):
        parameters["profiles"][name] |= {
            "clevrer": {"source": "generated", "scenes": scenes},
            "babi": {"source": "generated", "questions": 5},
            "gqa": {"source": "generated", "scenes": 3},
            "comphy": {"source": "generated", "targets": 2},
        }
    parameters["profiles"]["beyond"]["perceived"] = {"source": "generated", "scenes": 2}
    # The number of cases that the studies of robustness ask of each benchmark.
    one_case = ("comphy_inferred", "gqa", "babi", "reliability", "perceived")
    parameters["robustness"] = {"clevrer": 2, **dict.fromkeys(one_case, 1)}
    parameters["robustness"] |= {"evidence": 2, "questions": 2}
    # Each partition is a task, and a task of so few cases costs more than its work.
    parameters["spark"]["partitions"] = 2
    for name, profile in parameters["profiles"].items():
        if name != "local":
            profile["twin"] = {"specs": 9}
    (root / "params.yaml").write_text(yaml.safe_dump(parameters), "utf-8")


def enter(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make a project the current one."""
    monkeypatch.chdir(root)
    monkeypatch.setenv("DAGSTER_HOME", str(root / ".dagster"))
    # With CI set, drift stops a run; a test of that sets it.
    monkeypatch.delenv("CI", raising=False)


def link_code(root: Path) -> None:
    """Lead a project to the checkout's code."""
    for name in LINKED:
        if (ROOT / name).is_dir():
            (root / name).symlink_to(ROOT / name)


def init_dvc(root: Path) -> None:
    """Make a project one of DVC's, with the asset graph as its pipeline and CLEVRER's data pinned."""
    from orchestration.dvc import dvc_files
    from orchestration.stages.graph import STAGES

    link_code(root)
    subprocess.run([sys.executable, "-m", "dvc", "init", "--no-scm", "--quiet"], cwd=root, check=True)
    (root / "dvc.yaml").write_text(dvc_files.render_dvc_yaml(STAGES), "utf-8")
    (root / "data.dvc").write_text("outs:\n- path: data/sample/clevrer\n  hash: md5\n", "utf-8")


def reproduced_once(cache: Path, profile: str) -> Path:
    """The reproduced project of this code and these parameters; no test may change it.

    The first worker that needs it makes it, the others wait, and later runs of the tests find it.

    Args:
        cache: a folder that outlives the run.
    """
    made = cache / _digest()
    with _locked(cache / "lock"):
        if not made.is_dir():
            fresh = cache / f"{made.name}.making"
            shutil.rmtree(fresh, ignore_errors=True)
            # Outside of the checkout, so that the report does not name the checkout's commit.
            with tempfile.TemporaryDirectory(prefix="substrate-tests-") as folder:
                reproduce(root := Path(folder) / "project", profile)
                shutil.copytree(root, fresh, symlinks=True)
            fresh.rename(made)
            known = sorted(cache.glob("*/params.yaml"), key=lambda file: file.stat().st_mtime_ns)
            for old in known[:-_KEPT]:
                shutil.rmtree(old.parent, ignore_errors=True)
    return made


def reproduce(root: Path, profile: str) -> None:
    """Make a project, and reproduce it to its end under a profile."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        write_project(root, scenes=3)
        enter(root, monkeypatch)
        # The test that comes first may serve a model of its own.
        monkeypatch.delenv("SUBSTRATE_MODEL_URL", raising=False)
        init_dvc(root)
        invoke("reproduce", "--profile", profile)
        shutil.rmtree(root / ".dvc/cache", ignore_errors=True)


def pages(report: Path) -> dict[str, bytes]:
    """The files of a report without the commit of the code, which is an older one in a cached project."""
    files = [path for path in report.rglob("*") if path.is_file()]
    return {path.relative_to(report).as_posix(): _COMMIT.sub(b"", path.read_bytes()) for path in files}


def _digest() -> str:
    """A digest of all that a reproduction's results depend on, packages included; the commit in its report is
    that of the code when it was made.
    """
    files = [ROOT / "params.yaml", ROOT / "requirements.lock", ROOT / "workspace.yaml", Path(__file__)]
    files += [path for name in LINKED for path in (ROOT / name).rglob("*") if path.is_file()]
    digest = hashlib.sha256(sys.version.encode())
    for file in sorted(path for path in files if "__pycache__" not in path.parts):
        digest.update(f"\0{file.relative_to(ROOT)}\0".encode())
        digest.update(file.read_bytes())
    return digest.hexdigest()[:24]


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
