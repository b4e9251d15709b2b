"""The page for people who use DVC: its statements on data, the way back and the status hold with DVC."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import sys
from pathlib import Path

import pytest
import yaml
from projects import enter
from shared_project import put_in_git, run

from orchestration.registry import BENCHMARKS

ANSWERS, LOGS = "gqa/answers.jsonl", "gqa/logs/index.jsonl"


def results(project: Path) -> dict[str, bytes]:
    """The bytes of GQA's results."""
    folder = project / "artifacts/sample"
    files = (*(folder / "gqa").rglob("*"), *(folder / "scores").glob("gqa.*"))
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files if path.is_file()}


@pytest.mark.long
def test_dvc_makes_the_pinned_bytes_in_a_clone_names_other_data_and_leads_back(
    reproduced: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_in_git(reproduced)
    parameters, before, clone = reproduced / "params.yaml", results(reproduced), tmp_path / "clone"

    # A clone has no results and no cache of DVC.
    run(tmp_path, "git", "clone", "--quiet", str(reproduced), str(clone))
    shutil.copytree(reproduced / "data", clone / "data")
    (clone / ".venv").symlink_to(sys.prefix)
    enter(clone, monkeypatch)
    lock = (clone / "dvc.lock").read_bytes()
    run(clone, "dvc", "repro", "gqa-scores")
    assert results(clone) == before
    assert (clone / "dvc.lock").read_bytes() == lock
    cached = {path.read_bytes() for path in (clone / ".dvc/cache").rglob("*") if path.is_file()}
    assert before[ANSWERS] in cached
    (files,) = json.loads(run(clone, "dvc", "metrics", "show", "--json").stdout).values()
    metrics = files["data"]["artifacts/sample/metrics/gqa.json"]["data"]
    assert metrics.keys() == set(BENCHMARKS["gqa"].numbers), "the records stand where DVC shows nothing"
    enter(reproduced, monkeypatch)

    # Other data.
    changed = yaml.safe_load(parameters.read_text("utf-8"))
    changed["profiles"]["sample"]["gqa"]["scenes"] = 4
    parameters.write_text(yaml.safe_dump(changed), "utf-8")
    refused = run(reproduced, "dvc", "repro", "gqa-scores", check=False)
    assert refused.returncode
    assert "profiles.sample.gqa.scenes was 3, and is 4" in refused.stderr
    (command,) = re.findall(r"Make it first: `(.*)`", refused.stderr)
    assert results(reproduced)[ANSWERS] == before[ANSWERS]
    run(reproduced, *shlex.split(command))
    ran = run(reproduced, "dvc", "repro", "gqa-logs")
    assert "is empty" not in ran.stderr
    assert results(reproduced)[LOGS] != before[LOGS]
    assert run(reproduced, "substrate", "verify", "--no-recompute", check=False).returncode

    # Back to the pins.
    run(reproduced, "git", "checkout", "--quiet", "params.yaml", "dvc.lock", "data.dvc")
    run(reproduced, "dvc", "checkout", "--quiet")
    assert results(reproduced) == before
    verified = run(reproduced, "substrate", "verify", "--no-recompute")
    assert "every artifact is as pinned" in verified.stdout
    status = json.loads(run(reproduced, "dvc", "status", "--json").stdout)
    assert {name: how for name, how in status.items() if how != ["always changed"]} == {}
    assert run(reproduced, "git", "status", "--porcelain").stdout == ""
