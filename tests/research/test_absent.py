"""The platform without what goes beyond the paper: it reproduces the rest to its end."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PARTS = ("substrate", "orchestration", "tboxes", "tests/support")
FILES = ("params.yaml", "workspace.yaml", ".dagster/dagster.yaml", "requirements.lock")


@pytest.mark.long
def test_a_checkout_without_the_package_is_reproduced_to_its_end(tmp_path: Path) -> None:
    checkout, project = tmp_path / "checkout", tmp_path / "project"
    for part in PARTS:
        shutil.copytree(ROOT / part, checkout / part, ignore=shutil.ignore_patterns("__pycache__"))
    for file in FILES:
        (checkout / file).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / file, checkout / file)
    program = (
        "import sys; from pathlib import Path; from projects import reproduce; reproduce(Path(sys.argv[1]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(project)],
        cwd=checkout,
        env=os.environ | {"PYTHONPATH": os.pathsep.join([str(checkout), str(checkout / "tests/support")])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    made = project / "artifacts/sample"
    assert {path.name for path in (made / "tables").glob("*.md")} >= {"clevrer.md", "transfer.md", "twin.md"}
    assert (made / "clevrer/answers.jsonl").is_file()
    assert (made / "report/index.html").is_file()
    assert not [path for path in made.iterdir() if path.name in ("perceived", "robustness", "twin_reasoned")]
