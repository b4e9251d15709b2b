"""The platform without what goes beyond the paper: it reproduces the rest to its end."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from commands import python
from projects import LINKED, ONE_WORKER, ROOT


@pytest.mark.long
def test_a_checkout_without_the_package_is_reproduced_to_its_end(reproduced: Path, tmp_path: Path) -> None:
    """A reproduced project supplies the results that do not depend on the package."""
    checkout = tmp_path / "checkout"
    checkout.mkdir()
    for name in LINKED:
        (reproduced / name).unlink()
        if name != "research":
            shutil.copytree(ROOT / name, checkout / name)
            (reproduced / name).symlink_to(checkout / name)
    for file in ("params.yaml", "workspace.yaml", "requirements.lock"):
        shutil.copy(ROOT / file, checkout / file)
    made = reproduced / "artifacts/sample"
    for name in ("tables", "report", "questions"):
        shutil.rmtree(made / name)
    given = ONE_WORKER | {"PYTHONPATH": str(checkout)}
    done = python("-P", "-m", "orchestration.cli.main", "reproduce", cwd=reproduced, **given)
    assert done.returncode == 0, done.stdout + done.stderr
    assert {path.name for path in (made / "tables").glob("*.md")} >= {"clevrer.md", "transfer.md", "twin.md"}
    assert (made / "report/index.html").is_file()
    assert not (made / "questions").exists(), "the study of questions belongs to the package"
